"""Notes on the events of a database that is not ours to change: a small file in a folder of ours, one for each such database."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from runtime.errors.storage_error import StorageError
from runtime.sessions.note import Note
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.database_errors import storage_error
from runtime.storage.connections.database_url import is_remote, named_file, without_password, without_written_password
from runtime.storage.connections.open_files import open_files
from runtime.storage.layouts.column_values import to_micros
from runtime.storage.layouts.statements import SQL
from runtime.storage.layouts.table_names import NOTES
from runtime.storage.reading.notes import Notes, has_notes, read_notes

_SUFFIX = ".notes.db"
_BUSY_SECONDS = 10.0
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS inspector_notes_of (database TEXT PRIMARY KEY)",
    f"CREATE TABLE IF NOT EXISTS {NOTES} (app_name TEXT NOT NULL, user_id TEXT NOT NULL, session_id TEXT NOT NULL, event_id TEXT NOT NULL,"
    " text TEXT NOT NULL, is_bookmark INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (app_name, user_id, session_id, event_id))",
)


class NotesFile:
    """The file with the notes on one database. A deleted note stays as an empty row, so that it also hides one in the database itself.

    Attributes:
        path: the file; it need not exist.

    Args:
        target: the database: a path or a URL, also a server's. A file is known by its path without links.
        folder: the folder of these files, created with the first note, readable by its owner only.
    """

    def __init__(self, target: str, folder: Path) -> None:
        file = None if is_remote(target) else named_file(target)
        if file is not None:
            self._database = os.path.realpath(file)
        else:
            self._database = without_written_password(target) if is_remote(target) else without_password(target)
        self.path = folder / f"{hashlib.sha256(self._database.encode('utf-8', 'surrogateescape')).hexdigest()[:24]}{_SUFFIX}"

    def notes(self, key: SessionKey | None = None) -> Notes:
        """Return the notes of one session or of all, by event id; deleted ones are empty.

        Raises:
            StorageError: the file cannot be read.
        """
        if not self.path.is_file():
            return {}
        with self._opened() as connection:
            # A process that was killed at its first note has left a file without tables.
            return read_notes(connection, key) if has_notes(connection) else {}

    def revision(self) -> tuple[Any, ...]:
        """Return values that change whenever a note does."""
        try:
            stat = self.path.stat()
        except OSError:
            return ()
        return stat.st_ino, stat.st_mtime_ns, stat.st_size

    def put(self, key: SessionKey, event_id: str, note: Note) -> None:
        """Store a note in place of an earlier one on the event.

        Raises:
            StorageError: the file cannot be written.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self.path.touch(0o600)
        except OSError as error:
            raise StorageError(f"Notes cannot be kept in {self.path.parent}: {error.strerror or error}.") from error
        with self._opened() as connection:
            connection.execute("PRAGMA secure_delete = ON").fetchone()  # a deleted note is not to be found in the file
            connection.execute("BEGIN IMMEDIATE")
            for statement in _SCHEMA:
                connection.execute(statement)
            connection.execute("INSERT OR IGNORE INTO inspector_notes_of VALUES (?)", (self._database,))
            values = {"text": note.text, "is_bookmark": int(note.is_bookmark), "at": to_micros(note.at)}
            connection.execute(SQL["put_note"], {**key._asdict(), "event_id": event_id, **values})
            connection.execute("COMMIT")

    def delete(self) -> None:
        """Delete the file: its notes are in the database itself now."""
        self.path.unlink(missing_ok=True)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(open_files.connect(self.path, isolation_level=None, timeout=_BUSY_SECONDS)) as connection:
                connection.execute("PRAGMA trusted_schema = OFF").fetchall()
                yield connection
        except sqlite3.Error as error:
            raise storage_error(error, str(self.path)) from error
