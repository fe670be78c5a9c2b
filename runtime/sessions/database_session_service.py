"""Sessions in a database that google-adk can open too."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, ClassVar, NamedTuple, TypeVar

from sqlalchemy.engine import URL

from runtime.errors.already_exists_error import AlreadyExistsError
from runtime.errors.not_found_error import SessionNotFoundError
from runtime.errors.storage_error import StaleSessionError
from runtime.events.event import Event
from runtime.events.ids import new_uuid
from runtime.sessions.base_session_service import BaseSessionService, GetSessionConfig, ListSessionsResponse, check_state
from runtime.sessions.column_values import dump_json, load_json_object, read_epoch, read_state, read_time, to_epoch, to_micros
from runtime.sessions.commit_record import Run, record_events_of_others, record_snapshot, shared_json
from runtime.sessions.copy_writer import CopiedEvent, copied_events, record_copy, write_copy
from runtime.sessions.database import Database
from runtime.sessions.database_errors import is_repeated_row
from runtime.sessions.database_thread import DatabaseThread
from runtime.sessions.database_url import database_url
from runtime.sessions.event_codec import encode_event, trace_of
from runtime.sessions.event_list import EventList
from runtime.sessions.garbage import collection_paused
from runtime.sessions.lineage import SessionCopy
from runtime.sessions.recent_runs import RecentRuns
from runtime.sessions.server import check_jsonb
from runtime.sessions.session import Session, SessionKey
from runtime.sessions.state import independent, merge_scopes, split_delta
from runtime.sessions.stored.decode import decode_sqlite, decode_v1
from runtime.sessions.stored.timestamps import timestamp_of
from runtime.sessions.table_names import WrittenLayout

_REMEMBERED_SESSIONS = 256
_ONE_MICROSECOND, _ONE_DAY, _YEAR_9999 = 1e-6, 86_400.0, 253_370_764_800.0
_ALL = 2**63 - 1
Row = tuple[Any, ...]
T = TypeVar("T")


class _Revision(NamedTuple):
    """What a copy of a session is a copy of: any append changes the last event, deleting and creating it again the first time."""

    create_time: Any
    last_event_id: str | None
    update_time: Any = None
    """On a server only, where somebody else's newest event may not be the one with the latest time."""


class _Known(NamedTuple):
    """What we remember of a session between two commits, true as long as its revision is the stored one.

    Nobody has to look whether it is if nobody else wrote to the database: `seen` is its number of foreign writes then.
    """

    revision: _Revision
    seen: int
    latest_time: int
    state: dict[str, Any]


class _Commit(NamedTuple):
    """An event, ready to be written; its delta by scope, that of user and app also as it is recorded."""

    event_id: str
    invocation_id: str
    timestamp: float
    data: str
    own: dict[str, Any]
    user: dict[str, Any]
    app: dict[str, Any]
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
        self._runs = RecentRuns(self._decode)

    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """See `BaseSessionService.create_session`."""
        key = SessionKey(app_name, user_id, (session_id or "").strip() or new_uuid())
        first_state = check_state(state or {})
        now = to_micros(time.time())
        return await self._run(lambda: self._create(key, first_state, now))

    async def get_session(self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None) -> Session | None:
        """See `BaseSessionService.get_session`."""
        key = SessionKey(app_name, user_id, session_id)
        return await self._run(lambda: self._get(key, config or GetSessionConfig()))

    async def session_for_run(self, *, app_name: str, user_id: str, session_id: str) -> Session | None:
        """See `BaseSessionService.session_for_run`; of the last few sessions, only what was stored since their last run is read."""
        key = SessionKey(app_name, user_id, session_id)
        return await self._run(lambda: self._get_for_run(key))

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None, limit: int | None = None, after: SessionKey | None = None
    ) -> ListSessionsResponse:
        """See `BaseSessionService.list_sessions`."""
        return ListSessionsResponse.model_construct(sessions=await self._run(lambda: self._list(app_name, user_id, limit, after)))

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """See `BaseSessionService.delete_session`."""
        key = SessionKey(app_name, user_id, session_id)
        await self._run(lambda: self._delete(key))

    async def store_copy(self, key: SessionKey, copy: SessionCopy) -> None:
        """See `BaseSessionService.store_copy`."""
        tried = False

        def store() -> None:
            nonlocal tried
            again, tried = tried, True
            self._store_copy(key, copy, copied_events(copy), again=again)

        await self._run(store)

    async def temp_deltas(self, key: SessionKey) -> dict[str, dict[str, Any]]:
        """See `BaseSessionService.temp_deltas`; of an object that is no JSON value its `repr` was kept."""
        return await self._run(lambda: self._temp_deltas(key))

    async def first_state(self, key: SessionKey) -> dict[str, Any] | None:
        """See `BaseSessionService.first_state`; google-adk records none, nor do sessions that were created anew by it."""
        return await self._run(lambda: self._first_state(key))

    async def prepare(self) -> None:
        """Make the tables now that the first write would make.

        Raises:
            StorageError: they cannot be written.
        """
        await self._run(self._prepare)

    async def close(self) -> None:
        """See `BaseSessionService.close`."""
        await self._thread.close(self._database.close)

    async def _commit(self, session: Session, event: Event, temp: dict[str, Any]) -> None:
        delta = event.actions.state_delta
        parts = split_delta(delta)
        commit = _Commit(
            event_id=event.id,
            invocation_id=event.invocation_id,
            timestamp=event.timestamp,
            data=encode_event(event),
            own=parts["session"],
            user=parts["user"],
            app=parts["app"],
            shared=shared_json(delta) if parts["user"] or parts["app"] else None,
            temp=trace_of(temp),
        )
        tried = False

        def write() -> None:
            nonlocal tried
            again, tried = tried, True
            self._write(session, commit, again=again)

        await self._run(write)

    async def _run(self, job: Callable[[], T]) -> T:
        return await self._thread.run(lambda: self._database.persistently(job))

    # In the database's thread

    def _prepare(self) -> None:
        with self._database.writing():
            pass

    def _create(self, key: SessionKey, state: dict[str, Any], now: int) -> Session:
        parts = split_delta(state)
        at = self._database.time_value(now)
        with self._database.writing() as run:
            row = _find(run, key)
            if row is not None:
                if read_time(row[0]) == now and row[2] is None and self._is_mine(run, key, None):
                    # Made just now, but the connection broke before the server could say so.
                    user, app = (_state_of(run(table, **_columns(key)).fetchone()) for table in ("user_state", "app_state"))
                    return self._new_session(key, parts["session"], user, app, now)
                raise AlreadyExistsError(f"Session with id {key.session_id} already exists.")
            user, app = self._share(run, key, parts["user"], parts["app"], at)
            run("insert_session", **_columns(key), state=self._json(parts["session"]), time=at)
            creation = {"event_id": None, "at": now, "writer": self._database.writer, "temp": None}
            run("insert_commit", **_columns(key), **creation, baseline=self._json(parts["session"]), shared=shared_json(state))
        return self._new_session(key, parts["session"], user, app, now)

    def _new_session(self, key: SessionKey, state: dict[str, Any], user: dict[str, Any], app: dict[str, Any], now: int) -> Session:
        session = Session.trusted(key, merge_scopes(state, user, app), to_epoch(now))
        at = self._database.time_value(now)
        session._revision = self._revision((at, at, None))
        return session

    def _store_copy(self, key: SessionKey, copy: SessionCopy, events: Sequence[CopiedEvent], *, again: bool) -> None:
        created = to_micros(copy.created)
        with self._database.writing() as run:
            if _find(run, key) is not None:
                if again and self._is_mine(run, key, None):
                    return  # the connection broke before the server could say that it is done
                raise AlreadyExistsError(f"Session with id {key.session_id} already exists.")
            new_user, new_app = self._new_shared(run, key, copy)
            user, app = self._share(run, key, new_user, new_app, self._database.time_value(created))
            write_copy(run, self._database, key, copy, events, self._json)
            record_copy(run, self._database.writer, key, copy, events, set_here=(new_user, new_app), now=(user, app))

    def _new_shared(self, run: Run, key: SessionKey, copy: SessionCopy) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the user's and the app's keys of a copy that do not exist here yet: those that do belong to other sessions, too."""
        parts = split_delta({**copy.user, **copy.app})
        user, app = (_state_of(run(table, **_columns(key)).fetchone()) for table in ("user_state", "app_state"))
        return {k: v for k, v in parts["user"].items() if k not in user}, {k: v for k, v in parts["app"].items() if k not in app}

    def _is_mine(self, run: Run, key: SessionKey, event_id: str | None) -> bool:
        """Return whether this process made a commit: an event's, or a session's creation."""
        row = run("last_commit", **_columns(key), event_id=event_id).fetchone() if event_id else run("creation", **_columns(key)).fetchone()
        return row is not None and row[0] == self._database.writer

    def _share(
        self, run: Run, key: SessionKey, user_delta: dict[str, Any], app_delta: dict[str, Any], at: Any
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Write the user's and the app's part of a delta, the rows too where they are missing; return the two states."""
        app = self._share_one(run, "app_state", {"app_name": key.app_name}, app_delta, at)
        user = self._share_one(run, "user_state", {"app_name": key.app_name, "user_id": key.user_id}, user_delta, at)
        return user, app

    def _share_one(self, run: Run, table: str, owner: dict[str, str], delta: dict[str, Any], at: Any) -> dict[str, Any]:
        row = run(table, **owner).fetchone() if not (delta and self._database.has_locks) else None
        if row is None and self._database.has_locks:
            row = self._lock_shared(run, table, owner, at)
        if row is None:
            record_snapshot(run, owner["app_name"], owner.get("user_id", ""), {}, self._database.writer)
            run("insert_" + table, **owner, state=self._json(delta), time=at)
            return delta
        state = read_state(row[0])
        if delta:
            state.update(delta)
            run("update_" + table, **owner, state=self._json(state), time=at)
        return state

    def _lock_shared(self, run: Run, table: str, owner: dict[str, str], at: Any) -> Row:
        """Return a scope's row, which nobody else can change now; made if it is missing."""
        row: Row | None = run("lock_" + table, **owner).fetchone()
        if row is None:
            if run("insert_" + table, **owner, state="{}", time=at).rowcount:
                record_snapshot(run, owner["app_name"], owner.get("user_id", ""), {}, self._database.writer)
            row = run("lock_" + table, **owner).fetchone()
            assert row is not None
        return row

    def _revision(self, row: Row) -> _Revision:
        return _Revision(row[0], row[2], row[1] if self._database.has_locks else None)

    def _write(self, session: Session, commit: _Commit, *, again: bool) -> None:
        """Commit an event.

        Args:
            session: as the caller holds it.
            commit: the event.
            again: the connection was lost when it was written before; the server may have committed it.
        """
        key = session.key
        try:
            with self._database.writing() as run:
                if self._database.has_locks:
                    run("lock_session", **_columns(key)).fetchone()
                if again and self._was_written(run, session, commit):
                    return
                self._database.check_text(commit.data, f"event {commit.event_id}")
                known = self._known_session(run, session)
                # The column rises with every event, so that google-adk, which sorts by it, keeps the order; the event keeps its time.
                latest = max(to_micros(commit.timestamp), known.latest_time + 1)
                state = {**known.state, **commit.own} if commit.own else known.state
                values = {
                    **_columns(key),
                    "event_id": commit.event_id,
                    "invocation_id": commit.invocation_id,
                    "time": self._database.time_value(latest),
                    "event_data": commit.data,
                    "at": to_micros(time.time()),
                    "writer": self._database.writer,
                    "baseline": None,
                    "shared": commit.shared,
                    "temp": commit.temp,
                }
                self._insert_event(run, session, values)
                if commit.own:
                    run("update_session", state=self._json(state), **values)
                else:
                    run("touch_session", **values)
                if commit.shared:
                    self._share(run, key, commit.user, commit.app, values["time"])
                run("insert_commit", **values)
        except BaseException:
            self._known.pop(key, None)
            raise
        revision = self._revision((known.revision.create_time, values["time"], commit.event_id))
        self._remember(key, _Known(revision, known.seen, latest, state))
        session._revision = revision

    def _was_written(self, run: Run, session: Session, commit: _Commit) -> bool:
        row = _find(run, session.key)
        if row is None or row[2] != commit.event_id or not self._is_mine(run, session.key, commit.event_id):
            return False
        session._revision = self._revision(row)
        return True

    def _known_session(self, run: Run, session: Session) -> _Known:
        """Return what is known of a session that is about to be written to.

        Raises:
            SessionNotFoundError: it is gone.
            StaleSessionError: somebody wrote to it since the caller loaded it.
        """
        key = session.key
        known = self._known.get(key)
        if known and known.seen == self._database.foreign_writes and known.revision == session._revision:
            return known
        row = _find(run, key)
        if row is None:
            raise SessionNotFoundError(f"Session not found: {session.id}")
        self._check_fresh(run, session, row)
        if known is None or known.revision != self._revision(row):
            return self._learn(run, key, row)
        return known._replace(seen=self._database.foreign_writes)

    def _insert_event(self, run: Run, session: Session, values: dict[str, Any]) -> None:
        try:
            run("insert_event", **values)
        except self._database.integrity_error as error:
            if not is_repeated_row(error):
                raise  # a newer google-adk's table may ask for more than we know
            raise StaleSessionError(f"Event {values['event_id']} is already part of session {session.id}.") from error

    def _check_fresh(self, run: Run, session: Session, row: Row) -> None:
        held = session._revision
        if held is None:
            # Not from get_session: all that can be compared is its time.
            if read_time(row[1]) <= to_micros(session.last_update_time):
                return
        elif held == self._revision(row):
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
        if self._database.has_locks:
            record_events_of_others(run, key)
        # Others' sessions may lack the rows that google-adk needs to append.
        self._share(run, key, {}, {}, row[1])
        return _Known(
            self._revision(row),
            self._database.foreign_writes,
            max(read_time(row[1]), read_time(latest) if latest is not None else 0),
            state,
        )

    def _remember(self, key: SessionKey, known: _Known) -> None:
        if len(self._known) >= _REMEMBERED_SESSIONS:
            self._known.clear()
        self._known[key] = known

    def _get(self, key: SessionKey, config: GetSessionConfig) -> Session | None:
        with self._database.reading() as run:
            loaded = self._load(run, key) if run else None
            if run is None or loaded is None:
                return None
            session, last = loaded
            session.events = self._events(run, key, config)
        return _timed(session, last)

    def _get_for_run(self, key: SessionKey) -> Session | None:
        with self._database.reading() as run:
            loaded = self._load(run, key) if run else None
            if run is None or loaded is None:
                self._runs.forget(key)
                return None
            session, last = loaded
            self._runs.lend(session, run, _columns(key), session._revision.create_time, self._database.data_version(run))
        return _timed(session, last)

    def _load(self, run: Run, key: SessionKey) -> tuple[Session, str | None] | None:
        """Return a session without its events, and the id of the last one."""
        row = _find(run, key)
        if row is None:
            return None
        state = read_state(run("session_state", **_columns(key)).fetchone()[0])
        user, app = (_state_of(run(table, **_columns(key)).fetchone()) for table in ("user_state", "app_state"))
        session = Session.trusted(key, merge_scopes(state, user, app), read_epoch(row[1]))
        session._revision = self._revision(row)
        return session, row[2]

    def _events(self, run: Run, key: SessionKey, config: GetSessionConfig) -> EventList:
        count, since = config.num_recent_events, config.after_timestamp
        if since is not None:
            rows = self._events_since(run, key, since)
            rows = rows if count is None else rows[max(0, len(rows) - count) :]
        elif count is not None:
            rows = run("recent_events", **_columns(key), count=count).fetchall()[::-1]
        else:
            rows = run("events", **_columns(key)).fetchall()
        return EventList(rows, self._decode)

    def _events_since(self, run: Run, key: SessionKey, since: float) -> list[Row]:
        """Return the rows of the events at or after a time, decoding none of them if it can be helped."""
        # What the columns hold was moved to keep the order, never back; but old google-adk versions wrote some local time.
        earliest = since - (_ONE_MICROSECOND if self._database.has_utc_columns(run) else _ONE_DAY)
        if 0 < earliest < _YEAR_9999:
            rows = run("events_since", **_columns(key), time=self._database.time_value(to_micros(earliest))).fetchall()
        else:
            rows = run("events", **_columns(key)).fetchall()
        return [row for row in rows if timestamp_of(row, self._decode) >= since]

    def _list(self, app_name: str, user_id: str | None, limit: int | None, after: SessionKey | None) -> list[Session]:
        with collection_paused(), self._database.reading() as run:
            if run is None:
                return []
            statement = ("app_sessions" if user_id is None else "user_sessions") + ("_after" if after else "")
            names = {
                "app_name": app_name,
                "user_id": user_id,
                "after_user": after and after.user_id,
                "after_id": after and after.session_id,
            }
            rows = run(statement, **names, limit=_ALL if limit is None else limit).fetchall()
            app = _state_of(run("app_state", app_name=app_name).fetchone())
            listed = {row[0] for row in rows}
            if limit is None and user_id is None:
                users = {user: read_state(state) for user, state in run("user_states", app_name=app_name)}
            else:
                users = {user: _state_of(run("user_state", app_name=app_name, user_id=user).fetchone()) for user in listed}
            shared = {user: merge_scopes({}, users.get(user, {}), app) for user in listed}
            sessions = []
            for user, session_id, updated, text in rows:
                state = read_state(text)
                if shared[user]:
                    state.update(independent(shared[user]))
                sessions.append(Session.trusted((app_name, user, session_id), state, read_epoch(updated)))
            return sessions

    def _delete(self, key: SessionKey) -> None:
        with self._database.reading() as run:
            if run is None or _find(run, key) is None:
                return
        with self._database.writing() as run:
            for statement in ("delete_events", "delete_session", "forget_commits", "detach_commits"):
                run(statement, **_columns(key))
        self._known.pop(key, None)
        self._runs.forget(key)

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
            # A fork's is null where nobody recorded its parent's.
            return load_json_object(baseline[0]) if baseline and baseline[0] else None

    def _json(self, state: dict[str, Any]) -> str:
        text = dump_json(state, "state", ascii_only=self._layout == "v1")
        if self._database.has_locks:
            # google-adk writes a whole state back through jsonb, whatever the column's type.
            check_jsonb(text, "state")
        return text


def _columns(key: SessionKey) -> dict[str, str]:
    return {"app_name": key.app_name, "user_id": key.user_id, "session_id": key.session_id}


def _find(run: Run, key: SessionKey) -> Row | None:
    """Return a session's `create_time`, `update_time` and the id of its last event."""
    row: Row | None = run("find_session", **_columns(key)).fetchone()
    return row


def _state_of(row: Row | None) -> dict[str, Any]:
    return read_state(row[0]) if row else {}


def _timed(session: Session, last_event_id: str | None) -> Session:
    """Give a session the time of its last event: the column has whole microseconds, and may have been moved to keep the order."""
    if session.events and session.events.last_id() == last_event_id:
        session.last_update_time = session.events[-1].timestamp
    return session
