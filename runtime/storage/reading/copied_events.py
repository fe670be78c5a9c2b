"""A session's events in an in-memory database, so that pickled events and a server's events are paged and searched as JSON in SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.open_files import open_files

if TYPE_CHECKING:
    from runtime.events.event import Event

T = TypeVar("T")


class Readable(Protocol):
    """A source that can be read in one transaction: an SQLite file, a database on a server, or a copy in memory."""

    def read(self, work: Callable[[Any], T]) -> T:
        """Run a function that only reads."""

    def close(self) -> None:
        """Close the connection."""


class CopiedEvents:
    """One session's events, in commit order, as rows of google-adk's v1 layout."""

    def __init__(self, key: SessionKey, events: Iterable[Event]) -> None:
        self._connection = open_files.connect(":memory:")
        self._connection.execute(
            "CREATE TABLE events (id TEXT, app_name TEXT, user_id TEXT, session_id TEXT, invocation_id TEXT, timestamp REAL,"
            " event_data TEXT)"
        )
        self._connection.executemany(
            "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)",
            ((event.id, *key, event.invocation_id, event.timestamp, event.model_dump_json(exclude_none=True)) for event in events),
        )

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function that only reads."""
        return work(self._connection)

    def close(self) -> None:
        """Delete the copy."""
        self._connection.close()

    def __del__(self) -> None:
        self.close()
