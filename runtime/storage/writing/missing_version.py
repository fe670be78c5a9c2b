"""The version of a database that google-adk was creating when it was killed."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from runtime.storage.connections.database_errors import storage_error
from runtime.storage.connections.open_files import open_files
from runtime.storage.layouts.table_names import SCHEMA_VERSION

_BUSY_SECONDS = 10.0


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
