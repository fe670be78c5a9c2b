"""What a case expects and what the agent did, step by step beside each other. No Qt."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING

from inspector_app.analysis.eval_answers import said_by_user
from inspector_app.analysis.eval_scores import text_of
from inspector_app.analysis.evals import CaseResult
from inspector_app.exchange.eval_sets import EvalCase, Turn

if TYPE_CHECKING:
    from google.genai import types


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One step.

    Attributes:
        what: what is compared: `message`, `call`, `response`, or `error`.
        turn: its turn, from 1.
        expected, actual: the two texts; empty where there is none.
        differs: whether they differ; None if the case was not run.
    """

    what: str
    turn: int
    expected: str
    actual: str
    differs: bool | None


def case_rows(case: EvalCase, result: CaseResult | None) -> list[CaseRow]:
    """Return the steps of a case.

    Args:
        case: the case.
        result: how it went; None if it was not run.
    """
    rows: list[CaseRow] = []
    if result is not None and result.error:
        rows.append(CaseRow("error", 1, "", result.error, True))
    for number, wanted in enumerate(case.turns, 1):
        done = result.actual[number - 1] if result is not None and number <= len(result.actual) else None
        rows += _turn_rows(number, wanted, done, ran=result is not None)
    return rows


def _turn_rows(number: int, wanted: Turn, done: Turn | None, *, ran: bool) -> Iterator[CaseRow]:
    said = said_by_user(wanted.message)
    yield CaseRow("message", number, said, said if done is not None else "", False if ran else None)
    for expected, actual in _aligned(wanted.calls, done.calls if done is not None else ()):
        left, right = (call_text(call) if call is not None else "" for call in (expected, actual))
        yield CaseRow("call", number, left, right, left != right if ran else None)
    left, right = text_of(wanted.response), text_of(done.response) if done is not None else ""
    if left or right:
        yield CaseRow("response", number, left, right, left != right if ran else None)


def call_text(call: types.FunctionCall) -> str:
    """Return a call as it would be written."""
    args = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in sorted((call.args or {}).items()))
    return f"{call.name}({args})"


def _aligned(
    expected: Sequence[types.FunctionCall], actual: Sequence[types.FunctionCall]
) -> Iterator[tuple[types.FunctionCall | None, types.FunctionCall | None]]:
    """Yield pairs of calls: equal ones beside each other, others of the same place beside each other as far as there are some."""
    lines = [call_text(call) for call in expected], [call_text(call) for call in actual]
    for _, first, end, other_first, other_end in SequenceMatcher(None, *lines, autojunk=False).get_opcodes():
        yield from zip_longest(expected[first:end], actual[other_first:other_end])
