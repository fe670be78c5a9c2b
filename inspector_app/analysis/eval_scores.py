"""The two scores of an eval that need no model, as google-adk 2.13 computes them."""

from __future__ import annotations

import importlib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from runtime.errors.missing_package_error import install_command, is_installed

if TYPE_CHECKING:
    from google.genai import types

TRAJECTORY, RESPONSE = "tool_trajectory_avg_score", "response_match_score"
MatchType = Literal["EXACT", "IN_ORDER", "ANY_ORDER"]
MATCH_TYPES: tuple[MatchType, ...] = ("EXACT", "IN_ORDER", "ANY_ORDER")

_IDEOGRAPHS = ((0x4E00, 0x9FFF), (0x3040, 0x309F), (0x30A0, 0x30FF), (0xAC00, 0xD7AF))  # Chinese, Japanese, Korean: a letter is a word
_UNSPACED = ((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF))  # Thai, Lao, Burmese, Khmer: a letter with its marks is a word


@dataclass(frozen=True, slots=True)
class Trajectory:
    """How tool calls are compared.

    Attributes:
        match_type: `EXACT`: the same calls; `IN_ORDER` and `ANY_ORDER`: others may be between them.
        ignore_args: compare the names only.
    """

    match_type: MatchType = "EXACT"
    ignore_args: bool = False

    def score(self, actual: Sequence[types.FunctionCall], expected: Sequence[types.FunctionCall]) -> float:
        """Return 1 if the calls match, else 0."""
        if self.match_type == "EXACT":
            return float(len(actual) == len(expected) and all(map(self._same, actual, expected)))
        left = list(actual)
        for call in expected:
            found = next((index for index, other in enumerate(left) if self._same(other, call)), None)
            if found is None:
                return 0.0
            if self.match_type == "IN_ORDER":
                del left[: found + 1]
            else:
                del left[found]
        return 1.0

    def _same(self, one: types.FunctionCall, other: types.FunctionCall) -> bool:
        return one.name == other.name and (self.ignore_args or one.args == other.args)


def text_of(content: types.Content | None) -> str:
    """Return the texts of a response, one on a line."""
    return "\n".join(part.text for part in (content.parts if content else None) or () if part.text)


def why_no_match() -> str:
    """Return what `ResponseMatch` lacks; empty if nothing."""
    return "" if is_installed("rouge_score") else f"needs the package rouge_score: {install_command(extra='eval')}"


class ResponseMatch:
    """ROUGE-1: the words that a response and the expected one have in common; see `why_no_match`."""

    def __init__(self) -> None:
        scorer, tokenizers = (importlib.import_module(f"rouge_score.{name}") for name in ("rouge_scorer", "tokenizers"))
        self._scorer = scorer.RougeScorer(["rouge1"], tokenizer=_Words(tokenizers.DefaultTokenizer(use_stemmer=True)))

    def score(self, actual: types.Content | None, expected: types.Content | None) -> float:
        """Return the F measure, from 0 to 1."""
        return float(self._scorer.score(text_of(expected), text_of(actual))["rouge1"].fmeasure)


class _Words:
    """The words of a text in any script; English ones are reduced to their stems.

    Args:
        english: the package's own tokenizer, which drops letters outside a to z.
    """

    def __init__(self, english: Any) -> None:
        self._english = english

    def tokenize(self, text: str) -> list[str]:
        """Return the words; the package calls this."""
        spaced = "".join(map(_spaced, unicodedata.normalize("NFKC", text).lower()))
        words: list[str] = []
        for word in spaced.split():
            words += self._english.tokenize(word) if word.isascii() else [word]
        return words


def _spaced(letter: str) -> str:
    """Return a letter with the spaces that part it from other words; a space for what is no letter."""
    is_mark = unicodedata.category(letter).startswith("M")
    if _is_in(letter, _IDEOGRAPHS):
        return f" {letter} "
    if _is_in(letter, _UNSPACED):
        return letter if is_mark else f" {letter}"
    return letter if letter.isalnum() or is_mark else " "


def _is_in(letter: str, ranges: Sequence[tuple[int, int]]) -> bool:
    return any(first <= ord(letter) <= last for first, last in ranges)
