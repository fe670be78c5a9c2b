"""Deletion of a database file's sessions, and its undo.

Before anything is deleted, all rows of the sessions are copied into a separate file beside the database. Restoring them keeps everything
that was written to the database since.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from runtime.errors.storage_error import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.sessions.temp_trace import without_values
from runtime.storage.connections.companions import real_file, size_on_disk
from runtime.storage.connections.database_errors import storage_error
from runtime.storage.connections.file_kind import not_sqlite
from runtime.storage.connections.new_file import dated_name, give_name, unfinished_file
from runtime.storage.connections.open_files import open_files
from runtime.storage.connections.sqlite_file import SqliteFile
from runtime.storage.connections.write_ahead_log import remove_replaced_log
from runtime.storage.layouts.detect import sqlite_tables
from runtime.storage.layouts.statements import quoted_name
from runtime.storage.layouts.table_names import COMMITS, INVOCATIONS, NOTES
from runtime.storage.reading.reader import StoredDatabase
from runtime.support.file_names import unusable_name

if TYPE_CHECKING:
    from runtime.sessions.base_session_service import BaseSessionService

_ID_COLUMN = {"sessions": "id", "events": "session_id", COMMITS: "session_id", INVOCATIONS: "session_id", NOTES: "session_id"}
_BUSY_SECONDS = 30
LONGEST_RESTORE, _BYTES_PER_SECOND = 30.0, 5e6  # seconds, and the copy's bytes for which each further second is allowed
_STEPS_BETWEEN_LOOKS = 20_000  # SQLite's virtual machine steps between two checks of the clock
# A copy of an earlier version may hold values of `temp:` keys.
_WITHOUT_VALUES = "CASE WHEN event_id IS NULL THEN temp ELSE without_values(temp) END"


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
    """Copy all rows of some sessions into a new file beside the database, such as `session.db.deleted-20261121-113000-5f3a9c`.

    Returns:
        The complete copy. An interrupted copy never has this name.

    Raises:
        StorageError: the database cannot be read, or the copy cannot be written.
    """
    copy = dated_name(file, "deleted")
    try:
        with unfinished_file(copy, 0o600) as unfinished:
            with StoredDatabase.open(str(file)) as database, closing(open_files.connect(unfinished, isolation_level=None)) as written:
                unfinished.chmod(file.stat().st_mode & 0o777)
                written.execute("BEGIN")
                layout = database.layout
                ours = {COMMITS: layout.ours, INVOCATIONS: layout.records_ends, NOTES: layout.keeps_notes}
                for table in ("sessions", "events", *(name for name, is_there in ours.items() if is_there)):
                    _copy_table(database, written, table, keys)
                written.execute("COMMIT")
            give_name(unfinished, copy)
    except (sqlite3.Error, OSError) as error:
        raise StorageError(f"Nothing was deleted: {copy} cannot be written ({error}).") from error
    return copy


def _copy_table(database: StoredDatabase, written: sqlite3.Connection, table: str, keys: Iterable[SessionKey]) -> None:
    names = database.read(lambda connection: [row[1] for row in connection.execute(f"PRAGMA table_info({table})")])
    columns = ", ".join(quoted_name(name) for name in names)
    written.execute(f"CREATE TABLE {table} ({columns})")  # without types, so that SQLite converts no value
    query = f"SELECT {columns} FROM {table} WHERE app_name = ? AND user_id = ? AND {_ID_COLUMN[table]} = ? ORDER BY rowid"
    for key in keys:
        rows = database.read(lambda connection, key=key: connection.execute(query, key).fetchall())  # type: ignore[misc]
        if table == COMMITS:
            rows = [_without_temp_values(dict(zip(names, row, strict=True))) for row in rows]
        written.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(names))})", rows)


def _without_temp_values(row: dict[str, Any]) -> tuple[Any, ...]:
    if row["event_id"] is not None:
        row["temp"] = without_values(row["temp"])
    return tuple(row.values())


def put_back(
    file: Path, copy: Path, name: str | None = None, copy_name: str | None = None, stopped: Callable[[], bool] = lambda: False
) -> int:
    """Restore deleted sessions with all their rows; sessions of the copy that still exist are not changed.

    Args:
        file: the database.
        copy: a file written by `keep_copy`.
        name, copy_name: the names of both in errors, as the user wrote them; default: the paths.
        stopped: returns whether to give up, as the caller no longer waits; asked now and then.

    Returns:
        The number of restored sessions.

    Raises:
        StorageError: the copy is not one for this database, a session with one of its names was created again, or the database cannot be
            written. Nothing was restored.
    """
    name = str(file) if name is None else name
    _check_copy(copy, str(copy) if copy_name is None else copy_name, file, name)
    remove_replaced_log(real_file(file))
    try:
        with closing(open_files.connect(file, isolation_level=None, timeout=_BUSY_SECONDS, uri=True)) as database:
            give_up = time.monotonic() + LONGEST_RESTORE + size_on_disk(copy) / _BYTES_PER_SECOND
            database.set_progress_handler(
                lambda: stopped() or time.monotonic() > give_up, _STEPS_BETWEEN_LOOKS
            )  # a trigger can loop for ever
            # A URL, because a plain name must be UTF-8, and read-only, so that a wrong file is not changed either.
            database.execute("ATTACH ? AS copy", (f"file:{quote(os.fsencode(copy.absolute()))}?mode=ro",))
            database.execute("BEGIN IMMEDIATE")
            try:
                count = _put_back(database, name)
                database.execute("COMMIT")
            finally:
                if database.in_transaction:
                    database.execute("ROLLBACK")
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
            raise StorageError(f"Restoring into {name} took too long and was undone. A trigger in it may be the cause.") from error
        raise storage_error(error, name) from error
    return count


def _check_copy(copy: Path, copy_name: str, file: Path, name: str) -> None:
    """Check that a file is a copy that `keep_copy` made of a database of the same layout.

    Raises:
        StorageError: it is not, or it cannot be read; the message names the copy.
    """
    if reason := unusable_name(copy):
        raise StorageError(f"{copy_name} {reason}.")
    if not copy.exists():
        raise StorageError(f"There is no file {copy_name}.")
    if not copy.is_file():
        raise StorageError(f"{copy_name} is {'a folder' if copy.is_dir() else 'not a regular file'}, so it is no copy of deleted sessions.")
    try:
        kind = not_sqlite(copy) if copy.stat().st_size else "is an empty file"
    except OSError as error:
        raise StorageError(f"{copy_name} cannot be read: {error.strerror or error}.") from error
    if kind:
        raise StorageError(f"{copy_name} {kind}; it is no copy of deleted sessions.")
    with closing(SqliteFile(copy, name=copy_name)) as opened:
        tables = opened.read(sqlite_tables)
    with closing(SqliteFile(file, name=name)) as opened:
        present = opened.read(sqlite_tables)
    if not ({"sessions", "events"} <= set(tables) <= set(_ID_COLUMN)):
        raise StorageError(f"{copy_name} is not a copy that `delete` or `prune` made. Such a copy has `.deleted-` in its name.")
    for table, columns in tables.items():
        unknown = sorted(set(columns) - set(present.get(table, ())))
        if unknown:
            raise StorageError(f"{copy_name} was not made from {name}, whose table {table} has no column {unknown[0]}.")


def _put_back(database: sqlite3.Connection, name: str) -> int:
    again = database.execute(
        "SELECT s.id FROM copy.sessions AS c JOIN main.sessions AS s ON s.app_name = c.app_name AND s.user_id = c.user_id AND s.id = c.id"
        " WHERE s.create_time IS NOT c.create_time"
    ).fetchone()
    if again:
        raise StorageError(f"Nothing was restored: {name} has a new session {again[0]}, which would be overwritten.")
    tables = [name for (name,) in database.execute("SELECT name FROM copy.sqlite_master WHERE type = 'table'")]
    count = 0
    database.create_function("without_values", 1, without_values, deterministic=True)
    for table in sorted(
        tables, key=[COMMITS, INVOCATIONS, NOTES, "events", "sessions"].index
    ):  # sessions last: the condition below needs them
        names = [row[1] for row in database.execute(f"PRAGMA copy.table_info({table})")]
        columns = ", ".join(map(quoted_name, names))
        values = ", ".join(_WITHOUT_VALUES if (table, name) == (COMMITS, "temp") else quoted_name(name) for name in names)
        # The record of a deleted session's shared writes was kept without its name; replacing it restores the name.
        insert = "INSERT OR REPLACE" if table in (COMMITS, NOTES) else "INSERT"
        count = database.execute(
            f"{insert} INTO main.{table} ({columns}) SELECT {values} FROM copy.{table}"
            f" WHERE (app_name, user_id, {_ID_COLUMN[table]}) NOT IN (SELECT app_name, user_id, id FROM main.sessions) ORDER BY rowid"
        ).rowcount
    return count
