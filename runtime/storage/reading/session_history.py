"""A session's history, read from its database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runtime.history.explanation import explain
from runtime.history.state_at import History
from runtime.history.state_checkpoints import SharedWrite
from runtime.history.steps import UNKNOWN_DELTA
from runtime.sessions.lineage import Lineage, read_origin
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import SCOPES, Scope, scope_of
from runtime.sessions.temp_trace import read_trace
from runtime.storage.layouts.column_values import as_name, load_json_object, read_time, to_epoch
from runtime.storage.layouts.table_names import COMMITS
from runtime.storage.reading.event_rows import EventRows, ReadingConnection, Written

if TYPE_CHECKING:
    from runtime.events.event import Event


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
    walk = _Walk(key, events)
    if ours:
        created = connection.execute("SELECT create_time FROM sessions WHERE app_name = ? AND user_id = ? AND id = ?", key)
        walk.recorded(connection, _micros(created.fetchone()[0]))
        walk.events_of_app(rows.unrecorded(connection, key))
    else:
        walk.events_of_app(rows.written(connection, key))
    if walk.baseline is not None:
        return History(events, baseline=walk.baseline, shared=walk.shared, present=present, temp=walk.temp)
    if not events:
        return _not_begun(walk.shared, present)
    merge_patched_keys, unexplained_keys = explain(_writes(events, walk.shared), present)
    return History(
        events,
        baseline=None,
        shared=walk.shared,
        present=present,
        temp=walk.temp,
        fixed_from=_fixed_from(connection, rows, key, events),
        merge_patched_keys=merge_patched_keys,
        unexplained_keys=unexplained_keys,
    )


def _not_begun(shared: Sequence[SharedWrite], present: Mapping[str, Any]) -> History:
    """Return the history of a session without events: its first event will find the present value of each key, own or shared."""
    found: dict[Scope, dict[str, Any]] = {scope: {} for scope in SCOPES}
    for key, value in present.items():
        found[scope_of(key)][key] = value
    now = [SharedWrite(0, found[scope], scope) for scope in ("user", "app")]
    return History((), baseline=found["session"], shared=[*shared, *now])


def read_first_state(connection: ReadingConnection, key: SessionKey) -> dict[str, Any] | None:
    """Return a session's own first state in a database of ours; None if it was not recorded.

    Args:
        connection: a connection in a transaction.
        key: the session.
    """
    row = connection.execute(
        f"SELECT s.create_time, c.at, c.baseline FROM sessions AS s JOIN {COMMITS} AS c ON c.app_name = s.app_name"
        " AND c.user_id = s.user_id AND c.session_id = s.id AND c.event_id IS NULL"
        " WHERE s.app_name = ? AND s.user_id = ? AND s.id = ? ORDER BY c.seq DESC LIMIT 1",
        key,
    ).fetchone()
    return load_json_object(row[2]) if row and row[2] and row[1] == _micros(row[0]) else None


def read_lineages(connection: ReadingConnection) -> dict[SessionKey, Lineage]:
    """Return the origin of each fork in a database of ours.

    Args:
        connection: a connection in a transaction.
    """
    rows = connection.execute(
        f"SELECT s.app_name, s.user_id, s.id, s.create_time, c.at, c.temp FROM sessions AS s JOIN {COMMITS} AS c ON c.app_name = s.app_name"
        " AND c.user_id = s.user_id AND c.session_id = s.id AND c.event_id IS NULL AND c.temp IS NOT NULL ORDER BY c.seq"
    )
    found = {}
    for *key, created, at, temp in rows:
        origin = read_origin(temp)
        lineage = origin and origin[0]
        if lineage is not None and at == _micros(created):
            found[SessionKey(*map(as_name, key))] = lineage
    return found


class _Walk:
    """A walk through an app's commits in order that collects, between the session's own events, the writes to state that it shares."""

    def __init__(self, key: SessionKey, events: Sequence[Event]) -> None:
        self.baseline: dict[str, Any] | None = None
        self.shared: list[SharedWrite] = []
        self.temp: dict[str, dict[str, Any]] = {}
        self._key = key
        self._index_of = {event.id: index for index, event in enumerate(events)}
        self._next = -1

    def recorded(self, connection: ReadingConnection, created: int) -> None:
        """Process our record of commits.

        Args:
            connection: a connection in a transaction.
            created: the session's creation time in microseconds. An older record belongs to a deleted session of the same name.
        """
        key = self._key
        rows = connection.execute(
            f"SELECT user_id, session_id, event_id, at, baseline, shared, temp FROM {COMMITS}"
            " WHERE app_name = ? AND (shared IS NOT NULL OR (user_id = ? AND session_id = ?)) ORDER BY seq",
            key,
        )
        for user_id, session_id, event_id, at, baseline, shared, temp in rows:
            delta = load_json_object(shared) if shared else {}
            own = user_id == key.user_id and session_id == key.session_id
            if own and event_id is None and at == created:
                origin = read_origin(temp)
                if origin is None:
                    self._write(user_id, delta)
                else:
                    self.shared = [SharedWrite(*write) for write in origin[1]]
                self.baseline = load_json_object(baseline) if baseline else None
                self._next = 0
            elif own and event_id in self._index_of:
                self._own(event_id)
                if temp:
                    self.temp[event_id] = read_trace(temp)
            elif session_id == "" and event_id is None:
                if user_id in ("", key.user_id):
                    self._write(user_id, delta, complete="user" if user_id else "app")
            else:
                self._write(user_id, delta)

    def events_of_app(self, events: Iterable[Written]) -> None:
        """Process events that are not in our record."""
        for user_id, session_id, event_id, delta in events:
            if user_id == self._key.user_id and session_id == self._key.session_id:
                self._own(event_id)
            else:
                self._write(user_id, delta)

    def _own(self, event_id: str) -> None:
        self._next = self._index_of.get(event_id, self._next - 1) + 1

    def _write(self, user_id: str, delta: Mapping[str, Any], complete: Scope | None = None) -> None:
        scopes: tuple[Scope, ...] = ("app", "user") if user_id == self._key.user_id else ("app",)
        if delta is UNKNOWN_DELTA:
            self.shared.append(SharedWrite(self._next, delta, forgotten=scopes))
        visible = {key: value for key, value in delta.items() if scope_of(key) in scopes}
        if visible or complete:
            self.shared.append(SharedWrite(self._next, visible, complete))


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


def _fixed_from(connection: ReadingConnection, rows: EventRows, key: SessionKey, events: Sequence[Event]) -> dict[Scope, int]:
    """Return, by scope, the first event after the newest other session was created: its first state may have set any shared key."""
    others: dict[Scope, str] = {
        "app": "app_name = ? AND NOT (user_id = ? AND id = ?)",
        "user": "app_name = ? AND user_id = ? AND NOT id = ?",
    }
    newest = f"ORDER BY {rows.time_order.format('create_time')} DESC, create_time DESC LIMIT 1"
    found: dict[Scope, int] = {}
    for scope, condition in others.items():
        row = connection.execute(f"SELECT create_time FROM sessions WHERE {condition} {newest}", key).fetchone()
        found[scope] = _first_after(row[0] if row else None, events)
    return found


def _first_after(time: Any, events: Sequence[Event]) -> int:
    if time is None:
        return -1
    moment = to_epoch(_micros(time))
    return next((index for index, event in enumerate(events) if event.timestamp > moment), len(events))


def _micros(value: Any) -> int:
    try:
        return read_time(value)
    except ValueError:
        return 0
