"""Following of the commits that other processes make to a database on a PostgreSQL server.

One cheap query returns a snapshot of the transactions; tables are read only when it has changed. Each row has the number of the transaction
that wrote it (`xmin`), so new rows are those of transactions that had not ended at the last poll. Every commit of an event updates its
session's row, so only the events of those sessions are read.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runtime.errors.not_found_error import NotFoundError
from runtime.errors.storage_error import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.storage.layouts.column_values import epoch
from runtime.storage.layouts.table_names import OF_SESSION
from runtime.storage.reading.event_rows import ReadingConnection
from runtime.storage.reading.notes import revision, server_has_notes
from runtime.storage.reading.reader import SessionSummary, StoredDatabase
from runtime.storage.reading.server_database import ServerDatabase, ServerRows
from runtime.storage.tail.tail import Changes, Tail

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

_PAUSE = 0.03  # seconds between two polls
_SHARE = 0.1  # largest share of the time for reading a large database
_LONGEST_PAUSE, _PATIENCE = 2.0, 1.0  # seconds; the second is the pause after an error
_MOST_COUNTED = 50  # changed sessions whose events are counted one by one; if there are more, all sessions are listed

_SINCE = "age(xmin) <= age(CAST(CAST(? AS text) AS xid))"


@dataclass(slots=True)
class _Look:
    """The result of one read: the oldest transaction that had not ended, the changes, and what changes with every note."""

    oldest: str
    changed: list[SessionSummary]
    removed: list[SessionKey]
    rows: list[Sequence[Any]] = field(default_factory=list)
    reread: bool = False
    notes: tuple[object, ...] = ()


class ServerTail(Tail):
    """A tail of one database on a server. It stays connected.

    Args:
        url: a URL with our driver.
        known: see `Tail`.
    """

    def __init__(self, url: URL, known: Iterable[SessionSummary] = ()) -> None:
        super().__init__(known)
        self._server = ServerDatabase(url, keep=True)
        self._database: StoredDatabase | None = None
        self._rows: ServerRows | None = None
        self._decode: Any = None
        self._snapshot = ""
        self._oldest: str | None = None
        self._cost = 0.0

    @property
    def pause(self) -> float:
        """See `Tail.pause`."""
        if self.problem is not None:
            return _PATIENCE
        return min(max(_PAUSE, self._cost / _SHARE), _LONGEST_PAUSE)

    def poll(self) -> Changes:
        """See `Tail.poll`."""
        try:
            snapshot = self._server.snapshot()
            if snapshot == self._snapshot and not self._asked:
                self.problem = None
                return Changes()
            begin = time.monotonic()
            changes = self._read()
        except StorageError as error:
            # Keep the first error: a restarting server reports several errors with the same cause.
            self.problem = self.problem or error
            return Changes()
        self._snapshot, self._asked, self.problem = snapshot, False, None
        self._cost = time.monotonic() - begin
        return changes

    def close(self) -> None:
        """See `Tail.close`."""
        self._server.close()

    def _read(self) -> Changes:
        if self._database is None:
            layout = self._server.layout()
            self._database, self._rows = StoredDatabase(self._server, layout), ServerRows(layout)
        look = self._server.read(self._look)
        self._oldest = look.oldest
        new = self._take_sessions(look.changed, look.removed)
        events = [self._decode(row) for row in look.rows]
        self._take_events(events, reread=look.reread)
        return Changes(look.changed, look.removed, events, look.reread, new, self._notes_changed(look.notes))

    # In one transaction

    def _look(self, connection: ReadingConnection) -> _Look:
        """Return the changes. It may be called more than once for one read, so it does not change this object."""
        snapshot = str(connection.execute("SELECT CAST(txid_current_snapshot() AS text)").fetchone()[0])
        # A row's `xmin` holds the low 32 bits.
        oldest = str(int(snapshot.split(":")[0]) & 0xFFFFFFFF)
        changed = self._changed(connection)
        removed: list[SessionKey] = []
        if changed is None:
            assert self._database is not None
            changed, removed = self._differences({summary.key: summary for summary in self._database.sessions_in(connection)})
        look = _Look(oldest, changed, removed)
        if self._followed is not None and self._followed.key not in removed:
            self._look_at_followed(connection, look)
        look.notes = revision(connection) if server_has_notes(connection) else ()
        return look

    def _changed(self, connection: ReadingConnection) -> list[SessionSummary] | None:
        """Return the sessions changed since the last poll, or None if all sessions have to be listed."""
        if self._oldest is None:
            return None
        rows = connection.execute(f"SELECT app_name, user_id, id, update_time FROM sessions WHERE {_SINCE}", (self._oldest,)).fetchall()
        found = {SessionKey(*key): epoch(updated) for *key, updated in rows}
        (count,) = connection.execute("SELECT count(*) FROM sessions").fetchone()
        if len(found) > _MOST_COUNTED or count != len(self._known.keys() | found.keys()):
            return None
        summaries = [SessionSummary(key, _count(connection, key), updated) for key, updated in found.items()]
        return [summary for summary in summaries if self._known.get(summary.key) != summary]

    def _look_at_followed(self, connection: ReadingConnection, look: _Look) -> None:
        followed, rows = self._followed, self._rows
        assert followed is not None and rows is not None
        if self._decode is None:
            self._decode = rows.decoder(connection)
        if self._asked or self._oldest is None:
            try:
                found = rows.read(connection, followed.key, followed.last_id, None)
            except NotFoundError:
                look.reread = True
                return
        else:
            query = f"SELECT id FROM events WHERE {OF_SESSION} AND {_SINCE}"
            ids = [name for (name,) in connection.execute(query, (*followed.key, self._oldest))]
            new = [name for name in ids if name not in followed.ids]
            found = rows.of_ids(connection, followed.key, new) if new else []
        if followed.count + len(found) == _count(connection, followed.key):
            look.rows = found
        else:
            look.reread = True


def _count(connection: ReadingConnection, key: SessionKey) -> int:
    return int(connection.execute(f"SELECT count(*) FROM events WHERE {OF_SESSION}", key).fetchone()[0])
