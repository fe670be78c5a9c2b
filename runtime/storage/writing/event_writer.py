"""Commits of events to a database, one transaction for each."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any, NamedTuple

from runtime.errors.not_found_error import SessionNotFoundError
from runtime.errors.storage_error import StaleSessionError, StorageError
from runtime.events.event import Event
from runtime.sessions.event_codec import encode_event
from runtime.sessions.session import Session, SessionKey
from runtime.sessions.state import split_delta
from runtime.sessions.temp_trace import trace_of
from runtime.storage.connections.database_errors import is_repeated_row
from runtime.storage.layouts.column_values import read_state, read_time, to_epoch, to_micros
from runtime.storage.layouts.commit_record import Execute, record_events_of_others, shared_json
from runtime.storage.writing.database import Database
from runtime.storage.writing.session_revision import Revision, Row, find_row, is_ours, revision_of
from runtime.storage.writing.shared_rows import write_shared

_REMEMBERED_SESSIONS = 256


class Commit(NamedTuple):
    """An event ready to be written.

    Attributes:
        event_id, invocation_id, timestamp: the event's fields.
        data: its JSON.
        own, user, app: its delta by scope, keys without prefix.
        shared: the user and app part of the delta as JSON, or None if it is empty.
        temp: the names and types of its `temp:` keys, or None if it has none.
    """

    event_id: str
    invocation_id: str
    timestamp: float
    data: str
    own: dict[str, Any]
    user: dict[str, Any]
    app: dict[str, Any]
    shared: str | None
    temp: str | None


def commit_of(event: Event, temp: dict[str, Any]) -> Commit:
    """Return an event in the form to be written.

    Args:
        event: a checked event without `temp:` keys.
        temp: the `temp:` keys that it set.
    """
    delta = event.actions.state_delta
    parts = split_delta(delta)
    return Commit(
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


class _Known(NamedTuple):
    """Data about a session cached between two commits, valid as long as its revision is the stored one.

    If `seen` equals the database's `foreign_writes`, no other connection has written, so the revision need not be checked.
    """

    revision: Revision
    seen: int
    latest_time: int
    state: dict[str, Any]


class EventWriter:
    """A writer of events that caches, for each session, the data that the next commit needs. Used in the database's thread."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[SessionKey, _Known] = {}

    def forget(self, key: SessionKey) -> None:
        """Remove a deleted session from the cache."""
        self._known.pop(key, None)

    def write(self, session: Session, commit: Commit, again: bool) -> None:
        """Commit an event.

        Args:
            session: the caller's session. Its revision is updated.
            commit: the event.
            again: whether this is a retry after a lost connection: the server may already have committed the event.

        Raises:
            SessionNotFoundError: the session was deleted.
            StaleSessionError: another writer changed the session since the caller loaded it, or it already has this event.
            StorageError: the database reported an error.
        """
        key = session.key
        try:
            with self._database.writing() as run:
                if self._database.has_locks:
                    run("lock_session", **key._asdict()).fetchone()
                if again and self._was_written(run, session, commit):
                    return
                known = self._write_rows(run, session, key, commit)
        except BaseException:
            self.forget(key)
            raise
        if len(self._known) >= _REMEMBERED_SESSIONS:
            self._known.clear()
        self._known[key] = known
        session.set_revision(known.revision)

    def _was_written(self, run: Execute, session: Session, commit: Commit) -> bool:
        row = find_row(run, session.key)
        if row is None or row[2] != commit.event_id or not is_ours(run, self._database, session.key, commit.event_id):
            return False
        session._revision = revision_of(self._database, row)
        return True

    def _write_rows(self, run: Execute, session: Session, key: SessionKey, commit: Commit) -> _Known:
        """Write an event, its deltas and our record of it, and return the new cache entry."""
        database = self._database
        database.check_text(commit.data, f"event {commit.event_id}")
        known = self._known_session(run, session, key)
        # google-adk sorts by this column, so it increases with every event. The event keeps its own time.
        latest = max(to_micros(commit.timestamp), known.latest_time + 1)
        state = {**known.state, **commit.own} if commit.own else known.state
        values = {
            "app_name": key.app_name,
            "user_id": key.user_id,
            "session_id": key.session_id,
            "event_id": commit.event_id,
            "invocation_id": commit.invocation_id,
            "time": database.time_value(latest),
            "event_data": commit.data,
            "at": to_micros(time.time()),
            "writer": database.writer,
            "baseline": None,
            "shared": commit.shared,
            "temp": commit.temp,
        }
        self._insert_event(run, session, values)
        if commit.own:
            values["state"] = database.state_json(state)
        run("update_session" if commit.own else "touch_session", values)
        if commit.shared:
            write_shared(run, database, key, commit.user, commit.app, values["time"])
        run("insert_commit" if commit.shared or commit.temp else "insert_plain_commit", values)
        revision = revision_of(database, (known.revision.create_time, values["time"], commit.event_id))
        return _Known(revision, known.seen, latest, state)

    def _known_session(self, run: Execute, session: Session, key: SessionKey) -> _Known:
        """Return the valid cache entry of a session, reading it if needed."""
        known = self._known.get(key)
        if known and known.seen == self._database.foreign_writes and known.revision == session.revision:
            return known
        row = find_row(run, key)
        if row is None:
            raise SessionNotFoundError(f"Session not found: {session.id}")
        self._check_fresh(run, session, row)
        if known is None or known.revision != revision_of(self._database, row):
            return self._learn(run, key, row)
        return known._replace(seen=self._database.foreign_writes)

    def _insert_event(self, run: Execute, session: Session, values: dict[str, Any]) -> None:
        try:
            if run("insert_event", values).rowcount == 0:
                raise StorageError(f"A trigger in {self._database.name} dropped event {values['event_id']}. Nothing was written.")
        except self._database.integrity_error as error:
            if not is_repeated_row(error):
                raise  # a newer google-adk's table may have constraints that we do not know
            raise StaleSessionError(f"Event {values['event_id']} is already part of session {session.id}.") from error

    def _check_fresh(self, run: Execute, session: Session, row: Row) -> None:
        held = session.revision
        if held is None:
            # The session does not come from this service, so only its time can be compared.
            if read_time(row[1]) <= to_micros(session.last_update_time):
                return
        elif held == revision_of(self._database, row):
            return
        last = run("last_commit", **session.key._asdict(), event_id=row[2]).fetchone()
        who, at = (last[0] or "another program", last[1]) if last else ("another program", read_time(row[1]))
        try:
            when = datetime.fromtimestamp(to_epoch(at)).strftime("%Y-%m-%d %H:%M:%S")
        except (ValueError, OverflowError, OSError):
            when = f"{to_epoch(at):.15g} s"
        raise StaleSessionError(
            f"Session {session.id} was modified in storage since it was loaded: {who} wrote to it at {when}. Reload it and append again."
        )

    def _learn(self, run: Execute, key: SessionKey, row: Row) -> _Known:
        state = read_state(run("session_state", **key._asdict()).fetchone()[0])
        latest = run("latest_time", **key._asdict()).fetchone()[0]
        if self._database.has_locks:
            record_events_of_others(run, key)
        # Sessions of other programs may lack the state rows that google-adk needs to append.
        write_shared(run, self._database, key, {}, {}, row[1])
        return _Known(
            revision_of(self._database, row),
            self._database.foreign_writes,
            max(read_time(row[1]), read_time(latest) if latest is not None else 0),
            state,
        )
