"""Following of the commits that other processes make to an SQLite file.

The file is not kept open: a connection that is open when the last writer closes would leave the `-wal` and `-shm` files behind. A poll
compares the stamps of the file and its write-ahead log, which takes a few microseconds, and reads the file only if they have changed. New
rows follow the last row read. A vacuum renumbers rows and numbers can be reused, so the last row is also identified by its key. If the key
or a count does not match, all sessions are listed again and compared.
"""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from runtime.errors.storage_error import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.companions import companion, real_file
from runtime.storage.connections.wal_copy import CLOCK_TICK
from runtime.storage.layouts.column_values import as_name, epoch
from runtime.storage.layouts.read_time_limit import one_read
from runtime.storage.layouts.table_names import OF_SESSION
from runtime.storage.reading.event_rows import EventRows
from runtime.storage.reading.notes import has_notes, revision
from runtime.storage.reading.reader import SessionSummary, StoredDatabase
from runtime.storage.tail.tail import Changes, Tail
from runtime.support.gc_freeze import collection_paused

if TYPE_CHECKING:
    from runtime.events.event import Event

_PAUSE = 0.02  # seconds between two polls
_SHARE, _SHARE_BESIDE = 0.2, 0.1  # largest share of a processor for reading a file; of one without the followed session
_LONGEST_PAUSE = 2.0  # seconds
_PATIENCE = 1.0  # seconds before an unreadable, unchanged file is tried again
_CALM = 1.0  # seconds without a change before all rows are counted, the only way to notice rows deleted in the middle
_MOST_AT_ONCE = 2_000  # events returned by one poll; more stay in the file until the next one

_BEFORE_ALL = -(2**63)  # lower than any row number


class _Place(NamedTuple):
    """A row's number and key."""

    rowid: int
    name: tuple[Any, ...]


_START = _Place(_BEFORE_ALL, ())


@dataclass(slots=True)
class _Look:
    """The result of one read.

    Attributes:
        last_session, last_event: the last rows of the tables.
        total: number of events.
        changed: sessions that are new or changed.
        removed: sessions that were deleted.
        rows: rows of the followed session's new events.
        reread: see `Changes`.
        has_more: whether more rows follow.
        has_orphans: whether there are events without a session, so that a session may have events as soon as it is created.
        notes: what changes with every note.
    """

    last_session: _Place
    last_event: _Place
    total: int
    changed: list[SessionSummary]
    removed: list[SessionKey] = field(default_factory=list)
    rows: list[Sequence[Any]] = field(default_factory=list)
    has_more: bool = False
    reread: bool = False
    has_orphans: bool = False
    notes: tuple[object, ...] = ()


class FileTail(Tail):
    """A tail of one file.

    Args:
        file: the file; it may be missing for a while.
        known: see `Tail`.
    """

    def __init__(self, file: Path, known: Iterable[SessionSummary] = ()) -> None:
        super().__init__(known)
        self._file = file
        self._stamped = (file, companion(real_file(file), "-wal"))
        self._database: StoredDatabase | None = None
        self._rows: EventRows | None = None
        self._decode: Any = None
        self._stamps: tuple[object, ...] = ()
        self._settled = False
        self._changed_at = self._looked_at = 0.0
        self._cost = 0.0
        self._counted = True
        self._last_session = self._last_event = _START
        self._total = -1  # sessions not listed yet
        self._has_orphans = False

    @property
    def pause(self) -> float:
        """See `Tail.pause`."""
        share = _SHARE_BESIDE if self._followed is None else _SHARE
        return min(max(_PAUSE, self._cost / share), _LONGEST_PAUSE)

    def poll(self) -> Changes:
        """See `Tail.poll`."""
        now = time.monotonic()
        stamps, settled = self._look_at_files()
        if stamps != self._stamps:
            self._changed_at, self._counted = now, False
        elif self._settled and not self._asked and not self._is_due(now):
            return Changes()
        is_calm = now - self._changed_at >= _CALM
        self._stamps, self._settled = stamps, settled
        self._looked_at = now
        try:
            changes = self._read(count=is_calm and not self._counted)
        except StorageError as error:
            self.problem = error
            self._let_go()
            return Changes()
        self._counted = self._counted or is_calm
        self.problem = None
        return changes

    def close(self) -> None:
        """See `Tail.close`."""
        self._let_go()

    def _open(self) -> StoredDatabase:
        return StoredDatabase.open(str(self._file))

    def _let_go(self) -> None:
        if self._database is not None:
            self._database.close()
        self._database = None

    def _is_due(self, now: float) -> bool:
        if self.problem is not None:
            return now - self._looked_at >= _PATIENCE
        return not self._counted and now - self._changed_at >= _CALM

    def _look_at_files(self) -> tuple[tuple[object, ...], bool]:
        """Return the stamps of the files, and whether they are old enough to show every change until now."""
        stamps: list[object] = []
        newest = 0.0
        for stamped in self._stamped:
            try:
                stat = stamped.stat()
            except OSError:
                stamps.append(None)
            else:
                stamps.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
                newest = max(newest, stat.st_mtime)
        return tuple(stamps), abs(time.time() - newest) > CLOCK_TICK

    @one_read()
    def _read(self, *, count: bool) -> Changes:
        if self._database is None:
            self._database = self._open()
            self._rows = EventRows(self._database.layout)
            self._decode = None
        begin = time.thread_time()
        look = self._database.read(lambda connection: self._look(connection, count=count))
        self._cost = time.thread_time() - begin
        self._asked = look.has_more
        self._last_session, self._last_event, self._total = look.last_session, look.last_event, look.total
        self._has_orphans = look.has_orphans
        new = self._take_sessions(look.changed, look.removed)
        events = [self._decode(row) for row in look.rows]
        self._take(look, events)
        return Changes(look.changed, look.removed, events, look.reread, new, self._notes_changed(look.notes))

    def _take(self, look: _Look, events: list[Event]) -> None:
        self._take_events(events, reread=look.reread)
        if self._followed is not None and look.rows:
            # In adk web's layout the JSON holds the event's id, and the column the row's.
            self._followed.last_id = look.rows[-1][0]

    @property
    def _has_own_ids(self) -> bool:
        return self._database is not None and self._database.layout.format.json_ids_win

    # In one transaction

    def _look(self, connection: sqlite3.Connection, *, count: bool) -> _Look:
        """Return the current content. It may be called more than once for one read, so it does not change this object."""
        look = self._added(connection)
        if look is None or (count and look.total != _count(connection, "events")):
            look = self._all(connection)
        if self._followed is not None:
            self._look_at_followed(connection, look)
        look.notes = revision(connection) if has_notes(connection) else ()
        return look

    def _added(self, connection: sqlite3.Connection) -> _Look | None:
        """Return the rows after the last ones read, or None if those have changed."""
        if self._total < 0 or _session_at(connection, self._last_session.rowid) != self._last_session:
            return None
        if _event_at(connection, self._last_event.rowid) != self._last_event:
            return None
        sessions = _sessions_behind(connection, self._last_session.rowid)
        counts, last_row = _events_behind(connection, self._last_event.rowid)
        new = {SessionKey(*map(as_name, place.name)) for place in sessions}
        if not new.isdisjoint(self._known) or len(self._known) + len(new) != _count(connection, "sessions"):
            return None
        if new and self._has_orphans:
            return None
        changed = [
            SessionSummary(key, counts[key] + (self._known[key].event_count or 0 if key in self._known else 0), updated)
            for key in new | counts.keys()
            if (updated := _update_time(connection, key)) is not None
        ]
        last_session = sessions[-1] if sessions else self._last_session
        last_event = _event_at(connection, last_row) if counts else self._last_event
        has_orphans = self._has_orphans or len(changed) < len(new | counts.keys())
        return _Look(last_session, last_event, self._total + sum(counts.values()), changed, has_orphans=has_orphans)

    def _all(self, connection: sqlite3.Connection) -> _Look:
        """Return the differences between all stored sessions and the known ones."""
        assert self._database is not None
        total = _count(connection, "events")
        with collection_paused():  # most summaries are compared and freed again
            now = {summary.key: summary for summary in self._database.sessions_in(connection)}
            changed, removed = self._differences(now)
            has_orphans = total > sum(summary.event_count or 0 for summary in now.values())
            del now
        return _Look(_last(connection, "sessions"), _last(connection, "events"), total, changed, removed, has_orphans=has_orphans)

    def _look_at_followed(self, connection: sqlite3.Connection, look: _Look) -> None:
        followed, rows = self._followed, self._rows
        assert followed is not None and rows is not None
        if followed.key in look.removed:
            return
        count = next((summary.event_count for summary in look.changed if summary.key == followed.key), None)
        if count is None:
            known = self._known.get(followed.key)
            count = known.event_count or 0 if known else 0
        rowid = self._rowid_of_last(connection)
        if rowid is None:
            look.reread = True
            return
        if self._decode is None:
            self._decode = rows.reader(connection)
        found = rows.added(connection, followed.key, rowid, _MOST_AT_ONCE)
        has_more = len(found) == _MOST_AT_ONCE and followed.count + len(found) < count
        if (followed.count + len(found) != count and not has_more) or any(row[0] in followed.ids for row in found):
            look.reread = True
        else:
            look.rows, look.has_more = found, has_more

    def _rowid_of_last(self, connection: sqlite3.Connection) -> int | None:
        """Return the row number of the followed session's last known event, or None if it was deleted."""
        followed = self._followed
        assert followed is not None
        if followed.last_id is None:
            return _BEFORE_ALL
        query = f"SELECT rowid FROM events WHERE {OF_SESSION} AND id = ?"
        row = connection.execute(query, (*followed.key, followed.last_id)).fetchone()
        if row is None and followed.count and self._has_own_ids:
            # The row's id may differ from the id of the event stored in it.
            query = f"SELECT rowid, event_data FROM events WHERE {OF_SESSION} ORDER BY rowid LIMIT 1 OFFSET ?"
            row = connection.execute(query, (*followed.key, followed.count - 1)).fetchone()
            if row is not None and followed.last_id not in str(row[1]):
                return None
        return int(row[0]) if row else None


def _count(connection: sqlite3.Connection, table: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def _session_at(connection: sqlite3.Connection, rowid: int) -> _Place:
    row = connection.execute("SELECT app_name, user_id, id FROM sessions WHERE rowid = ?", (rowid,)).fetchone()
    return _Place(rowid, row or ())


def _event_at(connection: sqlite3.Connection, rowid: int) -> _Place:
    row = connection.execute("SELECT id, app_name, user_id, session_id FROM events WHERE rowid = ?", (rowid,)).fetchone()
    return _Place(rowid, row or ())


def _sessions_behind(connection: sqlite3.Connection, rowid: int) -> list[_Place]:
    rows = connection.execute("SELECT rowid, app_name, user_id, id FROM sessions WHERE rowid > ? ORDER BY rowid", (rowid,))
    return [_Place(number, tuple(name)) for number, *name in rows]


def _events_behind(connection: sqlite3.Connection, rowid: int) -> tuple[dict[SessionKey, int], int]:
    """Return the number of each session's events after a row, and the last row's number."""
    # Without NOT INDEXED, SQLite would read the whole index of sessions for the groups.
    query = "SELECT app_name, user_id, session_id, count(*), max(rowid) FROM events NOT INDEXED WHERE rowid > ? GROUP BY 1, 2, 3"
    rows = connection.execute(query, (rowid,)).fetchall()
    counts: Counter[SessionKey] = Counter()
    for *name, count, _ in rows:
        counts[SessionKey(*map(as_name, name))] += count  # two stored names may be read as one
    return counts, max((last for *_, last in rows), default=rowid)


def _last(connection: sqlite3.Connection, table: str) -> _Place:
    (rowid,) = connection.execute(f"SELECT max(rowid) FROM {table}").fetchone()
    if rowid is None:
        return _START
    return _session_at(connection, rowid) if table == "sessions" else _event_at(connection, rowid)


def _update_time(connection: sqlite3.Connection, key: SessionKey) -> float | None:
    """Return the time of a session's last change, or None if the session does not exist (its events may remain)."""
    row = connection.execute("SELECT update_time FROM sessions WHERE app_name = ? AND user_id = ? AND id = ?", key).fetchone()
    return epoch(row[0]) if row else None
