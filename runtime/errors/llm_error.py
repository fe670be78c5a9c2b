"""Errors of language models."""

from __future__ import annotations

from runtime.errors.known_error import KnownError
from runtime.errors.not_found_error import NotFoundError


class LlmError(KnownError):
    """Raised when a language model gives no answer; the message says why.

    Attributes:
        status_code: the server's HTTP status, if any.
        error_code: a short code, such as `RESOURCE_EXHAUSTED`.
    """

    def __init__(self, message: str, *, status_code: int | None = None, error_code: str | None = None) -> None:
        super().__init__(message)
        self.status_code = status_code
        self.error_code = error_code


class UnknownLlmError(NotFoundError, ValueError):
    """Raised when no registered class supports a model name. Also a `ValueError`, as in google-adk."""
