"""The error for creating something that already exists."""

from __future__ import annotations

from runtime.errors.known_error import KnownError


class AlreadyExistsError(KnownError):
    """Raised by `create_session` when the session id is taken."""

    def __init__(self, message: str = "It already exists.") -> None:
        super().__init__(message)
        self.message = message
