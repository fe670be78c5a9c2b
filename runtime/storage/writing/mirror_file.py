"""A file with a copy of sessions that another program's server keeps, so that all code for databases can read them."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime.errors.storage_error import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import split_delta
from runtime.storage.connections.open_files import open_files
from runtime.storage.layouts.column_values import as_text, to_micros
from runtime.storage.layouts.known_tables import created_tables
from runtime.storage.layouts.table_names import OF_SESSION

if TYPE_CHECKING:
    from runtime.events.event import Event

# google-adk's v1 layout without our tables: the file is read as a database of google-adk's, whose first states are not recorded.
_TABLES = (
    *created_tables("DATETIME", "TEXT").values(),
    "CREATE INDEX events_of_session ON events (app_name, user_id, session_id)",
    "CREATE TABLE adk_internal_metadata (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "INSERT INTO adk_internal_metadata VALUES ('schema_version', '1')",
)
_SESSION = "app_name = ? AND user_id = ? AND id = ?"


class MirrorFile:
    """Writes the copy. Thread-safe.

    Args:
        file: a path where no file exists yet.

    Raises:
        StorageError: the file cannot be created.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = threading.Lock()
        try:
            self._connection = open_files.connect(file, isolation_level=None)
        except sqlite3.Error as error:
            raise StorageError(f"{file} cannot be created: {error}.") from error
        # Nothing is lost with this file: it is deleted in the end, and the server has it all.
        self._connection.executescript(";".join(("PRAGMA journal_mode = WAL", "PRAGMA synchronous = OFF", *_TABLES)))

    def list_session(self, key: SessionKey, updated: float) -> None:
        """Add a session without its events, unless it is there."""
        with self._lock:
            self._connection.execute("INSERT OR IGNORE INTO sessions VALUES (?, ?, ?, '{}', ?, ?)", (*key, _time(updated), _time(updated)))

    def put_session(self, key: SessionKey, state: Mapping[str, Any], updated: float, events: Sequence[Event]) -> None:
        """Bring a session up to date: add what is new, or replace it if it has changed otherwise.

        Args:
            key: the session.
            state: its merged state.
            updated: when it changed last, epoch seconds.
            events: all its events.
        """
        scopes = split_delta(state)
        rows = [_row(key, event) for event in events]
        created = events[0].timestamp if events else updated
        with self._lock, self._connection as run:
            run.execute("BEGIN IMMEDIATE")
            known = [name for (name,) in run.execute(f"SELECT id FROM events WHERE {OF_SESSION} ORDER BY rowid", key)]
            if known != [row[0] for row in rows[: len(known)]]:
                run.execute(f"DELETE FROM events WHERE {OF_SESSION}", key)
                known = []
            values = (json.dumps(scopes["session"]), _time(created), _time(updated))
            change = f"UPDATE sessions SET state = ?, create_time = ?, update_time = ? WHERE {_SESSION}"
            if not run.execute(change, (*values, *key)).rowcount:
                run.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)", (*key, *values))
            run.executemany("INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?, ?, ?, ?)", rows[len(known) :])
            put = "INSERT OR REPLACE INTO"
            run.execute(f"{put} user_states VALUES (?, ?, ?, ?)", (*key[:2], json.dumps(scopes["user"]), values[2]))
            run.execute(f"{put} app_states VALUES (?, ?, ?)", (key.app_name, json.dumps(scopes["app"]), values[2]))

    def remove_sessions(self, keys: Iterable[SessionKey]) -> None:
        """Remove sessions that the server has no more."""
        with self._lock, self._connection as run:
            run.execute("BEGIN IMMEDIATE")
            for key in keys:
                run.execute(f"DELETE FROM events WHERE {OF_SESSION}", key)
                run.execute(f"DELETE FROM sessions WHERE {_SESSION}", key)

    def close(self) -> None:
        """Close the file and delete it."""
        with self._lock:
            self._connection.close()
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):
                self.file.with_name(self.file.name + suffix).unlink()


def _row(key: SessionKey, event: Event) -> tuple[str, ...]:
    data = event.model_dump_json(exclude_none=True)
    return event.id, *key, event.invocation_id, _time(event.timestamp), data


def _time(seconds: float) -> str:
    return as_text(to_micros(seconds))
