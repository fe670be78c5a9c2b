"""A session service that reports each commit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.events.event import Event
from runtime.sessions.base_session_service import BaseSessionService, GetSessionConfig, ListSessionsResponse, load_for_run
from runtime.sessions.lineage import SessionCopy
from runtime.sessions.recorded_end import RecordedEnd
from runtime.sessions.session import Session, SessionKey
from runtime.sessions.state import State


class WatchedSessionService(BaseSessionService):
    """Delegates to another service and reports each committed event.

    The Runner does not yield the user's own message, and `temp:` keys are removed from an event before it is stored. The window shows both
    at the moment of the commit.

    Args:
        inner: stores the sessions; the caller closes it.
        on_commit: called with each committed event and the `temp:` keys it set.
    """

    def __init__(self, inner: BaseSessionService, on_commit: Callable[[Event, dict[str, Any]], None]) -> None:
        self._inner = inner
        self._on_commit = on_commit

    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """See `BaseSessionService.create_session`."""
        return await self._inner.create_session(app_name=app_name, user_id=user_id, state=state, session_id=session_id)

    async def get_session(self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None) -> Session | None:
        """See `BaseSessionService.get_session`."""
        return await self._inner.get_session(app_name=app_name, user_id=user_id, session_id=session_id, config=config)

    async def session_for_run(self, *, app_name: str, user_id: str, session_id: str) -> Session | None:
        """See `BaseSessionService.session_for_run`."""
        return await load_for_run(self._inner, app_name=app_name, user_id=user_id, session_id=session_id)

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None, limit: int | None = None, after: SessionKey | None = None
    ) -> ListSessionsResponse:
        """See `BaseSessionService.list_sessions`."""
        return await self._inner.list_sessions(app_name=app_name, user_id=user_id, limit=limit, after=after)

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """See `BaseSessionService.get_user_state`."""
        return await self._inner.get_user_state(app_name=app_name, user_id=user_id)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """See `BaseSessionService.delete_session`."""
        await self._inner.delete_session(app_name=app_name, user_id=user_id, session_id=session_id)

    async def append_event(self, session: Session, event: Event) -> Event:
        """See `BaseSessionService.append_event`."""
        temp = {
            key: value for key, value in event.actions.state_delta.items() if isinstance(key, str) and key.startswith(State.TEMP_PREFIX)
        }
        await self._inner.append_event(session, event)
        if not event.partial:
            self._on_commit(session.events[-1], temp)  # the stored snapshot: the agent may change `event` later
        return event

    async def temp_deltas(self, key: SessionKey) -> dict[str, dict[str, Any]]:
        """See `BaseSessionService.temp_deltas`."""
        return await self._inner.temp_deltas(key)

    async def record_end(self, key: SessionKey, invocation_id: str, end: RecordedEnd) -> None:
        """See `BaseSessionService.record_end`."""
        await self._inner.record_end(key, invocation_id, end)

    async def recorded_ends(self, key: SessionKey) -> dict[str, RecordedEnd]:
        """See `BaseSessionService.recorded_ends`."""
        return await self._inner.recorded_ends(key)

    async def first_state(self, key: SessionKey) -> dict[str, Any] | None:
        """See `BaseSessionService.first_state`."""
        return await self._inner.first_state(key)

    async def store_copy(self, key: SessionKey, copy: SessionCopy) -> None:
        """See `BaseSessionService.store_copy`."""
        await self._inner.store_copy(key, copy)
