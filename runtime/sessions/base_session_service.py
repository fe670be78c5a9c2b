"""The base class of session services."""

from __future__ import annotations

import abc
import time
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from runtime.errors.storage_error import StorageError
from runtime.errors.unstorable_value_error import UnstorableValueError
from runtime.events.event import Event
from runtime.events.marks import TEMP_GONE, begins_resumed_run
from runtime.sessions.event_codec import check_storable
from runtime.sessions.event_list import EventList, StoredRow
from runtime.sessions.lineage import SessionCopy
from runtime.sessions.note import Note
from runtime.sessions.recorded_end import RecordedEnd
from runtime.sessions.session import Session, SessionKey
from runtime.sessions.state import State, apply_delta, checked_text, is_plain, storable
from runtime.support.ids import new_uuid
from runtime.support.structural_copy import copy_with, structural_copy


class GetSessionConfig(BaseModel):
    """Which events `get_session` loads.

    Attributes:
        num_recent_events: only the last n (0: none).
        after_timestamp: only events at or after this time, epoch seconds. With both, the last n of these.
    """

    num_recent_events: int | None = Field(default=None, ge=0)
    after_timestamp: float | None = None


class ListSessionsResponse(BaseModel):
    """A list of sessions.

    Attributes:
        sessions: the sessions with merged state, without events.
    """

    model_config = ConfigDict(defer_build=True)

    sessions: list[Session] = Field(default_factory=list)


class BaseSessionService(abc.ABC):
    """Stores sessions. The returned sessions are copies: changing one does not change the stored session.

    Sessions are changed by `append_event` alone: an event and all its deltas are stored together or not at all, and the caller's session
    object changes only afterwards.
    """

    @abc.abstractmethod
    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """Create a session.

        Args:
            app_name: the app.
            user_id: the user.
            state: the initial state, keys with scope prefixes; `temp:` keys are dropped.
            session_id: the session's id; a new one if None or blank.

        Raises:
            AlreadyExistsError: the id is taken.
            UnstorableValueError: a value of `state` cannot be stored.
        """

    @abc.abstractmethod
    async def get_session(self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None) -> Session | None:
        """Return a session with its events, or None if it does not exist.

        Args:
            app_name, user_id, session_id: the session.
            config: the events to load; all if None.
        """

    async def session_for_run(self, *, app_name: str, user_id: str, session_id: str) -> Session | None:
        """Return a session for a run, or None if it does not exist.

        Unlike `get_session`, this may return the service's own events, so that a long session is not decoded or copied for each run. They
        must be changed by `append_event` only; a list that was changed otherwise is not used for the next run.
        """
        return await self.get_session(app_name=app_name, user_id=user_id, session_id=session_id)

    @abc.abstractmethod
    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None, limit: int | None = None, after: SessionKey | None = None
    ) -> ListSessionsResponse:
        """Return an app's sessions without events, ordered by user and id; all of them, or a page.

        The next page is requested with `after=page.sessions[-1].key`. No session is skipped or returned twice, even if sessions were
        created or deleted in the meantime. google-adk's services have neither `limit` nor `after`.

        Args:
            app_name: the app.
            user_id: the user; all users if None.
            limit: maximum number of sessions.
            after: return only sessions after this one; for one user, those with a later id.
        """

    @abc.abstractmethod
    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete a session and its events; does nothing if it does not exist."""

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return the state that a user's sessions share, keys without `user:`; empty if there is none.

        Raises:
            NotImplementedError: this service keeps no such state apart from its sessions.
        """
        raise NotImplementedError(f"{type(self).__name__} has no get_user_state: read the state of one of the user's sessions instead.")

    async def append_event(self, session: Session, event: Event) -> Event:
        """Commit an event with all its deltas, or nothing.

        A partial event is returned unchanged and not committed. A missing id or timestamp is filled in. `temp:` keys are set in
        `session.state` for the rest of the invocation and are not stored.

        The service stores a snapshot, which is also appended to `session.events`: changing `event` later changes nothing.

        Args:
            session: a session returned by this service; updated on success.
            event: the event to commit. On success its `temp:` keys are moved to `session.state`.

        Returns:
            `event`.

        Raises:
            UnstorableValueError: something in the event cannot be stored.
            StaleSessionError: another writer appended to this session since it was loaded (services shared by several processes).
            SessionNotFoundError: the session was deleted.
        """
        fields = event.__dict__  # pydantic's attributes are slow
        if fields["partial"]:
            return event
        if not fields["id"]:
            event.id = new_uuid()
        if not fields["timestamp"]:
            event.timestamp = time.time()
        check_storable(event)
        committed, containers, temp = _snapshot(event)
        resumes = fields["custom_metadata"] is not None and begins_resumed_run(event)
        row = await self._commit(session, committed, {TEMP_GONE: True, **temp} if resumes else temp)
        _settle(event, committed, containers, temp)
        stored: dict[str, Any] = committed.actions.state_delta
        if stored or temp:
            apply_delta(session.state, {**stored, **structural_copy(containers), **temp} if containers or temp else stored)
        events = session.events
        if isinstance(events, EventList):
            events.add_stored(committed, row)
        else:
            events.append(committed)
        session.last_update_time = fields["timestamp"]
        return event

    async def _commit(self, session: Session, event: Event, temp: dict[str, Any]) -> StoredRow | None:
        """Store a checked event and its deltas in one transaction, without changing `session`.

        Args:
            session: the caller's session object.
            event: the event, without `temp:` keys.
            temp: the event's `temp:` keys, any objects; a service may store only a readable trace of them, for the debugger.

        Returns:
            The event as the session's list decodes it, if it can, so that long runs need not keep every event decoded.
        """
        return None

    async def store_copy(self, key: SessionKey, copy: SessionCopy) -> None:
        """Store a copy of a session under another key, all of it or nothing.

        Args:
            key: the new session.
            copy: its content; shared keys that already exist keep their values.

        Raises:
            AlreadyExistsError: the key is taken.
            StorageError: this service cannot store copies.
        """
        raise StorageError(f"{type(self).__name__} cannot store a copy of a session.")

    async def temp_deltas(self, key: SessionKey) -> dict[str, dict[str, Any]]:
        """Return the `temp:` keys set by the session's events, by event id, as far as this service kept them for the debugger."""
        return {}

    async def record_end(self, key: SessionKey, invocation_id: str, end: RecordedEnd) -> None:
        """Record how the last run of an invocation ended, in place of an earlier record. A service need not keep such records.

        Args:
            key: the session; nothing is recorded if it does not exist.
            invocation_id: the invocation.
            end: its end.
        """
        return None

    async def recorded_ends(self, key: SessionKey) -> dict[str, RecordedEnd]:
        """Return the recorded ends of a session's invocations, by invocation id."""
        return {}

    async def set_note(self, key: SessionKey, event_id: str, note: Note) -> None:
        """Store a note on an event in place of an earlier one; an empty note deletes it. Events never change.

        Args:
            key: the session.
            event_id: the event.
            note: the note, with a text of `note.checked_text`.

        Raises:
            SessionNotFoundError: the session does not exist.
            StorageError: this service keeps no notes.
        """
        raise StorageError(f"{type(self).__name__} keeps no notes.")

    async def notes(self, key: SessionKey) -> dict[str, Note]:
        """Return the notes on a session's events, by event id."""
        return {}

    async def first_state(self, key: SessionKey) -> dict[str, Any] | None:
        """Return the session's own initial state, without `user:` and `app:` keys; None if this service did not record it."""
        return None

    async def flush(self) -> None:
        """Store buffered events; the services here have none, as each event is stored when it is appended."""
        return None

    async def close(self) -> None:
        """Release files and connections; a closed service cannot be used again."""
        return None

    async def __aenter__(self) -> BaseSessionService:
        """Return the service itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the service."""
        await self.close()


async def load_for_run(service: BaseSessionService, *, app_name: str, user_id: str, session_id: str) -> Session | None:
    """Return a session for a run by `session_for_run`, or by a `get_session` that the service overrides; None if it does not exist.

    An application's subclass of a service here may load sessions in a way of its own, and knows `get_session` only.
    """
    load = service.get_session if _loads_its_own_way(service) else service.session_for_run
    return await load(app_name=app_name, user_id=user_id, session_id=session_id)


def _loads_its_own_way(service: BaseSessionService) -> bool:
    if "get_session" in vars(service):
        return True
    for kind in type(service).__mro__:
        if "session_for_run" in vars(kind):
            return False
        if "get_session" in vars(kind):
            return True
    return True  # a mock


def check_state(state: dict[str, Any]) -> dict[str, Any]:
    """Return an independent, storable copy of an initial state, without `temp:` keys.

    Raises:
        UnstorableValueError: a value cannot be stored.
    """
    return {key: storable(value, ("state", key)) for key, value in state.items() if not _checked_key(key).startswith(State.TEMP_PREFIX)}


def _snapshot(event: Event) -> tuple[Event, dict[str, Any], dict[str, Any]]:
    """Return an independent copy of an event as it is stored, the part of its delta that can change in place, and the `temp:` part.

    The copy's delta lacks the `temp:` part.

    Raises:
        UnstorableValueError: a value of its delta, checkpoint or metadata cannot be stored.
    """
    fields = event.__dict__
    actions, metadata = fields["actions"], fields["custom_metadata"]
    of_actions = actions.__dict__
    given, checkpoint = of_actions["state_delta"], of_actions["agent_state"]
    delta: dict[str, Any] = {}
    containers: dict[str, Any] = {}
    temp: dict[str, Any] = {}
    for key, value in given.items():
        if is_plain(value) and type(key) is str and key.isascii() and ":" not in key:
            delta[key] = value  # the common case needs neither a copy nor a check
        elif _checked_key(key).startswith(State.TEMP_PREFIX):
            temp[key] = value
        else:
            delta[key] = containers[key] = storable(value, ("state", key))
    replaced: dict[str, Any] = {"state_delta": delta}
    if checkpoint is not None:
        replaced["agent_state"] = storable(checkpoint, f"agent_state of {event.author}")
    copied: dict[str, Any] = {"actions": copy_with(actions, replaced)}
    if metadata is not None:
        copied["custom_metadata"] = storable(metadata, "custom_metadata")
    return copy_with(event, copied), containers, temp


def _settle(event: Event, committed: Event, containers: dict[str, Any], temp: dict[str, Any]) -> None:
    """Replace the values of a committed event that its agent may still hold and change."""
    fields = event.__dict__
    actions = fields["actions"]
    for key in temp:
        del actions.state_delta[key]
    if containers:
        apply_delta(actions.state_delta, structural_copy(containers))
    if actions.agent_state is not None:
        actions.agent_state = structural_copy(committed.actions.agent_state)
    if fields["custom_metadata"] is not None:
        event.custom_metadata = structural_copy(committed.custom_metadata)


def _checked_key(key: Any) -> str:
    if not isinstance(key, str):
        raise UnstorableValueError(f"state[{key!r}]", f"the key is a {type(key).__name__}; keys are strings")
    return checked_text(key, f"state[{key!r}]")
