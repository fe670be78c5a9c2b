"""A session's history, read from its database: its own events, and what others wrote to the state that it shares."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runtime.history.explanation import explain
from runtime.history.state_at import History
from runtime.history.state_checkpoints import SharedWrite
from runtime.history.steps import UNKNOWN_DELTA
from runtime.sessions.lineage import Lineage, read_origin
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import SCOPES, Scope, scope_of
from runtime.sessions.temp_trace import read_trace
from runtime.storage.layouts.column_values import as_name, load_json_object, micros_of, to_epoch
from runtime.storage.layouts.commit_record import delta_of
from runtime.storage.layouts.table_names import COMMITS, MAY_BE_SHARED, OF_SESSION
from runtime.storage.reading.event_pages import EventPages
from runtime.storage.reading.event_rows import EventRows, ReadingConnection

if TYPE_CHECKING:
    from runtime.events.event import Event

_CREATED = "SELECT create_time FROM sessions WHERE app_name = ? AND user_id = ? AND id = ?"


def read_history(
    connection: ReadingConnection, rows: EventRows, key: SessionKey, events: Sequence[Event], present: Mapping[str, Any], *, ours: bool
) -> History:
    """Return a session's history.

    Args:
        connection: a connection in a transaction.
        rows: the reader of the database's events.
        key: the session.
        events: all its events.
        present: its current merged state.
        ours: whether the database has our record of commits.
    """
    past = _PastOfEvents(connection, key, events, rows)
    past.read(ours=ours)
    if past.baseline is not None:
        return History(events, baseline=past.baseline, shared=past.shared, present=present, temp=past.temp)
    if not events:
        return _not_begun(past.shared, present)
    merge_patched_keys, unexplained_keys = explain(_writes(events, past.shared), present)
    return History(
        events,
        baseline=None,
        shared=past.shared,
        present=present,
        temp=past.temp,
        fixed_from=past.fixed_from(rows.time_order),
        merge_patched_keys=merge_patched_keys,
        unexplained_keys=unexplained_keys,
    )


def read_long_history(
    connection: sqlite3.Connection, key: SessionKey, pages: EventPages, present: Mapping[str, Any], *, ours: bool, time_order: str = "{}"
) -> History:
    """Return a session's history without its steps, which `History.read_on` reads; see `read_history`; `time_order`: `EventFormat`."""
    past = _PastOfPages(connection, key, pages)
    past.read(ours=ours)
    return History(
        (),
        baseline=past.baseline,
        shared=past.shared,
        present=present if past.baseline is None else None,
        temp=past.temp,
        temp_places=past.temp_places,
        fixed_from=past.fixed_from(time_order) if past.baseline is None else None,
        steps=pages,
    )


def _not_begun(shared: Sequence[SharedWrite], present: Mapping[str, Any]) -> History:
    """Return the history of a session without events: its first event will find the present value of each key, own or shared."""
    found: dict[Scope, dict[str, Any]] = {scope: {} for scope in SCOPES}
    for key, value in present.items():
        found[scope_of(key)][key] = value
    now = [SharedWrite(0, found[scope], scope) for scope in ("user", "app")]
    return History((), baseline=found["session"], shared=[*shared, *now])


def read_first_state(connection: ReadingConnection, key: SessionKey) -> dict[str, Any] | None:
    """Return a session's own first state in a database of ours; None if it was not recorded."""
    row = connection.execute(
        f"SELECT s.create_time, c.at, c.baseline FROM sessions AS s JOIN {COMMITS} AS c ON c.app_name = s.app_name"
        " AND c.user_id = s.user_id AND c.session_id = s.id AND c.event_id IS NULL"
        " WHERE s.app_name = ? AND s.user_id = ? AND s.id = ? ORDER BY c.seq DESC LIMIT 1",
        key,
    ).fetchone()
    return load_json_object(row[2]) if row and row[2] and row[1] == micros_of(row[0]) else None


def read_lineages(connection: ReadingConnection) -> dict[SessionKey, Lineage]:
    """Return the origin of each fork in a database of ours."""
    rows = connection.execute(
        f"SELECT s.app_name, s.user_id, s.id, s.create_time, c.at, c.temp FROM sessions AS s JOIN {COMMITS} AS c ON c.app_name = s.app_name"
        " AND c.user_id = s.user_id AND c.session_id = s.id AND c.event_id IS NULL AND c.temp IS NOT NULL ORDER BY c.seq"
    )
    found = {}
    for *key, created, at, temp in rows:
        origin = read_origin(temp)
        lineage = origin and origin[0]
        if lineage is not None and at == micros_of(created):
            found[SessionKey(*map(as_name, key))] = lineage
    return found


class _Past(ABC):
    """What others wrote to the state that a session shares, placed between its events.

    Attributes:
        baseline: the session's own first state; None if it is not recorded.
        shared: the writes of others, in commit order.
        temp: `temp:` deltas by event id.
    """

    def __init__(self, connection: ReadingConnection, key: SessionKey) -> None:
        self._connection = connection
        self._key = key
        self.baseline: dict[str, Any] | None = None
        self.shared: list[SharedWrite] = []
        self.temp: dict[str, dict[str, Any]] = {}

    def read(self, *, ours: bool) -> None:
        """Read our record of commits, if the database has one, then the events that are not in it."""
        if ours:
            self._read_record()
        self._read_events(unrecorded=ours)

    def _read_record(self) -> None:
        key = self._key
        (created,) = self._connection.execute(_CREATED, key).fetchone()
        # An older record belongs to a deleted session of the same name.
        begin = self._connection.execute(
            f"SELECT max(seq) FROM {COMMITS} WHERE {OF_SESSION} AND event_id IS NULL AND at = ?", (*key, micros_of(created))
        ).fetchone()[0]
        begin = -1 if begin is None else begin
        own = self._recorded_events(begin)
        rows = self._connection.execute(
            f"SELECT seq, user_id, session_id, event_id, baseline, shared, temp FROM {COMMITS} WHERE app_name = ?"
            " AND (seq = ? OR (shared IS NOT NULL AND NOT (user_id = ? AND session_id = ?))) ORDER BY seq",
            (key.app_name, begin, key.user_id, key.session_id),
        )
        for number, user_id, session_id, event_id, baseline, shared, temp in rows:
            delta = load_json_object(shared) if shared else {}
            before = bisect_left(own, number)
            place = self._place_after(before) if before else 0 if -1 < begin < number else -1
            if number == begin:
                self.baseline = load_json_object(baseline) if baseline else None
                origin = read_origin(temp)
                if origin is not None:
                    self.shared = [SharedWrite(*write) for write in origin[1]]
                    continue
            if session_id == "" and event_id is None:
                if user_id in ("", key.user_id):
                    self._write(place, user_id, delta, complete="user" if user_id else "app")
            else:
                self._write(place, user_id, delta)
        self._read_temp()

    @abstractmethod
    def _recorded_events(self, begin: int) -> Sequence[int]:
        """Return the sorted numbers, after `begin`, of our records of the session's events."""

    @abstractmethod
    def _place_after(self, count: int) -> int:
        """Return the index of the event after the first `count` recorded ones; at least one."""

    @abstractmethod
    def _read_temp(self) -> None:
        """Read the recorded `temp:` deltas."""

    @abstractmethod
    def _read_events(self, *, unrecorded: bool) -> None:
        """Read the writes of other sessions' events; with `unrecorded`, only those after our last record."""

    @abstractmethod
    def _first_after(self, moment: float) -> int:
        """Return the index of the first event after a time."""

    def fixed_from(self, time_order: str) -> dict[Scope, int]:
        """Return, by scope, the first event after the newest other session was created: its first state may have set any shared key."""
        others: dict[Scope, str] = {
            "app": "app_name = ? AND NOT (user_id = ? AND id = ?)",
            "user": "app_name = ? AND user_id = ? AND NOT id = ?",
        }
        newest = f"ORDER BY {time_order.format('create_time')} DESC, create_time DESC LIMIT 1"
        found: dict[Scope, int] = {}
        for scope, condition in others.items():
            row = self._connection.execute(f"SELECT create_time FROM sessions WHERE {condition} {newest}", self._key).fetchone()
            found[scope] = -1 if row is None or row[0] is None else self._first_after(to_epoch(micros_of(row[0])))
        return found

    def _write(self, place: int, user_id: str, delta: Mapping[str, Any], complete: Scope | None = None) -> None:
        scopes: tuple[Scope, ...] = ("app", "user") if user_id == self._key.user_id else ("app",)
        if delta is UNKNOWN_DELTA:
            self.shared.append(SharedWrite(place, delta, forgotten=scopes))
        visible = {key: value for key, value in delta.items() if scope_of(key) in scopes}
        if visible or complete:
            self.shared.append(SharedWrite(place, visible, complete))


class _PastOfEvents(_Past):
    """The past of a session whose events are in memory, in any database."""

    def __init__(self, connection: ReadingConnection, key: SessionKey, events: Sequence[Event], rows: EventRows) -> None:
        super().__init__(connection, key)
        self._events = events
        self._rows = rows
        self._index_of = {event.id: index for index, event in enumerate(events)}
        self._recorded: list[int] = []  # indexes of the recorded events

    def _recorded_events(self, begin: int) -> Sequence[int]:
        query = f"SELECT seq, event_id FROM {COMMITS} WHERE {OF_SESSION} AND event_id IS NOT NULL AND seq > ? ORDER BY seq"
        own = [(seq, name) for seq, name in self._connection.execute(query, (*self._key, begin)) if name in self._index_of]
        self._recorded = [self._index_of[name] for _, name in own]
        return [seq for seq, _ in own]

    def _place_after(self, count: int) -> int:
        return self._recorded[count - 1] + 1

    def _read_temp(self) -> None:
        query = f"SELECT event_id, temp FROM {COMMITS} WHERE {OF_SESSION} AND event_id IS NOT NULL AND temp IS NOT NULL ORDER BY seq"
        self.temp = {name: read_trace(temp) for name, temp in self._connection.execute(query, self._key) if name in self._index_of}

    def _read_events(self, *, unrecorded: bool) -> None:
        place = self._place_after(len(self._recorded)) if self._recorded else -1 if self.baseline is None else 0
        read = self._rows.unrecorded if unrecorded else self._rows.written
        for user_id, session_id, event_id, delta in read(self._connection, self._key):
            if user_id == self._key.user_id and session_id == self._key.session_id:
                place = self._index_of.get(event_id, place - 1) + 1
            else:
                self._write(place, user_id, delta)

    def _first_after(self, moment: float) -> int:
        return next((index for index, event in enumerate(self._events) if event.timestamp > moment), len(self._events))


class _PastOfPages(_Past):
    """The past of a session that is too long to be read at once; row numbers, not ids, give the places among its events.

    Attributes:
        temp_places: see `History`.
    """

    def __init__(self, connection: sqlite3.Connection, key: SessionKey, pages: EventPages) -> None:
        super().__init__(connection, key)
        self._file = connection
        self._pages = pages
        self.temp_places: dict[str, list[tuple[int, str]]] = {}

    def _recorded_events(self, begin: int) -> Sequence[int]:
        query = f"SELECT seq FROM {COMMITS} WHERE {OF_SESSION} AND event_id IS NOT NULL AND seq > ?"
        return array("q", sorted(number for (number,) in self._file.execute(query, (*self._key, begin))))

    def _place_after(self, count: int) -> int:
        return count  # events and their records are committed together, so both have the same order

    def _read_temp(self) -> None:
        rows = self._file.execute(
            "SELECT e.rowid, e.invocation_id, e.id, c.temp FROM "
            f"{COMMITS} AS c JOIN events AS e ON e.id = c.event_id AND e.app_name = c.app_name AND e.user_id = c.user_id"
            " AND e.session_id = c.session_id WHERE c.app_name = ? AND c.user_id = ? AND c.session_id = ? AND c.temp IS NOT NULL"
            " ORDER BY e.rowid",
            self._key,
        )
        for rowid, invocation_id, event_id, temp in rows:
            self.temp[event_id] = read_trace(temp)
            self.temp_places.setdefault(invocation_id, []).append((self._pages.place_of(rowid), event_id))

    def _read_events(self, *, unrecorded: bool) -> None:
        rows = self._file.execute(
            "SELECT rowid, user_id, event_data FROM events WHERE app_name = ? AND NOT (user_id = ? AND session_id = ?)"
            f" AND ({MAY_BE_SHARED.format('event_data')}) AND rowid > ? ORDER BY rowid",
            (*self._key, self._last_recorded() if unrecorded else -1),
        )
        for rowid, user_id, data in rows:
            place = self._pages.place_of(rowid)
            self._write(place if place or self.baseline is not None else -1, user_id, delta_of(data))

    def _last_recorded(self) -> int:
        row = self._file.execute(
            f"SELECT e.rowid FROM events AS e WHERE EXISTS (SELECT 1 FROM {COMMITS} AS c WHERE c.app_name = e.app_name"
            " AND c.user_id = e.user_id AND c.session_id = e.session_id AND c.event_id = e.id) ORDER BY e.rowid DESC LIMIT 1"
        ).fetchone()
        return int(row[0]) if row else -1

    def _first_after(self, moment: float) -> int:
        def time_of(place: int) -> float:
            return self._pages.read_plain(self._pages.row(self._file, place)).timestamp

        return bisect_right(range(len(self._pages)), moment, key=time_of)


def _writes(events: Sequence[Event], shared: Sequence[SharedWrite]) -> dict[str, list[Any]]:
    by_index: dict[int, list[Mapping[str, Any]]] = {}
    for write in shared:
        by_index.setdefault(write.before, []).append(write.delta)
    writes: dict[str, list[Any]] = {}
    for index in range(-1, len(events) + 1):
        deltas = by_index.get(index, [])
        if 0 <= index < len(events):
            deltas = [*deltas, events[index].actions.state_delta]
        for delta in deltas:
            for key, value in delta.items():
                writes.setdefault(key, []).append(value)
    return writes
