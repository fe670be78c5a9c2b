"""Sessions in a database that google-adk can open too."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy.engine import URL

from runtime.errors.already_exists_error import AlreadyExistsError
from runtime.errors.not_found_error import SessionNotFoundError
from runtime.errors.storage_error import StaleSessionError
from runtime.events.event import Event
from runtime.events.ids import new_uuid
from runtime.sessions.base_session_service import BaseSessionService, GetSessionConfig, ListSessionsResponse, check_state
from runtime.sessions.column_values import dump_json, load_json_object, read_state, read_time, to_epoch, to_micros
from runtime.sessions.commit_record import Run, record_snapshot, shared_json
from runtime.sessions.database import Database
from runtime.sessions.database_thread import DatabaseThread
from runtime.sessions.database_url import database_url
from runtime.sessions.event_codec import encode_event, trace_of
from runtime.sessions.session import Session, SessionKey
from runtime.sessions.state import merge_scopes, split_delta
from runtime.sessions.stored.decode import decode_sqlite, decode_v1
from runtime.sessions.tables import WrittenLayout

_REMEMBERED_SESSIONS = 256
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Revision:
    """What a copy of a session is a copy of: any append changes the last event, deleting and creating it again the first time."""

    create_time: Any
    last_event_id: str | None


@dataclass(frozen=True, slots=True)
class _Known:
    """What we remember of a session between two commits, true as long as its revision is the stored one."""

    revision: _Revision
    latest_time: int
    state: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Commit:
    """An event, ready to be written."""

    event_id: str
    invocation_id: str
    timestamp: float
    data: str
    delta: dict[str, Any]
    shared: str | None
    temp: str | None


class DatabaseSessionService(BaseSessionService):
    """Keeps sessions in SQLite or PostgreSQL in google-adk's v1 layout (seed: session-state, "Persistencia").

    All work is done by one thread of the service's own, a commit in one hop; the service can be used from several threads and event
    loops at once. A database that is not ours gets a backup beside it before the first write; reading changes nothing.

    Args:
        db_url: an SQLAlchemy URL; google-adk's `sqlite+aiosqlite:` and `postgresql+asyncpg:` are served by the drivers we use.
        **kwargs: for SQLAlchemy's `create_engine`; `connect_args={"timeout": seconds}` is how long a commit waits for other writers.

    Raises:
        StorageError: it is no URL of a database that is supported.
    """

    _layout: ClassVar[WrittenLayout] = "v1"

    def __init__(self, db_url: str | URL, **kwargs: Any) -> None:
        self._database = Database(database_url(db_url), self._layout, kwargs)
        self._thread = DatabaseThread(f"sessions {self._database.name}")
        self._known: dict[SessionKey, _Known] = {}
        self._decode = decode_v1 if self._layout == "v1" else decode_sqlite

    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """See `BaseSessionService.create_session`."""
        key = SessionKey(app_name, user_id, (session_id or "").strip() or new_uuid())
        first_state = check_state(state or {})
        return await self._thread.run(lambda: self._create(key, first_state))

    async def get_session(self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None) -> Session | None:
        """See `BaseSessionService.get_session`."""
        key = SessionKey(app_name, user_id, session_id)
        return await self._thread.run(lambda: self._get(key, config or GetSessionConfig()))

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """See `BaseSessionService.list_sessions`."""
        return ListSessionsResponse(sessions=await self._thread.run(lambda: self._list(app_name, user_id)))

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """See `BaseSessionService.delete_session`."""
        key = SessionKey(app_name, user_id, session_id)
        await self._thread.run(lambda: self._delete(key))

    async def temp_deltas(self, key: SessionKey) -> dict[str, dict[str, Any]]:
        """See `BaseSessionService.temp_deltas`; of an object that is no JSON value its `repr` was kept."""
        return await self._thread.run(lambda: self._temp_deltas(key))

    async def first_state(self, key: SessionKey) -> dict[str, Any] | None:
        """See `BaseSessionService.first_state`; google-adk records none, nor do sessions that were created anew by it."""
        return await self._thread.run(lambda: self._first_state(key))

    async def close(self) -> None:
        """See `BaseSessionService.close`."""
        await self._thread.close(self._database.close)

    async def _commit(self, session: Session, event: Event, temp: dict[str, Any]) -> None:
        delta = event.actions.state_delta
        commit = _Commit(
            event_id=event.id,
            invocation_id=event.invocation_id,
            timestamp=event.timestamp,
            data=encode_event(event),
            delta=delta,
            shared=shared_json(delta),
            temp=trace_of(temp),
        )
        await self._thread.run(lambda: self._write(session, commit))

    # In the database's thread

    def _create(self, key: SessionKey, state: dict[str, Any]) -> Session:
        parts = split_delta(state)
        with self._database.writing() as run:
            if _find(run, key) is not None:
                raise AlreadyExistsError(f"Session with id {key.session_id} already exists.")
            now = to_micros(time.time())
            at = self._database.time_value(now)
            user, app = self._share(run, key, parts["user"], parts["app"], at)
            run("insert_session", **_columns(key), state=self._json(parts["session"]), time=at)
            creation = {"event_id": None, "at": now, "writer": self._database.writer, "temp": None}
            run("insert_commit", **_columns(key), **creation, baseline=self._json(parts["session"]), shared=shared_json(state))
        session = self._session(key, parts["session"], user, app, now)
        session._revision = _Revision(at, None)
        return session

    def _share(
        self, run: Run, key: SessionKey, user_delta: dict[str, Any], app_delta: dict[str, Any], at: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Write the user's and the app's part of a delta, the rows too where they are missing; return the two states."""
        app = self._share_one(run, "app_state", {"app_name": key.app_name}, app_delta, at)
        user = self._share_one(run, "user_state", {"app_name": key.app_name, "user_id": key.user_id}, user_delta, at)
        return user, app

    def _share_one(self, run: Run, table: str, owner: dict[str, str], delta: dict[str, Any], at: Any) -> dict[str, Any]:
        row = run(table, **owner).fetchone()
        if row is None:
            record_snapshot(run, owner["app_name"], owner.get("user_id", ""), {}, self._database.writer)
            run("insert_" + table, **owner, state=self._json(delta), time=at)
            return delta
        state = read_state(row[0])
        if delta:
            state.update(delta)
            run("update_" + table, **owner, state=self._json(state), time=at)
        return state

    def _write(self, session: Session, commit: _Commit) -> None:
        key = session.key
        parts = split_delta(commit.delta)
        try:
            with self._database.writing() as run:
                row = _find(run, key)
                if row is None:
                    raise SessionNotFoundError(f"Session not found: {session.id}")
                self._check_fresh(run, session, row)
                known = self._known.get(key)
                if known is None or known.revision != _revision(row):
                    known = self._learn(run, key, row)
                # The column rises with every event, so that google-adk, which sorts by it, keeps the order; the event keeps its time.
                latest = max(to_micros(commit.timestamp), known.latest_time + 1)
                at = self._database.time_value(latest)
                state = {**known.state, **parts["session"]} if parts["session"] else known.state
                self._insert_event(run, session, commit, at)
                if parts["session"]:
                    run("update_session", **_columns(key), state=self._json(state), time=at)
                else:
                    run("touch_session", **_columns(key), time=at)
                if commit.shared:
                    self._share(run, key, parts["user"], parts["app"], at)
                now = to_micros(time.time())
                recorded = {"event_id": commit.event_id, "at": now, "writer": self._database.writer, "baseline": None}
                run("insert_commit", **_columns(key), **recorded, shared=commit.shared, temp=commit.temp)
        except BaseException:
            self._known.pop(key, None)
            raise
        revision = _Revision(row[0], commit.event_id)
        self._remember(key, _Known(revision, latest, state))
        session._revision = revision

    def _insert_event(self, run: Run, session: Session, commit: _Commit, at: Any) -> None:
        values = {"invocation_id": commit.invocation_id, "event_data": commit.data}
        try:
            run("insert_event", **_columns(session.key), event_id=commit.event_id, time=at, **values)
        except self._database.integrity_error as error:
            raise StaleSessionError(f"Event {commit.event_id} is already part of session {session.id}.") from error

    def _check_fresh(self, run: Run, session: Session, row: Row) -> None:
        held = session._revision
        if held is None:
            # Not from get_session: all that can be compared is its time.
            if read_time(row[1]) <= to_micros(session.last_update_time):
                return
        elif held == _revision(row):
            return
        last = run("last_commit", **_columns(session.key), event_id=row[2]).fetchone()
        who, at = (last[0] or "another program", last[1]) if last else ("another program", read_time(row[1]))
        when = datetime.fromtimestamp(to_epoch(at)).strftime("%Y-%m-%d %H:%M:%S")
        raise StaleSessionError(
            f"Session {session.id} was modified in storage since it was loaded: {who} wrote to it at {when}. Reload it and append again."
        )

    def _learn(self, run: Run, key: SessionKey, row: Row) -> _Known:
        state = read_state(run("session_state", **_columns(key)).fetchone()[0])
        latest = run("latest_time", **_columns(key)).fetchone()[0]
        # Others' sessions may lack the rows that google-adk needs to append.
        self._share(run, key, {}, {}, row[1])
        return _Known(_revision(row), max(read_time(row[1]), read_time(latest) if latest is not None else 0), state)

    def _remember(self, key: SessionKey, known: _Known) -> None:
        if len(self._known) >= _REMEMBERED_SESSIONS:
            self._known.clear()
        self._known[key] = known

    def _get(self, key: SessionKey, config: GetSessionConfig) -> Session | None:
        with self._database.reading() as run:
            row = _find(run, key) if run else None
            if run is None or row is None:
                return None
            state = read_state(run("session_state", **_columns(key)).fetchone()[0])
            user, app = (_state_of(run(table, **_columns(key)).fetchone()) for table in ("user_state", "app_state"))
            events = self._events(run, key, config)
        session = self._session(key, state, user, app, read_time(row[1]))
        session.events = events
        if events and events[-1].id == row[2]:
            # The column has whole microseconds, and may have been moved to keep the order.
            session.last_update_time = events[-1].timestamp
        session._revision = _revision(row)
        return session

    def _events(self, run: Run, key: SessionKey, config: GetSessionConfig) -> list[Event]:
        count, since = config.num_recent_events, config.after_timestamp
        if count is not None and since is None:
            rows = run("recent_events", **_columns(key), count=count).fetchall()[::-1]
        else:
            rows = run("events", **_columns(key)).fetchall()
        events = [self._decode(row) for row in rows]
        if since is not None:
            events = [event for event in events if event.timestamp >= since]
            if count is not None:
                events = events[max(0, len(events) - count) :]
        return events

    def _list(self, app_name: str, user_id: str | None) -> list[Session]:
        with self._database.reading() as run:
            if run is None:
                return []
            app = _state_of(run("app_state", app_name=app_name).fetchone())
            users = {user: read_state(state) for user, state in run("user_states", app_name=app_name)}
            statement = "app_sessions" if user_id is None else "user_sessions"
            rows = run(statement, app_name=app_name, user_id=user_id).fetchall()
        return [
            self._session(SessionKey(app_name, user, session_id), read_state(state), users.get(user, {}), app, read_time(updated))
            for user, session_id, _, updated, state in rows
        ]

    def _delete(self, key: SessionKey) -> None:
        with self._database.reading() as run:
            if run is None or _find(run, key) is None:
                return
        with self._database.writing() as run:
            for statement in ("delete_events", "delete_session", "forget_commits", "detach_commits"):
                run(statement, **_columns(key))
        self._known.pop(key, None)

    def _temp_deltas(self, key: SessionKey) -> dict[str, dict[str, Any]]:
        with self._database.reading() as run:
            if run is None or not self._database.is_ours():
                return {}
            return {event_id: load_json_object(temp) for event_id, temp in run("temp", **_columns(key))}

    def _first_state(self, key: SessionKey) -> dict[str, Any] | None:
        with self._database.reading() as run:
            row = _find(run, key) if run is not None and self._database.is_ours() else None
            if run is None or row is None:
                return None
            baseline = run("first_state", **_columns(key), at=read_time(row[0])).fetchone()
            return load_json_object(baseline[0]) if baseline else None

    def _session(self, key: SessionKey, state: dict[str, Any], user: dict[str, Any], app: dict[str, Any], updated: int) -> Session:
        return Session(
            id=key.session_id,
            app_name=key.app_name,
            user_id=key.user_id,
            state=merge_scopes(state, user, app),
            last_update_time=to_epoch(updated),
        )

    def _json(self, state: dict[str, Any]) -> str:
        return dump_json(state, "state", ascii_only=self._layout == "v1")


def _columns(key: SessionKey) -> dict[str, str]:
    return {"app_name": key.app_name, "user_id": key.user_id, "session_id": key.session_id}


def _find(run: Run, key: SessionKey) -> Row | None:
    """Return a session's `create_time`, `update_time` and the id of its last event."""
    row: Row | None = run("find_session", **_columns(key)).fetchone()
    return row


def _revision(row: Row) -> _Revision:
    return _Revision(row[0], row[2])


def _state_of(row: Row | None) -> dict[str, Any]:
    return read_state(row[0]) if row else {}
