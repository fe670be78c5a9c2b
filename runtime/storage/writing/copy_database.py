"""A copy of somebody else's database that is ours to write to."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import cast

from runtime.errors.storage_error import StorageError
from runtime.storage.connections.database_errors import storage_error
from runtime.storage.connections.database_url import database_url, named_file
from runtime.storage.connections.sqlite_file import SqliteFile
from runtime.storage.layouts.table_names import WrittenLayout
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.writing.convert import convert, give_name
from runtime.storage.writing.database import Database


def copy_database(target: str, new: Path) -> None:
    """Copy all of a database into a new file in the same layout; one with pickled actions, which is only read, is converted to v1.

    The original is only read, and may be in use. The copy appears when it is complete, and is ours: writing into it makes no backup.

    Args:
        target: file path or `sqlite:` URL.
        new: where to; must not exist.

    Raises:
        StorageError: `new` exists or cannot be written, or the original cannot be read.
        NotASessionDatabaseError: it is not a session database.
    """
    original = named_file(target)
    if original is None:
        raise StorageError(f"{target} is no file; only files are copied.")
    with StoredDatabase.open(str(original)) as stored:
        layout = stored.layout.format
    if layout.writer is None:
        convert(target, str(new))
        return
    if new.exists():
        raise StorageError(f"{new} exists already. Name a file that does not.")
    unfinished = new.with_name(new.name + ".unfinished")
    try:
        _copy_file(original, unfinished)
        database = Database(database_url(str(unfinished)), cast(WrittenLayout, layout.kind), {}, backs_up=False)
        try:
            with database.writing():
                """Makes it ours."""
        finally:
            database.close()
        give_name(unfinished, new)
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            unfinished.with_name(unfinished.name + suffix).unlink(missing_ok=True)


def _copy_file(original: Path, copy: Path) -> None:
    try:
        copy.unlink(missing_ok=True)
        written = sqlite3.connect(copy)
    except (OSError, sqlite3.Error) as error:
        raise storage_error(error, str(copy)) from error
    source = SqliteFile(original)
    try:
        source.read(lambda connection: connection.backup(written))
    finally:
        written.close()
        source.close()
