"""The session service of a server: what its protocol lets others do with its sessions."""

from __future__ import annotations

import json
from typing import Any

from inspector_app.remote.adk_server import AdkServer
from inspector_app.remote.mirror import Mirror
from runtime.errors.storage_error import StorageError
from runtime.events.event import Event
from runtime.sessions.base_session_service import BaseSessionService, GetSessionConfig, ListSessionsResponse
from runtime.sessions.lineage import SessionCopy
from runtime.sessions.session import Session, SessionKey
from runtime.support.worker_threads import run_in_thread


class ServerSessions(BaseSessionService):
    """Creates and deletes sessions through the protocol. Events are made by the server's own runs.

    Args:
        server: the server.
        mirror: the copy of its sessions, which is brought up to date with each change.
    """

    def __init__(self, server: AdkServer, mirror: Mirror) -> None:
        self._server = server
        self._mirror = mirror

    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """See `BaseSessionService.create_session`."""
        key = await self._create(app_name, user_id, session_id, state or {}, [])
        return Session(app_name=key.app_name, user_id=key.user_id, id=key.session_id, state=state or {})

    async def get_session(self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None) -> Session | None:
        """See `BaseSessionService.get_session`."""
        found = await run_in_thread(self._server.session, SessionKey(app_name, user_id, session_id))
        if found is None:
            return None
        events, wanted = list(found.events), config or GetSessionConfig()
        if wanted.num_recent_events is not None:
            events = events[-wanted.num_recent_events :] if wanted.num_recent_events else []
        if wanted.after_timestamp is not None:
            events = [event for event in events if event.timestamp >= wanted.after_timestamp]
        session = Session(app_name=app_name, user_id=user_id, id=session_id, state=dict(found.state), last_update_time=found.updated)
        session.events.extend(events)
        return session

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None, limit: int | None = None, after: SessionKey | None = None
    ) -> ListSessionsResponse:
        """See `BaseSessionService.list_sessions`."""
        listed = await run_in_thread(self._server.listed)
        keys = sorted(
            key for key in listed if key.app_name == app_name and user_id in (None, key.user_id) and (after is None or key > after)
        )
        sessions = [Session(app_name=key.app_name, user_id=key.user_id, id=key.session_id, last_update_time=listed[key]) for key in keys]
        return ListSessionsResponse(sessions=sessions[:limit])

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """See `BaseSessionService.delete_session`."""
        key = SessionKey(app_name, user_id, session_id)
        await run_in_thread(self._server.delete_session, key)
        await run_in_thread(self._mirror.bring, key)

    async def store_copy(self, key: SessionKey, copy: SessionCopy) -> None:
        """See `BaseSessionService.store_copy`; the server appends the events one by one."""
        events = [json.loads(event.model_dump_json(by_alias=True, exclude_none=True)) for event in copy.events]
        await self._create(key.app_name, key.user_id, key.session_id, copy.baseline if copy.baseline is not None else copy.state, events)

    async def _commit(self, session: Session, event: Event, temp: dict[str, Any]) -> None:
        raise StorageError(f"{self._server.title} stores the events of its own runs only.")

    async def _create(self, app: str, user: str, session_id: str | None, state: dict[str, Any], events: list[Any]) -> SessionKey:
        key = await run_in_thread(self._server.create_session, app, user, session_id, state, events)
        await run_in_thread(self._mirror.bring, key)
        return key
