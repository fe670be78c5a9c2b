"""What every session service promises."""

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
from runtime.sessions.event_list import EventList
from runtime.sessions.lineage import SessionCopy
from runtime.sessions.session import Session, SessionKey
from runtime.sessions.state import State, apply_delta, checked_text, independent, is_plain, storable
from runtime.support.ids import new_uuid


class GetSessionConfig(BaseModel):
    """Which events `get_session` loads.

    Attributes:
        num_recent_events: only the last n (0: none).
        after_timestamp: only events at or after this time, epoch seconds. Both given: filtered by time, then the last n.
    """

    num_recent_events: int | None = Field(default=None, ge=0)
    after_timestamp: float | None = None


class ListSessionsResponse(BaseModel):
    """Sessions without their events.

    Attributes:
        sessions: with merged state, events left out.
    """

    model_config = ConfigDict(defer_build=True)

    sessions: list[Session] = Field(default_factory=list)


class BaseSessionService(abc.ABC):
    """Keeps sessions. The sessions it returns are copies: changing one changes nothing that is kept.

    The one way to change a session is `append_event`: history and every delta of the event are kept together or not at all, and the
    caller's session object changes only after that (seed: session-state, "Lo que Hace append_event").
    """

    @abc.abstractmethod
    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """Create a session.

        Args:
            app_name: the app.
            user_id: the user.
            state: the first state, keys with scope prefixes; `temp:` keys are dropped.
            session_id: its id; a new one if None or blank.

        Raises:
            AlreadyExistsError: the id is taken.
            UnstorableValueError: a value of `state` cannot be stored.
        """

    @abc.abstractmethod
    async def get_session(self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None) -> Session | None:
        """Return the session with its events, or None if there is none.

        Args:
            app_name, user_id, session_id: which one.
            config: which of its events; all of them if None.
        """

    async def session_for_run(self, *, app_name: str, user_id: str, session_id: str) -> Session | None:
        """Return the session for a run, or None if there is none.

        As `get_session`, but its events may be the service's own, so that a long session is not decoded or copied for each turn: they are
        to be read, and changed by `append_event` only. (A list that was changed otherwise is not used for the next run.)

        Args:
            app_name, user_id, session_id: which one.
        """
        return await self.get_session(app_name=app_name, user_id=user_id, session_id=session_id)

    @abc.abstractmethod
    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None, limit: int | None = None, after: SessionKey | None = None
    ) -> ListSessionsResponse:
        """Return an app's sessions, without events, by user and id; all of them, or a page.

        The next page begins after the last session of the one before, `after=page.sessions[-1].key`: also if that one is gone by then, and
        whatever was created meanwhile, none is left out or told twice. (google-adk's services know neither `limit` nor `after`.)

        Args:
            app_name: the app.
            user_id: whose; all users' if None.
            limit: at most so many.
            after: only those after this one; of one user's sessions, those with a later id.
        """

    @abc.abstractmethod
    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete the session and its events; nothing happens if it does not exist."""

    async def append_event(self, session: Session, event: Event) -> Event:
        """Commit an event: its place in history and all its deltas, or nothing.

        A partial event is returned untouched and changes nothing (seed: runtime-event-loop, "Salida Streaming vs. No-Streaming"). A
        missing id or timestamp is filled in. `temp:` keys reach `session.state` for the rest of the invocation and are not part of history.

        Args:
            session: as this service returned it; brought up to date on success.
            event: what to commit; its `temp:` keys are removed from it once they are in `session.state`.

        Returns:
            The committed event.

        Raises:
            UnstorableValueError: something in the event cannot be stored.
            StaleSessionError: another writer appended to this session since it was loaded (services that several processes share).
            SessionNotFoundError: the session is gone.
        """
        if event.partial:
            return event
        if not event.id:
            event.id = new_uuid()
        if not event.timestamp:
            event.timestamp = time.time()
        check_storable(event)
        temp = check_actions(event)
        await self._commit(session, event, {TEMP_GONE: True, **temp} if begins_resumed_run(event) else temp)
        # Copies: an agent that changes a value in place (`state["cart"].append(…)`) must not change the past.
        apply_delta(session.state, independent(event.actions.state_delta))
        if temp:
            apply_delta(session.state, temp)
        if isinstance(session.events, EventList):
            session.events.add_committed((event,))
        else:
            session.events.append(event)
        session.last_update_time = event.timestamp
        return event

    async def _commit(self, session: Session, event: Event, temp: dict[str, Any]) -> None:
        """Store a checked event and its deltas in one transaction; leave `session` alone.

        Args:
            session: as the caller holds it.
            event: its delta without `temp:` keys.
            temp: the event's `temp:` keys, any objects; a service may keep a readable trace of them for the debugger, nothing else.
        """
        return None

    async def store_copy(self, key: SessionKey, copy: SessionCopy) -> None:
        """Store a copy of a session under another name, all of it or nothing.

        Args:
            key: the new session.
            copy: what it has; shared keys that exist already stay as they are.

        Raises:
            AlreadyExistsError: the name is taken.
            StorageError: this service cannot store copies.
        """
        raise StorageError(f"{type(self).__name__} cannot store a copy of a session.")

    async def temp_deltas(self, key: SessionKey) -> dict[str, dict[str, Any]]:
        """Return the `temp:` keys that the session's events set, by event id, as far as this service kept them (for the debugger)."""
        return {}

    async def first_state(self, key: SessionKey) -> dict[str, Any] | None:
        """Return the session's own state (no `user:` or `app:` keys) when it was created; None if this service has not recorded it."""
        return None

    async def close(self) -> None:
        """Let go of files and connections; a closed service cannot be used again."""
        return None

    async def __aenter__(self) -> BaseSessionService:
        """Return the service itself."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the service."""
        await self.close()


def check_state(state: dict[str, Any]) -> dict[str, Any]:
    """Return an independent, storable copy of a first state, `temp:` keys dropped.

    Raises:
        UnstorableValueError: a value cannot be stored.
    """
    return {key: storable(value, ("state", key)) for key, value in state.items() if not _checked_key(key).startswith(State.TEMP_PREFIX)}


def check_actions(event: Event) -> dict[str, Any]:
    """Make an event's actions safe to store: its delta and checkpoint become independent copies.

    Returns:
        The `temp:` part of the delta, taken out of the event.

    Raises:
        UnstorableValueError: a value cannot be stored; the event is left as it was.
    """
    actions = event.actions
    temp: dict[str, Any] = {}
    delta: dict[str, Any] = {}
    for key, value in actions.state_delta.items():
        if is_plain(value) and type(key) is str and key.isascii() and ":" not in key:
            continue  # the common case needs neither a copy nor a check
        if _checked_key(key).startswith(State.TEMP_PREFIX):
            temp[key] = value
        else:
            delta[key] = storable(value, ("state", key))
    if actions.agent_state is not None:
        actions.agent_state = storable(actions.agent_state, f"agent_state of {event.author}")
    if event.custom_metadata is not None:
        event.custom_metadata = storable(event.custom_metadata, "custom_metadata")
    if delta:
        apply_delta(actions.state_delta, delta)
    for key in temp:
        del actions.state_delta[key]
    return temp


def _checked_key(key: Any) -> str:
    if not isinstance(key, str):
        raise UnstorableValueError(f"state[{key!r}]", f"the key is a {type(key).__name__}; keys are strings")
    return checked_text(key, f"state[{key!r}]")
