"""One side of a comparison in an expression."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from runtime.expressions.names import Step, View
from runtime.expressions.values import NOTHING


@dataclass(frozen=True, slots=True)
class Operand:
    """One side of a comparison.

    Attributes:
        each: returns its values in an event: one, none, or several.
        single: the same for an operand that always has one value.
        literal: the value of a literal; else NOTHING.
        name: the first name of its path.
        steps: the rest of the path.
    """

    each: Callable[[View], Iterable[Any]]
    single: Callable[[View], Any] | None = None
    literal: Any = NOTHING
    name: str = ""
    steps: tuple[Step, ...] = ()
