"""A database's event rows in commit order, for every layout."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from runtime.errors.not_found_error import NotFoundError
from runtime.sessions.session_key import SessionKey
from runtime.storage.layouts.detect import Layout
from runtime.storage.layouts.local_times import utc_offset
from runtime.storage.layouts.statements import Rows
from runtime.storage.layouts.table_names import COMMITS, OF_SESSION

if TYPE_CHECKING:
    from runtime.events.event import Event

Written = tuple[str, str, str, Mapping[str, Any]]  # user_id, session_id, event id and state delta


class ReadingConnection(Protocol):
    """A connection in a transaction that reads: SQLite's, or a server's that accepts the same question marks."""

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> Rows:
        """Run a query."""


class EventRows:
    """A reader of the table `events` in an SQLite file."""

    order, newest_first = "rowid", "e.rowid DESC"

    def __init__(self, layout: Layout) -> None:
        self._format = layout.format
        self._columns = layout.format.columns(layout.event_columns)
        self._body = layout.format.delta_column
        self._delta_of = layout.format.delta_of
        self.time_order = layout.format.time_order

    def read(self, connection: ReadingConnection, key: SessionKey, after: str | None, limit: int | None) -> list[Sequence[Any]]:
        """Return a session's rows, to be decoded with `decoder`.

        Args:
            connection: a connection in a transaction.
            key: the session.
            after: return only the rows after the event with this id.
            limit: maximum number of rows.

        Raises:
            NotFoundError: there is no event `after`.
        """
        query = f"SELECT {', '.join(self._columns)} FROM events WHERE {OF_SESSION} AND rowid > ? ORDER BY rowid LIMIT ?"
        start = self._number(connection, key, after) if after is not None else 0
        return connection.execute(query, (*key, start, -1 if limit is None else limit)).fetchall()

    def newest(self, connection: ReadingConnection, key: SessionKey, count: int) -> list[Sequence[Any]]:
        """Return a session's newest rows, the oldest first, to be decoded with `decoder`."""
        # Sorting the row numbers alone is a hundred times faster than sorting the rows.
        newest = f"SELECT rowid FROM events WHERE {OF_SESSION} ORDER BY rowid DESC LIMIT ?"
        query = f"SELECT {', '.join(self._columns)} FROM events WHERE rowid IN ({newest}) ORDER BY rowid"
        return connection.execute(query, (*key, count)).fetchall()

    def numbers(self, connection: ReadingConnection, key: SessionKey, after: str | None) -> array[int]:
        """Return the row numbers of a session's events in commit order, for `numbered`; see `read`."""
        start = self._number(connection, key, after) if after is not None else -(2**63)
        found = connection.execute(f"SELECT rowid FROM events WHERE {OF_SESSION} AND +rowid > ?", (*key, start))
        return array("q", sorted(rowid for (rowid,) in found))

    def numbered(self, connection: ReadingConnection, numbers: Sequence[int]) -> list[Sequence[Any]]:
        """Return the rows with these numbers that still exist, to be decoded with `decoder`."""
        listed = ",".join(map(str, numbers))
        return connection.execute(f"SELECT {', '.join(self._columns)} FROM events WHERE rowid IN ({listed}) ORDER BY rowid").fetchall()

    def added(self, connection: ReadingConnection, key: SessionKey, rowid: int, limit: int) -> list[Sequence[Any]]:
        """Return a session's first rows after `rowid`.

        It scans the table from there instead of using the session's index, which is faster for events just added to a long session.
        """
        query = f"SELECT {', '.join(self._columns)} FROM events NOT INDEXED WHERE rowid > ? AND {OF_SESSION} ORDER BY rowid LIMIT ?"
        return connection.execute(query, (rowid, *key, limit)).fetchall()

    def decoder(self, connection: ReadingConnection) -> Callable[[Sequence[Any]], Event]:
        """Return the function that decodes a row of `read` into its event."""
        return self._format.decoder(self._columns, read_offset(connection) if self._format.has_local_times else 0)

    def reader(self, connection: ReadingConnection) -> Callable[[Sequence[Any]], Event]:
        """Return a function as `decoder` does, for code that only reads; see `EventFormat.reader`."""
        reader = self._format.reader
        return self.decoder(connection) if reader is None else reader(self._columns, 0)

    def written(self, connection: ReadingConnection, key: SessionKey) -> Iterator[Written]:
        """Yield an app's events in commit order, without events of other sessions that cannot have written to a shared scope."""
        rows = connection.execute(
            f"SELECT user_id, session_id, id, {self._body} FROM events WHERE app_name = ?"
            f" AND ((user_id = ? AND session_id = ?) OR {self._may_be_shared()}) ORDER BY {self.order}",
            key,
        )
        for user_id, session_id, event_id, body in rows:
            own = user_id == key.user_id and session_id == key.session_id
            yield user_id, session_id, event_id, {} if own or not _may_share(body) else self._delta_of(body)

    def unrecorded(self, connection: ReadingConnection, key: SessionKey) -> Iterator[Written]:
        """Yield an app's events after our last recorded one, in commit order."""
        rows = connection.execute(
            f"SELECT app_name, user_id, session_id, id, {self._body}, EXISTS (SELECT 1 FROM {COMMITS} AS c WHERE c.app_name = e.app_name"
            " AND c.user_id = e.user_id AND c.session_id = e.session_id AND c.event_id = e.id)"
            f" FROM events AS e ORDER BY {self.newest_first}"
        )
        newest: list[Written] = []
        for app_name, user_id, session_id, event_id, body, recorded in rows:
            if recorded:
                break
            if app_name == key.app_name:
                newest.append((user_id, session_id, event_id, self._delta_of(body)))
        return reversed(newest)

    def _may_be_shared(self) -> str:
        # SQL cannot search a pickle; `_may_share` does it.
        return "1 = 1" if not self._format.is_json else f"{self._body} LIKE '%\"user:%' OR {self._body} LIKE '%\"app:%'"

    def _number(self, connection: ReadingConnection, key: SessionKey, event_id: str) -> int:
        row = connection.execute(f"SELECT rowid FROM events WHERE {OF_SESSION} AND id = ?", (*key, event_id)).fetchone()
        if row is None:
            raise no_event(key, event_id)
        return int(row[0])


def read_offset(connection: ReadingConnection) -> int:
    """Return the microseconds by which a v0 database's event times are ahead of UTC."""
    return utc_offset(
        connection.execute(
            "SELECT s.create_time, min(e.timestamp) FROM sessions AS s JOIN events AS e"
            " ON e.app_name = s.app_name AND e.user_id = s.user_id AND e.session_id = s.id"
            " GROUP BY s.app_name, s.user_id, s.id, s.create_time"
        ).fetchall()
    )


def no_event(key: SessionKey, event_id: str) -> NotFoundError:
    """Return the error for a missing event."""
    return NotFoundError(f"Session {key.session_id} has no event {event_id}.")


def _may_share(body: Any) -> bool:
    if isinstance(body, bytes):
        return b"user:" in body or b"app:" in body
    return not isinstance(body, str) or "user:" in body or "app:" in body
