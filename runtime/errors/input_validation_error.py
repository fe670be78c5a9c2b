"""The error for an invalid name or argument."""

from __future__ import annotations

from runtime.errors.known_error import KnownError


class InputValidationError(KnownError, ValueError):
    """Raised before anything is changed; the message says why the input is invalid. Also a `ValueError`, as in google-adk."""

    def __init__(self, message: str = "This input cannot be used.") -> None:
        super().__init__(message)
        self.message = message


class RefusedArtifactError(InputValidationError):
    """Raised for an artifact behind a link, in a special file or of extreme size, which is not read; the message names the file."""
