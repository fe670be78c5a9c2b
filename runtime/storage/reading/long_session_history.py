"""The history of a session that is too long to be read at once."""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Mapping
from typing import Any

from runtime.history.state_at import History
from runtime.history.state_checkpoints import SharedWrite
from runtime.history.steps import UNKNOWN_DELTA
from runtime.sessions.lineage import read_origin
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import Scope, scope_of
from runtime.sessions.temp_trace import read_trace
from runtime.storage.layouts.column_values import load_json_object, read_time, to_epoch
from runtime.storage.layouts.commit_record import delta_of
from runtime.storage.layouts.table_names import COMMITS, OF_SESSION
from runtime.storage.reading.event_pages import EventPages


def read_long_history(
    connection: sqlite3.Connection, key: SessionKey, pages: EventPages, present: Mapping[str, Any], *, ours: bool, time_order: str = "{}"
) -> History:
    """Return a session's history without its steps, which `History.read_on` reads.

    Args:
        connection: a connection in a transaction.
        key: the session.
        pages: its events.
        present: its current merged state.
        ours: whether the database has our record of commits.
        time_order: see `EventFormat`.
    """
    past = _LongHistory(connection, key, pages)
    if ours:
        past.recorded()
    past.others(unrecorded=ours)
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


class _LongHistory:
    """A reader of other sessions' writes and of our record; row numbers, not ids, give their position among the session's events."""

    def __init__(self, connection: sqlite3.Connection, key: SessionKey, pages: EventPages) -> None:
        self._connection = connection
        self._key = key
        self._parts = (key.app_name, key.user_id, key.session_id)
        self._pages = pages
        self.baseline: dict[str, Any] | None = None
        self.shared: list[SharedWrite] = []
        self.temp: dict[str, dict[str, Any]] = {}
        self.temp_places: dict[str, list[tuple[int, str]]] = {}

    def recorded(self) -> None:
        """Read our record of commits."""
        connection, key = self._connection, self._key
        (created,) = connection.execute(
            "SELECT create_time FROM sessions WHERE app_name = ? AND user_id = ? AND id = ?", self._parts
        ).fetchone()
        # An older record belongs to a deleted session of the same name.
        begin = connection.execute(
            f"SELECT max(seq) FROM {COMMITS} WHERE {OF_SESSION} AND event_id IS NULL AND at = ?", (*self._parts, _micros(created))
        ).fetchone()[0]
        own = connection.execute(
            f"SELECT seq FROM {COMMITS} WHERE {OF_SESSION} AND event_id IS NOT NULL AND seq > ?", (*self._parts, begin or -1)
        )
        # Events and their records are committed together, so both have the same order.
        numbers = array("q", sorted(number for (number,) in own))
        rows = connection.execute(
            f"SELECT seq, user_id, session_id, event_id, baseline, shared, temp FROM {COMMITS} WHERE app_name = ?"
            " AND (seq = ? OR (shared IS NOT NULL AND NOT (user_id = ? AND session_id = ?))) ORDER BY seq",
            (key.app_name, begin, *self._parts[1:]),
        )
        for number, user_id, session_id, event_id, baseline, shared, temp in rows:
            delta = load_json_object(shared) if shared else {}
            place = -1 if begin is None or number <= begin else bisect_left(numbers, number)
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
        self._temporary()

    def _temporary(self) -> None:
        rows = self._connection.execute(
            "SELECT e.rowid, e.invocation_id, e.id, c.temp FROM "
            f"{COMMITS} AS c JOIN events AS e ON e.id = c.event_id AND e.app_name = c.app_name AND e.user_id = c.user_id"
            " AND e.session_id = c.session_id WHERE c.app_name = ? AND c.user_id = ? AND c.session_id = ? AND c.temp IS NOT NULL"
            " ORDER BY e.rowid",
            self._parts,
        )
        for rowid, invocation_id, event_id, temp in rows:
            self.temp[event_id] = read_trace(temp)
            self.temp_places.setdefault(invocation_id, []).append((self._pages.place_of(rowid), event_id))

    def others(self, *, unrecorded: bool) -> None:
        """Read the writes of other sessions' events; with `unrecorded`, only those after our last record."""
        rows = self._connection.execute(
            "SELECT rowid, user_id, event_data FROM events WHERE app_name = ? AND NOT (user_id = ? AND session_id = ?)"
            " AND (event_data LIKE '%\"user:%' OR event_data LIKE '%\"app:%') AND rowid > ? ORDER BY rowid",
            (*self._parts, self._last_recorded() if unrecorded else -1),
        )
        for rowid, user_id, data in rows:
            place = self._pages.place_of(rowid)
            self._write(place if place or self.baseline is not None else -1, user_id, delta_of(data))

    def _last_recorded(self) -> int:
        rows = self._connection.execute(
            f"SELECT e.rowid FROM events AS e WHERE EXISTS (SELECT 1 FROM {COMMITS} AS c WHERE c.app_name = e.app_name"
            " AND c.user_id = e.user_id AND c.session_id = e.session_id AND c.event_id = e.id) ORDER BY e.rowid DESC LIMIT 1"
        ).fetchone()
        return int(rows[0]) if rows else -1

    def fixed_from(self, time_order: str) -> dict[Scope, int]:
        """Return, by scope, the first event after the newest other session was created: its first state may have set any shared key."""
        order = f"ORDER BY {time_order.format('create_time')} DESC, create_time DESC LIMIT 1"
        others = "SELECT create_time FROM sessions WHERE app_name = :app AND NOT (user_id = :user AND id = :session)"
        names = dict(zip(("app", "user", "session"), self._parts, strict=True))
        of_app = self._connection.execute(f"{others} {order}", names).fetchone()
        of_user = self._connection.execute(f"{others} AND user_id = :user {order}", names).fetchone()
        return {"app": self._first_after(of_app and of_app[0]), "user": self._first_after(of_user and of_user[0])}

    def _first_after(self, time: Any) -> int:
        if time is None:
            return -1
        moment = to_epoch(_micros(time))
        low, high = 0, len(self._pages)
        while low < high:
            middle = (low + high) // 2
            if self._pages.read_plain(self._pages.row(self._connection, middle)).timestamp > moment:
                high = middle
            else:
                low = middle + 1
        return low

    def _write(self, place: int, user_id: str, delta: Mapping[str, Any], complete: Scope | None = None) -> None:
        scopes: tuple[Scope, ...] = ("app", "user") if user_id == self._key.user_id else ("app",)
        if delta is UNKNOWN_DELTA:
            self.shared.append(SharedWrite(place, delta, forgotten=scopes))
        visible = {key: value for key, value in delta.items() if scope_of(key) in scopes}
        if visible or complete:
            self.shared.append(SharedWrite(place, visible, complete))


def _micros(value: Any) -> int:
    try:
        return read_time(value)
    except ValueError:
        return 0
