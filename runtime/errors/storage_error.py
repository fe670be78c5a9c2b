"""What can go wrong between us and a database."""

from __future__ import annotations

from runtime.errors.known_error import KnownError


class StorageError(KnownError):
    """The database could not be read or written; nothing was changed."""


class NotASessionDatabaseError(StorageError):
    """The file is not a session database that we know; the text says what it seems to be."""


class ForeignDatabaseError(NotASessionDatabaseError):
    """It is an SQLite database that holds something else: its tables can be looked at as plain rows."""


class StaleSessionError(StorageError, ValueError):
    """Another writer appended to the session since it was loaded (a `ValueError` too, as in google-adk)."""


class ConnectionLostError(StorageError):
    """The server cannot be reached just now; whether the last commit was made has to be looked up."""
