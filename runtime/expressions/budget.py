"""How much work one evaluation may be."""

from __future__ import annotations

from runtime.expressions.errors import ExpressionTooCostlyError

STEPS = 200_000
"""Steps of one evaluation: a character that a pattern looks at, or a value that is visited, is one. About 50 ms at the very most."""

TEXT_LIMIT = 100_000
"""How much of a text a pattern looks at, in characters."""


class Budget:
    """The steps that are left of one evaluation."""

    __slots__ = ("left",)

    def __init__(self, steps: int = STEPS) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        """Take steps off.

        Raises:
            ExpressionTooCostlyError: there are not so many left.
        """
        self.left -= steps
        if self.left < 0:
            raise ExpressionTooCostlyError(
                f"The expression needs more than {STEPS:,} steps on one event; make its pattern simpler or look at a shorter value."
            )
