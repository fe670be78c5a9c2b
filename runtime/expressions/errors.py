"""Errors of expressions."""

from __future__ import annotations

from runtime.errors.known_error import KnownError


class ExpressionError(KnownError, ValueError):
    """An expression, pattern or template cannot be read.

    Attributes:
        position: of the problem, as a 0-based index into the text.
        problem: what was expected there, or what is wrong, as a sentence.
    """

    def __init__(self, problem: str, position: int) -> None:
        super().__init__(f"At character {position + 1}: {problem}")
        self.problem = problem
        self.position = position


class ExpressionTooCostlyError(KnownError):
    """Evaluating an expression on one event took more steps than allowed."""
