"""Sessions in memory."""

from __future__ import annotations

import threading
import time
from bisect import bisect, bisect_left, insort
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, TypeVar

from runtime.errors.already_exists_error import AlreadyExistsError
from runtime.errors.not_found_error import SessionNotFoundError
from runtime.errors.storage_error import StaleSessionError
from runtime.events.event import Event
from runtime.sessions.base_session_service import BaseSessionService, GetSessionConfig, ListSessionsResponse, check_state
from runtime.sessions.event_list import EventList, StoredRow
from runtime.sessions.lineage import Lineage, PastWrite, SessionCopy
from runtime.sessions.note import Note
from runtime.sessions.recorded_end import RecordedEnd
from runtime.sessions.session import RunEvents, Session, SessionKey
from runtime.sessions.state import Scope, independent, merge_scopes, scope_of, split_delta
from runtime.support.gc_freeze import collection_paused
from runtime.support.ids import new_uuid
from runtime.support.structural_copy import structural_copy

T = TypeVar("T")

_SHARED: tuple[Scope, ...] = ("user", "app")


@dataclass(slots=True)
class _Stored:
    """A stored session, with its own scope of the state only.

    Attributes:
        latest: for each event, the latest timestamp up to it; never decreases, so that it can be searched by bisection.
        copy: the content that a fork was created from.
    """

    state: dict[str, Any]
    last_update_time: float
    baseline: dict[str, Any] | None
    created: int
    create_time: float
    events: list[Event] = field(default_factory=list)
    event_ids: set[str] = field(default_factory=set)
    temp_deltas: dict[str, dict[str, Any]] = field(default_factory=dict)
    run: RunEvents | None = None
    latest: list[float] = field(default_factory=list)
    commits: list[int] = field(default_factory=list)
    copy: SessionCopy | None = None
    ends: dict[str, RecordedEnd] = field(default_factory=dict)
    notes: dict[str, Note] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SessionPast:
    """A copy of a session's whole history.

    Attributes:
        session: the session.
        baseline: the session's own initial state; None only for a fork whose parent's was not recorded.
        shared: writes to `user:` and `app:` (keys with prefix) by the creation of sessions and by other sessions' events, in commit
            order, each with the index of the session's event that it precedes; -1 for its creation or earlier.
        temp: `temp:` deltas by event id.
    """

    session: Session
    baseline: dict[str, Any] | None
    shared: list[PastWrite]
    temp: dict[str, dict[str, Any]]


class InMemorySessionService(BaseSessionService):
    """Stores sessions in memory, for tests, samples and short runs. Thread-safe, also across event loops."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: dict[SessionKey, _Stored] = {}
        self._in_order: list[SessionKey] = []
        self._app_states: dict[str, dict[str, Any]] = {}
        self._user_states: dict[tuple[str, str], dict[str, Any]] = {}
        self._commits = 0
        self._shared: list[tuple[int, SessionKey, dict[str, Any]]] = []

    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """See `BaseSessionService.create_session`."""
        key = SessionKey(app_name, user_id, (session_id or "").strip() or new_uuid())
        parts = split_delta(check_state(state or {}))
        with self._lock:
            if key in self._sessions:
                raise AlreadyExistsError(f"Session with id {key.session_id} already exists.")
            number = self._share(key, parts["app"], parts["user"])
            now = time.time()
            stored = _Stored(parts["session"], now, independent(parts["session"]), number, now)
            self._keep(key, stored)
            return self._copy(key, stored, [])

    async def store_copy(self, key: SessionKey, copy: SessionCopy) -> None:
        """See `BaseSessionService.store_copy`."""
        events = [structural_copy(event) for event in copy.events]
        shared = split_delta({**copy.user, **copy.app})
        with self._lock:
            if key in self._sessions:
                raise AlreadyExistsError(f"Session with id {key.session_id} already exists.")
            there = {"app": self._app_states.get(key.app_name, {}), "user": self._user_states.get((key.app_name, key.user_id), {})}
            app, user = ({k: v for k, v in shared[scope].items() if k not in there[scope]} for scope in ("app", "user"))
            number = self._share(key, app, user)
            last = events[-1].timestamp if events else copy.created
            baseline = None if copy.baseline is None else independent(copy.baseline)
            stored = _Stored(independent(copy.state), last, baseline, number, copy.created, events, {event.id for event in events})
            stored.temp_deltas = {event_id: dict(delta) for event_id, delta in copy.temp.items()}
            stored.notes = {event_id: note for event_id, note in copy.notes.items() if not note.is_empty}
            stored.latest = list(accumulate((event.timestamp for event in events), max))
            stored.commits = [number] * len(events)
            now = self._visible_now(key)
            after = [PastWrite(len(events), {k: v for k, v in now.items() if scope_of(k) == scope}, scope) for scope in _SHARED]
            stored.copy = replace(copy, events=(), shared=[*copy.shared, *after])
            self._keep(key, stored)

    def _keep(self, key: SessionKey, stored: _Stored) -> None:
        self._sessions[key] = stored
        insort(self._in_order, key)

    def _visible_now(self, key: SessionKey) -> dict[str, Any]:
        user, app = self._user_states.get((key.app_name, key.user_id), {}), self._app_states.get(key.app_name, {})
        return independent(merge_scopes({}, user, app))

    def created(self, key: SessionKey) -> float:
        """Return the time of a session's creation, epoch seconds.

        Raises:
            SessionNotFoundError: the session does not exist.
        """
        with self._lock:
            return self._existing(key).create_time

    def lineages(self) -> dict[SessionKey, Lineage]:
        """Return the lineage of each fork."""
        with self._lock:
            copies = {key: stored.copy for key, stored in self._sessions.items() if stored.copy}
            return {key: copy.lineage for key, copy in copies.items() if copy.lineage}

    async def get_session(self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None) -> Session | None:
        """See `BaseSessionService.get_session`."""
        key = SessionKey(app_name, user_id, session_id)
        with self._lock:
            stored = self._sessions.get(key)
            return self._copy(key, stored, _choose(stored, config)) if stored else None

    async def session_for_run(self, *, app_name: str, user_id: str, session_id: str) -> Session | None:
        """See `BaseSessionService.session_for_run`; the events are the stored ones."""
        key = SessionKey(app_name, user_id, session_id)
        with self._lock:
            stored = self._sessions.get(key)
            if stored is None:
                return None
            session = self._copy(key, stored, [])
            session.events = _events_for_run(stored)
            session.events.is_of_run = True
            stored.run = RunEvents(session)
            return session

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None, limit: int | None = None, after: SessionKey | None = None
    ) -> ListSessionsResponse:
        """See `BaseSessionService.list_sessions`."""
        with self._lock, collection_paused():
            if after is None:
                first = bisect_left(self._in_order, (app_name, user_id or ""))
            else:
                first = bisect(self._in_order, (app_name, user_id or after.user_id, after.session_id))
            keys = self._in_order[first : None if limit is None else first + limit]
            sessions = [
                self._copy(key, self._sessions[key], []) for key in keys if key.app_name == app_name and user_id in (None, key.user_id)
            ]
        return ListSessionsResponse.model_construct(sessions=sessions)

    def create_session_sync(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """Create a session from synchronous code; see `create_session`. This and the other three are deprecated in google-adk."""
        return _at_once(self.create_session(app_name=app_name, user_id=user_id, state=state, session_id=session_id))

    def get_session_sync(self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None) -> Session | None:
        """Return a session to synchronous code; see `get_session`."""
        return _at_once(self.get_session(app_name=app_name, user_id=user_id, session_id=session_id, config=config))

    def list_sessions_sync(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """Return sessions to synchronous code; see `list_sessions`."""
        return _at_once(self.list_sessions(app_name=app_name, user_id=user_id))

    def delete_session_sync(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete a session from synchronous code; see `delete_session`."""
        _at_once(self.delete_session(app_name=app_name, user_id=user_id, session_id=session_id))

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """See `BaseSessionService.get_user_state`."""
        with self._lock:
            return independent(self._user_states.get((app_name, user_id), {}))

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """See `BaseSessionService.delete_session`."""
        with self._lock:
            key = SessionKey(app_name, user_id, session_id)
            if self._sessions.pop(key, None) is not None:
                del self._in_order[bisect_left(self._in_order, key)]

    async def _commit(self, session: Session, event: Event, temp: dict[str, Any]) -> None:
        key = session.key
        parts = split_delta(event.actions.state_delta)
        event_id, timestamp = event.id, event.timestamp
        with self._lock:
            stored = self._sessions.get(key)
            if stored is None:
                raise SessionNotFoundError(f"Session not found: {session.id}")
            if event_id in stored.event_ids:
                raise StaleSessionError(f"Event {event_id} is already part of session {session.id}.")
            if _is_behind(session, stored):
                raise StaleSessionError(f"Session {session.id} was modified since this run loaded it. Reload it and append again.")
            stored.commits.append(self._share(key, parts["app"], parts["user"]))
            stored.state.update(parts["session"])
            stored.events.append(event)
            stored.event_ids.add(event_id)
            if temp:
                stored.temp_deltas[event_id] = temp
            stored.last_update_time = timestamp
            stored.latest.append(max(timestamp, stored.latest[-1]) if stored.latest else timestamp)

    async def temp_deltas(self, key: SessionKey) -> dict[str, dict[str, Any]]:
        """See `BaseSessionService.temp_deltas`."""
        with self._lock:
            stored = self._sessions.get(key)
            return dict(stored.temp_deltas) if stored else {}

    async def record_end(self, key: SessionKey, invocation_id: str, end: RecordedEnd) -> None:
        """See `BaseSessionService.record_end`."""
        with self._lock:
            if key in self._sessions:
                self._sessions[key].ends[invocation_id] = end

    async def recorded_ends(self, key: SessionKey) -> dict[str, RecordedEnd]:
        """See `BaseSessionService.recorded_ends`."""
        with self._lock:
            stored = self._sessions.get(key)
            return dict(stored.ends) if stored else {}

    async def set_note(self, key: SessionKey, event_id: str, note: Note) -> None:
        """See `BaseSessionService.set_note`."""
        with self._lock:
            notes = self._existing(key).notes
            notes.pop(event_id, None)
            if not note.is_empty:
                notes[event_id] = note

    async def notes(self, key: SessionKey) -> dict[str, Note]:
        """See `BaseSessionService.notes`."""
        with self._lock:
            stored = self._sessions.get(key)
            return dict(stored.notes) if stored else {}

    async def first_state(self, key: SessionKey) -> dict[str, Any] | None:
        """See `BaseSessionService.first_state`."""
        with self._lock:
            stored = self._sessions.get(key)
            return independent(stored.baseline) if stored and stored.baseline is not None else None

    def past(self, key: SessionKey) -> SessionPast:
        """Return a session's history, for the debugger.

        Raises:
            SessionNotFoundError: the session does not exist.
        """
        with self._lock:
            stored = self._existing(key)
            own = set(stored.commits)
            # All shared state was empty when the service was created; a fork brings the past of its parent.
            nothing = [PastWrite(-1, {}, scope) for scope in _SHARED]
            shared = list(stored.copy.shared) if stored.copy else nothing
            shared += [
                PastWrite(-1 if number <= stored.created else bisect(stored.commits, number), independent(visible))
                for number, writer, delta in self._shared
                if number not in own and (number > stored.created or not stored.copy) and (visible := _visible(key, writer, delta))
            ]
            # Values are not copied: `temp:` keys may hold any objects.
            temp = {event_id: dict(delta) for event_id, delta in stored.temp_deltas.items()}
            baseline = None if stored.baseline is None else independent(stored.baseline)
            return SessionPast(self._copy(key, stored, stored.events), baseline, shared, temp)

    def _existing(self, key: SessionKey) -> _Stored:
        stored = self._sessions.get(key)
        if stored is None:
            raise SessionNotFoundError(f"Session not found: {key.session_id}")
        return stored

    def _share(self, key: SessionKey, app: dict[str, Any], user: dict[str, Any]) -> int:
        """Write to the shared scopes and return the commit number."""
        self._commits += 1
        if app or user:
            self._shared.append((self._commits, key, merge_scopes({}, user, app)))
            self._app_states.setdefault(key.app_name, {}).update(app)
            self._user_states.setdefault((key.app_name, key.user_id), {}).update(user)
        return self._commits

    def _copy(self, key: SessionKey, stored: _Stored, events: list[Event]) -> Session:
        state = merge_scopes(stored.state, self._user_states.get((key.app_name, key.user_id), {}), self._app_states.get(key.app_name, {}))
        copied = EventList([(event.id, event.invocation_id, event) for event in events], _copy_event) if events else EventList()
        return Session.construct_unchecked(key, independent(state), stored.last_update_time, copied)


def _at_once(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that waits for nothing."""
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise AssertionError("It waits for something.")  # pragma: no cover


def _copy_event(row: StoredRow) -> Event:
    event: Event = row[2]
    return structural_copy(event)


def _events_for_run(stored: _Stored) -> EventList:
    """Return the last run's list, extended by newer events; a new list if it does not match the stored events."""
    kept = stored.events
    events = stored.run.events_if_unedited() if stored.run else None
    if events is None or len(events) > len(kept) or (events and events[-1] is not kept[len(events) - 1]):
        return EventList(kept)
    events.add_committed(kept[len(events) :])
    return events


def _is_behind(session: Session, stored: _Stored) -> bool:
    """Return whether a run's copy lacks events. Other copies need not be up to date, as in google-adk."""
    mine = session.events
    return mine.is_of_run and not mine.edited and not mine.ends_as(stored.events)


def _choose(stored: _Stored, config: GetSessionConfig | None) -> list[Event]:
    events = stored.events
    if config is None:
        return events
    if config.after_timestamp is not None:
        first = bisect_left(stored.latest, config.after_timestamp)
        events = [event for event in events[first:] if event.timestamp >= config.after_timestamp]
    if config.num_recent_events is not None:
        events = events[max(0, len(events) - config.num_recent_events) :]
    return events


def _visible(key: SessionKey, writer: SessionKey, delta: dict[str, Any]) -> dict[str, Any]:
    """Return the part of another session's delta that is visible in a session."""
    if writer.app_name != key.app_name:
        return {}
    same_user = writer.user_id == key.user_id
    return {name: value for name, value in delta.items() if same_user or scope_of(name) == "app"}
