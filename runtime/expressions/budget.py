"""A limit on the work of one evaluation."""

from __future__ import annotations

from runtime.expressions.errors import ExpressionTooCostlyError

STEPS = 200_000  # per evaluation; one step is a character read by a pattern or a value visited; usually less than 50 ms

TEXT_LIMIT = 100_000  # characters of a text that a pattern reads


class Budget:
    """The remaining steps of one evaluation."""

    __slots__ = ("left",)

    def __init__(self, steps: int = STEPS) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        """Subtract steps.

        Raises:
            ExpressionTooCostlyError: there are not enough steps left.
        """
        self.left -= steps
        if self.left < 0:
            raise ExpressionTooCostlyError(
                f"The expression needs more than {STEPS:,} steps on one event. Simplify its pattern or test a shorter value."
            )
