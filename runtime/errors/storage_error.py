"""Errors of session databases."""

from __future__ import annotations

from typing import Literal

from runtime.errors.known_error import KnownError


class StorageError(KnownError):
    """Raised when the database cannot be read or written; nothing was changed."""


class NotASessionDatabaseError(StorageError):
    """Raised when the file is not a known session database; the message says what it seems to be."""


class EmptyDatabaseError(NotASessionDatabaseError):
    """Raised for an empty file, or a database without tables or with a part of them: sessions can be written there, but none can be read.

    A process that is killed while it creates a database leaves one.

    Args:
        message: says why there are no sessions.
        layout: the layout whose tables are there in part, `v1` or `sqlite`; None if there are none.
    """

    def __init__(self, message: str, layout: Literal["v1", "sqlite"] | None = None) -> None:
        super().__init__(message)
        self.layout = layout


class ForeignDatabaseError(NotASessionDatabaseError):
    """Raised for an SQLite database without sessions; its tables can still be shown as plain rows."""


class StaleSessionError(StorageError, ValueError):
    """Raised when another writer appended to the session after it was loaded. Also a `ValueError`, as in google-adk."""


class ConnectionLostError(StorageError):
    """Raised when the server cannot be reached; the caller must check whether the last commit took effect."""


class ServerFullError(ConnectionLostError):
    """Raised if a server accepts no more connections; a retry may help, even for the first connection."""
