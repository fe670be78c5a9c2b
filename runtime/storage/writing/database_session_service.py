"""Sessions in a database that google-adk can also open."""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from sqlalchemy.engine import URL, Engine

from runtime.errors.already_exists_error import AlreadyExistsError
from runtime.errors.not_found_error import SessionNotFoundError
from runtime.errors.storage_error import StorageError
from runtime.events.event import Event
from runtime.sessions.base_session_service import BaseSessionService, GetSessionConfig, ListSessionsResponse, check_state
from runtime.sessions.event_list import EventList, StoredRow
from runtime.sessions.lineage import SessionCopy
from runtime.sessions.note import Note
from runtime.sessions.recorded_end import RecordedEnd
from runtime.sessions.session import Session, SessionKey
from runtime.sessions.state import independent, merge_scopes, split_delta
from runtime.sessions.temp_trace import read_trace
from runtime.storage.connections.database_url import database_url
from runtime.storage.layouts.column_values import load_json_object, read_epoch, read_state, read_time, to_epoch, to_micros
from runtime.storage.layouts.commit_record import Execute, shared_json
from runtime.storage.layouts.decode import decode_sqlite, decode_v1, timestamp_of
from runtime.storage.layouts.table_names import WrittenLayout
from runtime.storage.reading.notes import note_of
from runtime.storage.writing.copy_writer import record_copy, record_events, write_copy, write_events, write_note
from runtime.storage.writing.database import Database
from runtime.storage.writing.event_writer import EventWriter, commit_of
from runtime.storage.writing.recent_runs import RecentRuns
from runtime.storage.writing.session_revision import Row, find_row, is_ours, revision_of
from runtime.storage.writing.shared_rows import shared_states, state_in, write_shared
from runtime.support.gc_freeze import collection_paused
from runtime.support.ids import new_uuid
from runtime.support.serial_thread import SerialThread

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncEngine

_ONE_MICROSECOND, _ONE_DAY, _YEAR_9999 = 1e-6, 86_400.0, 253_370_764_800.0
_ALL = 2**63 - 1
T = TypeVar("T")


class DatabaseSessionService(BaseSessionService):
    """A session service that stores in SQLite or PostgreSQL, in google-adk's v1 layout.

    The service's own thread does all the work. Several threads and event loops can use the service at once. The first write to another
    program's database makes a backup beside it; reading changes nothing.

    Args:
        db_url: an SQLAlchemy URL. google-adk's `sqlite+aiosqlite:` and `postgresql+asyncpg:` also work; our own drivers are used.
        db_engine: an engine of SQLAlchemy, sync or async, in place of `db_url`. Its database is opened again with our own driver; the
            engine itself is neither used nor closed, and its pool and `connect_args` are not taken over.
        **kwargs: keyword arguments for SQLAlchemy's `create_engine`. `connect_args={"timeout": seconds}` sets how long a commit waits for
            other writers.

    Raises:
        StorageError: the URL's database is not supported, or only the engine itself can reach it.
        ValueError: both `db_url` and `db_engine` are given, or neither.
    """

    _layout: ClassVar[WrittenLayout] = "v1"

    def __init__(self, db_url: str | URL | None = None, db_engine: Engine | AsyncEngine | None = None, **kwargs: Any) -> None:
        self.db_engine = db_engine
        self._database = Database(_url_of(db_url, db_engine), self._layout, kwargs)
        self._thread = SerialThread(f"sessions {self._database.name}", closed_error=lambda: StorageError("This session service is closed."))
        self._writer = EventWriter(self._database)
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
        """See `BaseSessionService.session_for_run`. For the last few sessions, only events stored since their last run are read."""
        key = SessionKey(app_name, user_id, session_id)
        return await self._run(lambda: self._get_for_run(key))

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None, limit: int | None = None, after: SessionKey | None = None
    ) -> ListSessionsResponse:
        """See `BaseSessionService.list_sessions`."""
        return ListSessionsResponse.model_construct(sessions=await self._run(lambda: self._list(app_name, user_id, limit, after)))

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """See `BaseSessionService.get_user_state`."""
        return await self._run(lambda: self._user_state(app_name, user_id))

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """See `BaseSessionService.delete_session`."""
        key = SessionKey(app_name, user_id, session_id)
        await self._run(lambda: self._delete(key))

    async def store_copy(self, key: SessionKey, copy: SessionCopy) -> None:
        """See `BaseSessionService.store_copy`."""
        await self._run_commit(lambda again: self._store_copy(key, copy, again=again))

    async def continue_copy(self, key: SessionKey, copy: SessionCopy, replaced: Sequence[str] = ()) -> None:
        """Store a session, or add the events of `copy` to the one that exists, all in one transaction.

        Args:
            key: the session.
            copy: what to store; if the session exists, its events are added.
            replaced: the ids of stored events to delete first. Notes on them stay, as an event of the same id may follow.
        """
        await self._run(lambda: self._continue_copy(key, copy, replaced))

    async def temp_deltas(self, key: SessionKey) -> dict[str, dict[str, Any]]:
        """See `BaseSessionService.temp_deltas`. Their values are not stored."""
        return await self._run(lambda: self._temp_deltas(key))

    async def first_state(self, key: SessionKey) -> dict[str, Any] | None:
        """See `BaseSessionService.first_state`. It is unknown for sessions that google-adk created."""
        return await self._run(lambda: self._first_state(key))

    async def record_end(self, key: SessionKey, invocation_id: str, end: RecordedEnd) -> None:
        """See `BaseSessionService.record_end`."""
        await self._run(lambda: self._record_end(key, invocation_id, end))

    async def recorded_ends(self, key: SessionKey) -> dict[str, RecordedEnd]:
        """See `BaseSessionService.recorded_ends`."""
        return await self._run(lambda: self._recorded_ends(key))

    async def set_note(self, key: SessionKey, event_id: str, note: Note) -> None:
        """See `BaseSessionService.set_note`."""
        await self._run(lambda: self._set_note(key, event_id, note))

    async def notes(self, key: SessionKey) -> dict[str, Note]:
        """See `BaseSessionService.notes`."""
        return await self._run(lambda: self._notes(key))

    async def prepare(self) -> None:
        """Create the tables now instead of at the first write.

        Raises:
            StorageError: the tables cannot be written.
        """
        await self._run(self._prepare)

    async def prepare_tables(self) -> None:
        """Do what `prepare` does, by google-adk's name."""
        await self.prepare()

    async def close(self) -> None:
        """See `BaseSessionService.close`."""
        await self._thread.close_and_wait(self._database.close)

    async def _commit(self, session: Session, event: Event, temp: dict[str, Any]) -> StoredRow | None:
        commit = commit_of(event, temp)
        await self._run_commit(partial(self._writer.write, session, commit))
        events = session.events
        if not (isinstance(events, EventList) and events.is_read_by(self._decode)):
            return None
        return event.id, event.invocation_id, None, commit.data  # the JSON has the time

    async def _run(self, job: Callable[[], T]) -> T:
        return await self._run_commit(lambda _again: job())

    def _run_commit(self, job: Callable[[bool], T]) -> Coroutine[Any, Any, T]:
        """Return the run of a job that commits. Its argument is whether a lost connection made it be repeated; see `persistently`."""
        return self._thread.run(partial(self._database.persistently, job), on_cancel=self._database.hurry)

    # In the database's thread

    def _prepare(self) -> None:
        with self._database.writing():
            pass

    def _create(self, key: SessionKey, state: dict[str, Any], now: int) -> Session:
        parts = split_delta(state)
        at = self._database.time_value(now)
        with self._database.writing() as run:
            row = find_row(run, key)
            if row is not None:
                if read_time(row[0]) == now and row[2] is None and is_ours(run, self._database, key, None):
                    # Created by the previous attempt, whose connection was lost before the server could confirm it.
                    return self._new_session(key, parts["session"], *shared_states(run, key), now)
                raise AlreadyExistsError(f"Session with id {key.session_id} already exists.")
            user, app = write_shared(run, self._database, key, parts["user"], parts["app"], at)
            own = self._database.state_json(parts["session"])
            run("insert_session", **key._asdict(), state=own, time=at)
            creation = {"event_id": None, "at": now, "writer": self._database.writer, "temp": None}
            run("insert_commit", **key._asdict(), **creation, baseline=own, shared=shared_json(state))
        return self._new_session(key, parts["session"], user, app, now)

    def _new_session(self, key: SessionKey, state: dict[str, Any], user: dict[str, Any], app: dict[str, Any], now: int) -> Session:
        session = Session.construct_unchecked(key, merge_scopes(state, user, app), to_epoch(now))
        at = self._database.time_value(now)
        session._revision = revision_of(self._database, (at, at, None))
        return session

    def _store_copy(self, key: SessionKey, copy: SessionCopy, *, again: bool) -> None:
        created = to_micros(copy.created)
        with self._database.writing() as run:
            if find_row(run, key) is not None:
                if again and is_ours(run, self._database, key, None):
                    return  # committed by the previous attempt, whose connection was lost before the server could confirm it
                raise AlreadyExistsError(f"Session with id {key.session_id} already exists.")
            new = _new_shared(run, key, copy)
            now = write_shared(run, self._database, key, *new, self._database.time_value(created))
            events = write_copy(run, self._database, key, copy)
            record_copy(run, self._database.writer, key, copy, events, set_here=new, now=now)

    def _continue_copy(self, key: SessionKey, copy: SessionCopy, replaced: Sequence[str]) -> None:
        with self._database.reading() as run:
            exists = run is not None and find_row(run, key) is not None
        if not exists:
            self._store_copy(key, copy, again=False)
            return
        with self._database.writing() as run:
            if self._database.has_locks:
                run("lock_session", **key._asdict()).fetchone()
            for event_id in replaced:
                for statement in ("delete_event", "forget_commit"):
                    run(statement, **key._asdict(), event_id=event_id)
            row = find_row(run, key)
            if row is None:
                raise SessionNotFoundError(f"There is no session {key.session_id} of user {key.user_id} in app {key.app_name}.")
            events = write_events(run, self._database, key, copy, read_time(row[1]))
            record_events(run, self._database.writer, key, events)
        self._writer.forget(key)
        self._runs.forget(key)

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
            self._runs.lend(session, run, key._asdict(), session._revision.create_time, self._database.data_version(run))
        return _timed(session, last)

    def _load(self, run: Execute, key: SessionKey) -> tuple[Session, str | None] | None:
        """Return a session without its events, and the id of the last one."""
        row = find_row(run, key)
        if row is None:
            return None
        state = read_state(run("session_state", **key._asdict()).fetchone()[0])
        session = Session.construct_unchecked(key, merge_scopes(state, *shared_states(run, key)), read_epoch(row[1]))
        session._revision = revision_of(self._database, row)
        return session, row[2]

    def _events(self, run: Execute, key: SessionKey, config: GetSessionConfig) -> EventList:
        count, since = config.num_recent_events, config.after_timestamp
        if since is not None:
            rows = self._events_since(run, key, since)
            rows = rows if count is None else rows[max(0, len(rows) - count) :]
        elif count is not None:
            rows = run("recent_events", **key._asdict(), count=count).fetchall()[::-1]
        else:
            rows = run("events", **key._asdict()).fetchall()
        return EventList(rows, self._decode)

    def _events_since(self, run: Execute, key: SessionKey, since: float) -> list[Row]:
        """Return the rows of the events at or after a time, without decoding them if possible."""
        # Times in the columns may have been increased to keep the order, never decreased. But old google-adk versions wrote local time.
        earliest = since - (_ONE_MICROSECOND if self._database.has_utc_columns(run) else _ONE_DAY)
        if 0 < earliest < _YEAR_9999:
            rows = run("events_since", **key._asdict(), time=self._database.time_value(to_micros(earliest))).fetchall()
        else:
            rows = run("events", **key._asdict()).fetchall()
        return [row for row in rows if timestamp_of(row, self._decode) >= since]

    def _user_state(self, app_name: str, user_id: str) -> dict[str, Any]:
        with self._database.reading() as run:
            return state_in(run("user_state", app_name=app_name, user_id=user_id).fetchone()) if run else {}

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
            app = state_in(run("app_state", app_name=app_name).fetchone())
            listed = {row[0] for row in rows}
            if limit is None and user_id is None:
                users = {user: read_state(state) for user, state in run("user_states", app_name=app_name)}
            else:
                users = {user: state_in(run("user_state", app_name=app_name, user_id=user).fetchone()) for user in listed}
            shared = {user: merge_scopes({}, users.get(user, {}), app) for user in listed}
            sessions = []
            for user, session_id, updated, text in rows:
                state = read_state(text)
                if shared[user]:
                    state.update(independent(shared[user]))
                sessions.append(Session.construct_unchecked((app_name, user, session_id), state, read_epoch(updated)))
            return sessions

    def _delete(self, key: SessionKey) -> None:
        with self._database.reading() as run:
            if run is None or find_row(run, key) is None:
                return
        with self._database.writing() as run:
            for statement in ("delete_events", "delete_session", "forget_commits", "detach_commits", "forget_ends", "forget_notes"):
                run(statement, **key._asdict())
        self._writer.forget(key)
        self._runs.forget(key)

    def _record_end(self, key: SessionKey, invocation_id: str, end: RecordedEnd) -> None:
        columns = {**key._asdict(), "invocation_id": invocation_id}
        with self._database.writing() as run:
            if self._database.has_locks:
                run("lock_session", **key._asdict()).fetchone()
            if find_row(run, key) is not None:
                run("forget_end", **columns)
                run("insert_end", **columns, **{**end._asdict(), "at": to_micros(end.at)})

    def _recorded_ends(self, key: SessionKey) -> dict[str, RecordedEnd]:
        with self._database.reading() as run:
            if run is None or not self._database.records_ends():
                return {}
            rows = run("ends", **key._asdict()).fetchall()
        return {name: RecordedEnd(status, reason, event_id, to_epoch(at)) for name, status, reason, event_id, at in rows}

    def _set_note(self, key: SessionKey, event_id: str, note: Note) -> None:
        with self._database.writing() as run:
            if self._database.has_locks:
                run("lock_session", **key._asdict()).fetchone()
            if find_row(run, key) is None:
                raise SessionNotFoundError(f"There is no session {key.session_id} of user {key.user_id} in app {key.app_name}.")
            write_note(run, key, event_id, note)

    def _notes(self, key: SessionKey) -> dict[str, Note]:
        with self._database.reading() as run:
            if run is None or not self._database.keeps_notes():
                return {}
            rows = run("notes", **key._asdict()).fetchall()
        return {event_id: note_of(row) for event_id, *row in rows}

    def _temp_deltas(self, key: SessionKey) -> dict[str, dict[str, Any]]:
        with self._database.reading() as run:
            if run is None or not self._database.is_ours():
                return {}
            return {event_id: read_trace(temp) for event_id, temp in run("temp", **key._asdict())}

    def _first_state(self, key: SessionKey) -> dict[str, Any] | None:
        with self._database.reading() as run:
            row = find_row(run, key) if run is not None and self._database.is_ours() else None
            if run is None or row is None:
                return None
            baseline = run("first_state", **key._asdict(), at=read_time(row[0])).fetchone()
            # Null for a fork whose parent's first state was not recorded.
            return load_json_object(baseline[0]) if baseline and baseline[0] else None


def _new_shared(run: Execute, key: SessionKey, copy: SessionCopy) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the user and app keys of a copy that do not exist here yet; existing keys belong to other sessions as well."""
    parts = split_delta({**copy.user, **copy.app})
    user, app = shared_states(run, key)
    return {k: v for k, v in parts["user"].items() if k not in user}, {k: v for k, v in parts["app"].items() if k not in app}


def _timed(session: Session, last_event_id: str | None) -> Session:
    """Set a session's update time to its last event's time: the column is rounded and may have been increased to keep the order."""
    if session.events and session.events.last_id() == last_event_id:
        session.last_update_time = session.events[-1].timestamp
    return session


def _url_of(db_url: str | URL | None, db_engine: Engine | AsyncEngine | None) -> URL:
    if (db_url is None) == (db_engine is None):
        raise ValueError("A DatabaseSessionService needs either db_url or db_engine.")
    if db_engine is None:
        return database_url(db_url or "")
    url = database_url(db_engine.url)
    if not url.host and not url.query and url.database in (None, "", ":memory:"):
        raise StorageError(
            "Only this db_engine can reach its database: it is in memory, or the engine makes its connections itself. Give a db_url."
        )
    return url
