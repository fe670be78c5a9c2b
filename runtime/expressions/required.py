"""What an event's stored JSON contains wherever a condition holds, so that a database can skip the other events without decoding them.

A requirement may hold for events that do not match; it never fails for one that does. Only names whose values are stored as they are have
requirements, and numbers of tokens: `kind` and the fields of `json` are computed, and `error` is also set for an event whose JSON cannot be
read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from runtime.expressions.names import NOTED, Step
from runtime.expressions.operand import Operand

Place = Literal["json", "id", "invocation_id", "text parts"]

# Names whose value is one stored text, and where it is.
_TEXTS: dict[str, Place] = {
    **dict.fromkeys(("author", "branch", "model", "transfer"), "json"),
    "id": "id",
    "invocation": "invocation_id",
    **dict.fromkeys(("text", "thought"), "text parts"),
}
_OBJECTS = ("artifact", "checkpoint", "delta", "metadata")
# Names of stored items with a name of their own, and the keys that an item is stored under.
_ITEMS = {"call": ("function_call", "functionCall"), "response": ("function_response", "functionResponse")}
# Numbers of tokens, and the stored ones that they are the sum of; some may be missing.
_TOKENS = {
    "total": ("total_token_count", "prompt_token_count", "candidates_token_count"),
    "prompt": ("prompt_token_count",),
    "answer": ("candidates_token_count",),
    "thoughts": ("thoughts_token_count",),
    "cached": ("cached_content_token_count",),
}
_MOST_TOKENS = 2**53  # numbers up to this one are exact in SQL and JSON
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_PLAIN_PATTERN = frozenset(".^$*+?{}[]\\()")  # a pattern without these is one text, or several separated by `|`


@dataclass(frozen=True, slots=True)
class Text:
    """A text in the event.

    Attributes:
        text: the text.
        whole: whether it is a whole string of the JSON: a value or a key.
        folded: whether it may have other letter case (see `str.casefold`).
        place: `json`: in the event's JSON. `id`, `invocation_id`: there, or in the column. `text parts`: in the JSON, or spread over
            several parts with a text.
    """

    text: str
    whole: bool = False
    folded: bool = False
    place: Place = "json"


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of some requirements."""

    parts: tuple[Requirement, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of some requirements."""

    parts: tuple[Requirement, ...]


@dataclass(frozen=True, slots=True)
class Noted:
    """A note on the event."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """At least one of some numbers of tokens is large.

    Attributes:
        fields: names of the numbers in `usage_metadata`.
        least: one of them is at least this number, which is positive.
    """

    fields: tuple[str, ...]
    least: float


Requirement = Text | AllOf | AnyOf | Noted | Tokens


def all_of(parts: Iterable[Requirement | None]) -> Requirement | None:
    """Return the requirement of conditions that hold together; None: nothing is required."""
    known = tuple(dict.fromkeys(part for part in parts if part is not None))
    return known[0] if len(known) == 1 else AllOf(known) if known else None


def any_of(parts: Iterable[Requirement | None]) -> Requirement | None:
    """Return the requirement of conditions of which one holds; None, for nothing required, if it is None for one of them."""
    known = tuple(dict.fromkeys(parts))
    present = tuple(part for part in known if part is not None)
    if not present or len(present) < len(known):
        return None
    return present[0] if len(present) == 1 else AnyOf(present)


def of_value(operand: Operand) -> Requirement | None:
    """Return what an event with a value at an operand's path contains."""
    name, steps = operand.name, operand.steps
    if name in _ITEMS:
        kept = steps[:1] + (steps[1:] if name == "response" else steps[2:] if steps[1:2] == ("args",) else ())
        return all_of([_keys(kept), AnyOf(tuple(Text(key, whole=True) for key in _ITEMS[name]))])
    return _keys(steps) if name in _OBJECTS else None


def of_truth(operand: Operand) -> Requirement | None:
    """Return what an event contains for which an operand alone holds."""
    return Noted() if operand.name in NOTED else of_value(operand)


def of_comparison(left: Operand, operator: str, right: Operand) -> Requirement | None:
    """Return what an event contains for which a comparison holds.

    Args:
        left, right: the operands.
        operator: one of `values.COMPARISONS`.
    """
    needed = [of_value(left), of_value(right), _tokens(left, operator, right.literal)]
    needed.append(_tokens(right, _MIRRORED.get(operator, operator), left.literal))
    if operator in ("==", "="):
        needed += [_equal(left, right.literal), _equal(right, left.literal)]
    elif operator == "in" and isinstance(right.literal, list):
        needed.append(any_of(_equal(left, literal) for literal in right.literal))
    elif operator == "in":
        needed.append(_contains(right, left.literal))
    elif operator == "contains":
        needed.append(_contains(left, right.literal))
    return all_of(needed)


def of_match(operand: Operand, pattern: str) -> Requirement | None:
    """Return what an event contains where a regular expression is found in an operand's value."""
    if operand.name in NOTED:
        return Noted()
    found = None
    if not _PLAIN_PATTERN & set(pattern):
        found = any_of(_text(operand, literal) for literal in pattern.split("|"))
    return all_of([of_value(operand), found])


def of_change(key: str) -> Requirement:
    """Return what an event contains that writes a state key."""
    return Text(key, whole=True)


def _tokens(operand: Operand, operator: str, literal: Any) -> Requirement | None:
    """Return what an event contains whose number of tokens compares like this; without tokens it is 0."""
    if operand.name != "tokens" or operator not in (">", ">=", "==", "=") or type(literal) not in (int, float):
        return None
    if not 0 < literal <= _MOST_TOKENS:
        return None
    fields = _TOKENS[str(operand.steps[0]) if operand.steps else "total"]
    return Tokens(fields, literal / 2 if len(fields) > 1 else literal)  # of a sum, one part is at least half


def _keys(steps: Iterable[Step]) -> Requirement | None:
    return all_of(Text(step, whole=True) for step in steps if isinstance(step, str))


def _equal(operand: Operand, literal: Any) -> Requirement | None:
    if operand.name in NOTED and (isinstance(literal, str) or literal is True):
        return Noted()
    if not isinstance(literal, str):
        return None
    return _text(operand, literal, whole=operand.name not in ("text", "thought"))


def _contains(operand: Operand, literal: Any) -> Requirement | None:
    # A call as a whole has the keys `name`, `id` and `args`, even if they are not stored.
    if operand.name in NOTED:
        return Noted()
    is_whole_call = operand.name == "call" and len(operand.steps) == 1
    return _text(operand, literal, folded=True) if isinstance(literal, str) and not is_whole_call else None


def _text(operand: Operand, text: str, *, whole: bool = False, folded: bool = False) -> Requirement | None:
    name = operand.name
    if name in _TEXTS:
        return Text(text, whole, folded, _TEXTS[name])
    return Text(text, whole, folded) if name in _ITEMS or name in _OBJECTS else None
