"""A working copy of another program's database."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, cast

from runtime.errors.storage_error import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.database_errors import storage_error
from runtime.storage.connections.database_url import database_url, named_file
from runtime.storage.connections.new_file import give_name, unfinished_file
from runtime.storage.connections.open_files import open_files
from runtime.storage.connections.sqlite_file import SqliteFile
from runtime.storage.layouts.column_values import micros_of
from runtime.storage.layouts.commit_record import record_snapshot, shared_json
from runtime.storage.layouts.event_format import EventFormat
from runtime.storage.layouts.table_names import SCHEMA_VERSION, WrittenLayout
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.writing.convert import convert
from runtime.storage.writing.database import Database
from runtime.storage.writing.shared_rows import shared_states

_BUSY_SECONDS = 10.0


def copy_database(target: str, new: Path) -> None:
    """Copy a whole database into a new file in the same layout. A database with pickled actions is converted to v1.

    The original is not changed and may be in use. The copy gets its name when it is complete. It has our tables, so the first write to it
    makes no backup.

    Args:
        target: file path or `sqlite:` URL.
        new: path of the copy, which must not exist.

    Raises:
        StorageError: `new` exists or cannot be written, or the original cannot be read.
        NotASessionDatabaseError: the original is not a session database.
    """
    original = named_file(target)
    if original is None:
        raise StorageError(f"{target} is not a file. Only files can be copied.")
    with StoredDatabase.open(str(original)) as stored:
        layout = stored.layout.format
    if layout.writer is None:
        convert(target, str(new))
        return
    if new.exists():
        raise StorageError(f"{new} already exists. Name a file that does not exist.")
    try:
        with unfinished_file(new) as unfinished:
            _copy_file(original, unfinished)
            _add_our_tables(unfinished, layout)
            give_name(unfinished, new)
    except OSError as error:
        raise StorageError(f"{new} cannot be written: {error.strerror or error}.") from error


def add_our_tables(file: Path) -> None:
    """Add our tables to a database that another program has just made for us, without a backup. One that has them is not changed.

    Raises:
        NotASessionDatabaseError: it is not a session database.
        StorageError: it cannot be read or written.
    """
    with StoredDatabase.open(str(file)) as stored:
        layout = stored.layout
    if not layout.ours and layout.format.writer is not None:
        _add_our_tables(file, layout.format)


def record_creation(file: Path, key: SessionKey, state: Mapping[str, Any]) -> None:
    """Record the first state of a session that another program has just made in a file with our tables, unless it is recorded.

    Args:
        file: the database.
        key: the session.
        state: its first state, with that of its app and user.

    Raises:
        StorageError: the file cannot be read or written.
    """
    with StoredDatabase.open(str(file)) as stored:
        layout = stored.layout
        if not layout.ours or stored.first_state(key) is not None:
            return
    database = Database(database_url(str(file)), cast(WrittenLayout, layout.kind), {}, backs_up=False)
    try:
        with database.writing() as run:
            names = key._asdict()
            user, app = shared_states(run, key)
            record_snapshot(run, key.app_name, "", app, database.writer)
            record_snapshot(run, key.app_name, key.user_id, user, database.writer)
            created, own = run("find_session", **names).fetchone()[0], run("session_state", **names).fetchone()[0]
            commit = {"event_id": None, "at": micros_of(created), "writer": None, "baseline": own, "temp": None}
            run("insert_commit", **names, **commit, shared=shared_json(dict(state)))
    finally:
        database.close()


def record_missing_version(file: Path) -> None:
    """Record the version in a file for which `StoredDatabase.open` raises an EmptyDatabaseError, if it has the table for it.

    google-adk commits its tables first, and refuses a file that has the table for the version without one.

    Raises:
        StorageError: the file cannot be written.
    """
    try:
        with closing(open_files.connect(file, isolation_level=None, timeout=_BUSY_SECONDS)) as connection:
            if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'adk_internal_metadata'").fetchone():
                connection.execute("INSERT OR IGNORE INTO adk_internal_metadata VALUES ('schema_version', ?)", (SCHEMA_VERSION,))
    except sqlite3.Error as error:
        raise storage_error(error, str(file)) from error


def copy_recording(recording: Path, new: Path) -> None:
    """Copy a recording, which may be in use, into a new file.

    Raises:
        StorageError: `new` exists or cannot be written, or the recording cannot be read.
    """
    try:
        with unfinished_file(new, 0o600) as unfinished:
            _copy_file(recording, unfinished)
            give_name(unfinished, new)
    except OSError as error:
        raise StorageError(f"{new} cannot be written: {error.strerror or error}.") from error


def _add_our_tables(file: Path, layout: EventFormat) -> None:
    database = Database(database_url(str(file)), cast(WrittenLayout, layout.kind), {}, backs_up=False)
    try:
        with database.writing():
            pass  # the first transaction creates our tables
    finally:
        database.close()


def _copy_file(original: Path, copy: Path) -> None:
    try:
        written = open_files.connect(copy)
    except sqlite3.Error as error:
        raise storage_error(error, str(copy)) from error
    source = SqliteFile(original)
    try:
        source.read(lambda connection: connection.backup(written))
    finally:
        written.close()
        source.close()
