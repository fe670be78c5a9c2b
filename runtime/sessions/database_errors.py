"""What a database's error means, in a sentence for the person who has to do something about it."""

from __future__ import annotations

import sqlite3

from sqlalchemy.exc import DBAPIError

from runtime.errors.storage_error import ForeignDatabaseError, StorageError

_SENTENCES = {
    sqlite3.SQLITE_BUSY: "another process has kept {name} locked for too long. Close it, or try again.",
    sqlite3.SQLITE_LOCKED: "{name} is locked by another connection of this process. Try again.",
    sqlite3.SQLITE_FULL: "the disk that holds {name} is full. Free some space and try again.",
    sqlite3.SQLITE_READONLY: "{name} is read-only for this program. Make the file and its folder writable, or use a copy.",
    sqlite3.SQLITE_PERM: "this program may not write {name}. Make the file and its folder writable, or use a copy.",
    sqlite3.SQLITE_CANTOPEN: "{name} cannot be opened. Check that its folder exists and that this program may use both.",
    sqlite3.SQLITE_IOERR: "the system reported an error when reading or writing {name}. Check its disk.",
    sqlite3.SQLITE_CORRUPT: "{name} is damaged. Restore a backup, or recover what is left with `sqlite3 FILE .recover`.",
    sqlite3.SQLITE_INTERRUPT: "{name} took too long to read; it may be damaged.",
}


def storage_error(error: Exception, name: str) -> StorageError:
    """Return our error for one of the driver's or SQLAlchemy's.

    Args:
        error: what was raised.
        name: what to call the database.
    """
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    code = getattr(cause, "sqlite_errorcode", None)
    if code is not None:
        if code & 0xFF == sqlite3.SQLITE_NOTADB:
            return ForeignDatabaseError(f"{name} is no SQLite database, or it is encrypted.")
        sentence = _SENTENCES.get(code & 0xFF)
        if sentence:
            return StorageError(_sentence(sentence.format(name=name)))
    return StorageError(f"The database {name} reported: {cause}")


def _sentence(text: str) -> str:
    return text if text[0] in "./~" else text[0].upper() + text[1:]
