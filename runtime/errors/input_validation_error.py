"""A name or argument that cannot be used as it is."""

from __future__ import annotations

from runtime.errors.known_error import KnownError


class InputValidationError(KnownError, ValueError):
    """What was passed in is refused before anything was done; the text says why (a `ValueError` too, as in google-adk)."""

    def __init__(self, message: str = "This input cannot be used.") -> None:
        super().__init__(message)
        self.message = message
