"""Errors of session databases."""

from __future__ import annotations

from runtime.errors.known_error import KnownError


class StorageError(KnownError):
    """Raised when the database cannot be read or written; nothing was changed."""


class NotASessionDatabaseError(StorageError):
    """Raised when the file is not a known session database; the message says what it seems to be."""


class EmptyDatabaseError(NotASessionDatabaseError):
    """Raised for a database without tables, or an empty file: sessions can be written there, but none can be read."""


class ForeignDatabaseError(NotASessionDatabaseError):
    """Raised for an SQLite database without sessions; its tables can still be shown as plain rows."""


class StaleSessionError(StorageError, ValueError):
    """Raised when another writer appended to the session after it was loaded. Also a `ValueError`, as in google-adk."""


class ConnectionLostError(StorageError):
    """Raised when the server cannot be reached; the caller must check whether the last commit took effect."""


class ServerFullError(ConnectionLostError):
    """Raised if a server accepts no more connections; a retry may help, even for the first connection."""
