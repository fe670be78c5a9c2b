"""A thing to be created is there already."""

from __future__ import annotations

from runtime.errors.known_error import KnownError


class AlreadyExistsError(KnownError):
    """Raised by `create_session` when the session id is taken."""

    def __init__(self, message: str = "It exists already.") -> None:
        super().__init__(message)
        self.message = message
