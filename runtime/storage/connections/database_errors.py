"""Sentences for users about a database driver's errors: what happened, and what to do."""

from __future__ import annotations

import shlex
import sqlite3

from runtime.errors.storage_error import ConnectionLostError, NotASessionDatabaseError, ServerFullError, StorageError
from runtime.support.file_names import free_name

_SENTENCES = {
    sqlite3.SQLITE_BUSY: "another process has kept {name} locked for too long. Close it, or try again.",
    sqlite3.SQLITE_LOCKED: "{name} is locked by another connection of this process. Try again.",
    sqlite3.SQLITE_FULL: "the disk that holds {name} is full. Free some space and try again.",
    sqlite3.SQLITE_IOERR_SHMSIZE: "the disk that holds {name} is full. Free some space and try again.",
    sqlite3.SQLITE_READONLY: "{name} is read-only for this program. Make the file and its folder writable, or use a copy.",
    sqlite3.SQLITE_PERM: "this program may not write {name}. Make the file and its folder writable, or use a copy.",
    sqlite3.SQLITE_CANTOPEN: "{name} cannot be opened. Check that its folder exists, and that this program may read and write both.",
    sqlite3.SQLITE_IOERR: "the system reported an error when reading or writing {name}. Check its disk.",
    sqlite3.SQLITE_CORRUPT: "{name} is damaged. Restore a backup, or copy what is readable into a new file:"
    " agent-inspector recover {quoted} {new}",
    sqlite3.SQLITE_INTERRUPT: "{name} took too long to read; it may be damaged.",
}


_SERVER_SENTENCES = {
    "28": "{name} does not let this user in: check user name and password.",
    "3D000": "there is no database {name}.",
    "42501": "this user does not have the permission to do that in {name}.",
    "25006": "{name} is read-only.",
    "53100": "the disk of {name} is full. Free some space and try again.",
    "55P03": "another process has kept a session of {name} locked for too long. Try again.",
    "57014": "{name} took too long to answer.",
    "22001": "a name or id is too long for {name}, which has room for 128 characters.",
}
# SQLSTATEs after which a retry helps: connection lost, server shutting down, too many connections, serialization failure, deadlock.
_LOST = ("08", "57P", "53300", "40001", "40P01")


def storage_error(error: Exception, name: str) -> StorageError:
    """Return our error for an error of the driver or of SQLAlchemy."""
    wrapped = getattr(error, "orig", None)  # SQLAlchemy's wrapper; SQLAlchemy is not loaded to read a file
    cause = wrapped if isinstance(wrapped, Exception) else error
    code = getattr(cause, "sqlite_errorcode", None)
    if code is not None:
        if code & 0xFF == sqlite3.SQLITE_NOTADB:
            return NotASessionDatabaseError(f"{name} is not an SQLite database, or it is encrypted.")
        sentence = _SENTENCES.get(code) or _SENTENCES.get(code & 0xFF)
        if sentence:
            return StorageError(_sentence(sentence, name))
    if _module(cause) == "psycopg":
        return _server_error(cause, name)
    return StorageError(f"The database {name} reported: {cause}")


def is_repeated_row(error: Exception) -> bool:
    """Return whether a driver's integrity error means that a row with this key already exists."""
    repeated = (sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE)
    return getattr(error, "sqlite_errorcode", None) in repeated or getattr(error, "sqlstate", None) == "23505"


def _server_error(cause: BaseException, name: str) -> StorageError:
    state = str(getattr(cause, "sqlstate", None) or "")
    for beginning, sentence in _SERVER_SENTENCES.items():
        if state.startswith(beginning):
            return StorageError(_sentence(sentence, name))
    first_line = str(cause).strip().split("\n")[0].rstrip(".") + "."
    if "too many clients" in str(cause) or "connection slots" in str(cause) or state == "53300":
        return ServerFullError(f"{name} accepts no more connections. Try again later, or raise its limit (max_connections).")
    if state.startswith(_LOST):
        return ConnectionLostError(f"{name} cannot be reached at the moment: {first_line}")
    if type(cause).__name__ in ("OperationalError", "InterfaceError") and not state:
        if "password" in str(cause):
            return StorageError(f"{name} does not let this user in: check user name and password.")
        if 'database "' in str(cause) and "does not exist" in str(cause):
            return StorageError(f"There is no database {name}.")
        return ConnectionLostError(f"{name} cannot be reached: {first_line}")
    return StorageError(f"The database {name} reported: {first_line}")


def _module(cause: BaseException) -> str:
    return type(cause).__module__.split(".")[0]


def _sentence(words: str, name: str) -> str:
    """Return a sentence with the database's name, exactly as it is: at the beginning, too, where other words get a capital."""
    words = words if words.startswith("{name}") else words[0].upper() + words[1:]
    return words.format(name=name, quoted=shlex.quote(name), new=free_name("recovered"))
