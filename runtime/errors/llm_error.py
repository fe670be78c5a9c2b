"""What can go wrong between us and a language model."""

from __future__ import annotations

from runtime.errors.known_error import KnownError
from runtime.errors.not_found_error import NotFoundError


class LlmError(KnownError):
    """A language model gave no answer; the text says why.

    Attributes:
        status_code: the server's HTTP status, if there was one.
        error_code: a short word for it, such as `RESOURCE_EXHAUSTED`.
    """

    def __init__(self, message: str, *, status_code: int | None = None, error_code: str | None = None) -> None:
        super().__init__(message)
        self.status_code = status_code
        self.error_code = error_code


class UnknownLlmError(NotFoundError, ValueError):
    """No class serves a language model of this name (a `ValueError` too, as in google-adk)."""
