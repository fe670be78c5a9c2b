"""Deletion of a database file's sessions, and its undo.

Before anything is deleted, all rows of the sessions are copied into a separate file beside the database. Restoring them keeps everything
that was written to the database since.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path

from runtime.errors.storage_error import StorageError
from runtime.sessions.base_session_service import BaseSessionService
from runtime.sessions.session import SessionKey
from runtime.storage.connections.backup import free_name
from runtime.storage.connections.database_errors import storage_error
from runtime.storage.connections.open_files import open_file_registry
from runtime.storage.layouts.statements import quoted_name
from runtime.storage.layouts.table_names import COMMITS
from runtime.storage.reading.event_rows import parts
from runtime.storage.reading.reader import StoredDatabase

_ID_COLUMN = {"sessions": "id", "events": "session_id", COMMITS: "session_id"}
_BUSY_SECONDS = 30


async def delete_sessions(
    service: BaseSessionService, keys: Sequence[SessionKey], progress: Callable[[int], object] = lambda _: None
) -> int:
    """Delete sessions, one at a time.

    Args:
        service: the database's session service.
        keys: the sessions.
        progress: called with the number of sessions deleted so far.

    Returns:
        The number of deleted sessions.
    """
    done = 0
    for done, key in enumerate(keys, 1):
        await service.delete_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
        progress(done)
    return done


def keep_copy(file: Path, keys: Iterable[SessionKey]) -> Path:
    """Copy all rows of some sessions into a new file beside the database, such as `session.db.deleted-20261121-113000`.

    Args:
        file: the database.
        keys: the sessions.

    Returns:
        The complete copy. An interrupted copy never has this name.

    Raises:
        StorageError: the database cannot be read, or the copy cannot be written.
    """
    copy = free_name(file.with_name(file.name + time.strftime(".deleted-%Y%m%d-%H%M%S")))
    unfinished = copy.with_name(copy.name + ".unfinished")
    try:
        with StoredDatabase.open(str(file)) as database, closing(sqlite3.connect(unfinished, isolation_level=None)) as written:
            unfinished.chmod(file.stat().st_mode & 0o777)
            written.execute("BEGIN")
            for table in ("sessions", "events", *([COMMITS] if database.layout.ours else [])):
                _copy_table(database, written, table, keys)
            written.execute("COMMIT")
        unfinished.replace(copy)
    except (sqlite3.Error, OSError) as error:
        raise StorageError(f"Nothing was deleted: {copy} cannot be written ({error}).") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return copy


def _copy_table(database: StoredDatabase, written: sqlite3.Connection, table: str, keys: Iterable[SessionKey]) -> None:
    names = database.read(lambda connection: [row[1] for row in connection.execute(f"PRAGMA table_info({table})")])
    columns = ", ".join(quoted_name(name) for name in names)
    written.execute(f"CREATE TABLE {table} ({columns})")  # without types, so that SQLite converts no value
    query = f"SELECT {columns} FROM {table} WHERE app_name = ? AND user_id = ? AND {_ID_COLUMN[table]} = ? ORDER BY rowid"
    for key in keys:
        rows = database.read(lambda connection, key=key: connection.execute(query, parts(key)).fetchall())  # type: ignore[misc]
        written.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", rows)


def put_back(file: Path, copy: Path) -> int:
    """Restore deleted sessions with all their rows; sessions of the copy that still exist are not changed.

    Args:
        file: the database.
        copy: a file written by `keep_copy`.

    Returns:
        The number of restored sessions.

    Raises:
        StorageError: a session with one of their names was created again, or the database cannot be written. Nothing was restored.
    """
    if not copy.is_file():
        raise StorageError(f"There is no file {copy}.")
    open_file_registry.add(file)
    try:
        with closing(sqlite3.connect(file, isolation_level=None, timeout=_BUSY_SECONDS)) as database:
            database.execute("ATTACH ? AS copy", (str(copy),))
            database.execute("BEGIN IMMEDIATE")
            try:
                count = _put_back(database, file)
                database.execute("COMMIT")
            finally:
                if database.in_transaction:
                    database.execute("ROLLBACK")
    except sqlite3.Error as error:
        raise storage_error(error, str(file)) from error
    finally:
        open_file_registry.remove(file)
    return count


def _put_back(database: sqlite3.Connection, file: Path) -> int:
    again = database.execute(
        "SELECT s.id FROM copy.sessions AS c JOIN main.sessions AS s ON s.app_name = c.app_name AND s.user_id = c.user_id AND s.id = c.id"
        " WHERE s.create_time IS NOT c.create_time"
    ).fetchone()
    if again:
        raise StorageError(f"Nothing was restored: {file} has a new session {again[0]}, which would be overwritten.")
    tables = [name for (name,) in database.execute("SELECT name FROM copy.sqlite_master WHERE type = 'table'")]
    count = 0
    for table in sorted(tables, key=[COMMITS, "events", "sessions"].index):  # sessions last: the condition below needs them
        columns = ", ".join(quoted_name(row[1]) for row in database.execute(f"PRAGMA copy.table_info({table})"))
        # The record of a deleted session's shared writes was kept without its name; replacing it restores the name.
        insert = "INSERT OR REPLACE" if table == COMMITS else "INSERT"
        count = database.execute(
            f"{insert} INTO main.{table} ({columns}) SELECT {columns} FROM copy.{table}"
            f" WHERE (app_name, user_id, {_ID_COLUMN[table]}) NOT IN (SELECT app_name, user_id, id FROM main.sessions) ORDER BY rowid"
        ).rowcount
    return count
