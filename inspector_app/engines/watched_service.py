"""A session service that reports each commit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from runtime.events.event import Event
from runtime.sessions.base_session_service import BaseSessionService, load_for_run
from runtime.sessions.session import Session
from runtime.sessions.state import State


@BaseSessionService.register
class WatchedSessionService:
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

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def session_for_run(self, *, app_name: str, user_id: str, session_id: str) -> Session | None:
        """See `BaseSessionService.session_for_run`."""
        return await load_for_run(self._inner, app_name=app_name, user_id=user_id, session_id=session_id)

    async def append_event(self, session: Session, event: Event) -> Event:
        """See `BaseSessionService.append_event`."""
        temp = {
            key: value for key, value in event.actions.state_delta.items() if isinstance(key, str) and key.startswith(State.TEMP_PREFIX)
        }
        await self._inner.append_event(session, event)
        if not event.partial:
            self._on_commit(session.events[-1], temp)  # the stored snapshot: the agent may change `event` later
        return event
