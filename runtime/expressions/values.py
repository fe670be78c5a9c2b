"""Comparison of values in expressions. Only plain JSON is read; no code of other objects runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.expressions.budget import Budget
from runtime.expressions.errors import ExpressionTooCostlyError

_PLAIN = frozenset((str, int, float, bool, dict, list, type(None)))
_MAX_DEPTH = 100

NOTHING = object()  # a missing value; no comparison with it holds

Comparison = Callable[[Any, Any, Budget], bool]


def plain(value: Any) -> Any:
    """Return a value whose top level is plain JSON; NOTHING for any other object.

    Subclasses (such as an Enum member that is a str) are converted by the base type's own method; their methods are never called.
    """
    kind = type(value)
    if kind in _PLAIN:
        return value
    if issubclass(kind, str):
        return str.__str__(value)
    if issubclass(kind, int):
        return int.__int__(value)
    if issubclass(kind, float):
        return float.__float__(value)
    return NOTHING


def is_true(value: Any) -> bool:
    """Return whether a value counts as true. Null, false, 0 and an empty text, list or object do not."""
    return value is not NOTHING and bool(value)


def equal(one: Any, other: Any, budget: Budget) -> bool:
    """Return whether two values are equal: numbers by value; true and false differ from 1 and 0."""
    return _equal(one, other, budget, _MAX_DEPTH)


def _equal(one: Any, other: Any, budget: Budget, depth: int) -> bool:
    kind = type(one)
    if kind is not type(other):
        return {kind, type(other)} == {int, float} and one == other
    if kind is not dict and kind is not list:
        return kind in _PLAIN and bool(one == other)
    if len(one) != len(other):
        return False
    if depth == 0:
        raise ExpressionTooCostlyError(f"The expression compares values that are nested more than {_MAX_DEPTH} levels deep.")
    budget.spend(len(one))
    pairs = zip(one, other, strict=True) if kind is list else ((item, other.get(key, NOTHING)) for key, item in one.items())
    return all(_equal(plain(left), plain(right), budget, depth - 1) for left, right in pairs)


def different(one: Any, other: Any, budget: Budget) -> bool:
    """Return whether two values differ."""
    return not equal(one, other, budget)


def less(one: Any, other: Any, budget: Budget) -> bool:
    """Return whether one number or text comes before another; False for values without an order."""
    return bool(_ordered(one, other) and one < other)


def less_or_equal(one: Any, other: Any, budget: Budget) -> bool:
    """Return whether one number or text does not come after another."""
    return bool(_ordered(one, other) and one <= other)


def _ordered(one: Any, other: Any) -> bool:
    left, right = type(one), type(other)
    return left is right is str or (left in (int, float) and right in (int, float))


def contains(whole: Any, part: Any, budget: Budget) -> bool:
    """Return whether a text contains a text (ignoring case), a list an equal item, or an object a key."""
    kind = type(whole)
    if kind is str:
        return type(part) is str and part.casefold() in whole.casefold()
    if kind is dict:
        return type(part) is str and part in whole
    if kind is list:
        budget.spend(len(whole))
        return any(equal(plain(item), part, budget) for item in whole)
    return False


COMPARISONS: dict[str, Comparison] = {
    "==": equal,
    "=": equal,
    "!=": different,
    "<": less,
    "<=": less_or_equal,
    ">": lambda one, other, budget: less(other, one, budget),
    ">=": lambda one, other, budget: less_or_equal(other, one, budget),
    "contains": contains,
    "in": lambda one, other, budget: contains(other, one, budget),
    "not in": lambda one, other, budget: not contains(other, one, budget),
}
