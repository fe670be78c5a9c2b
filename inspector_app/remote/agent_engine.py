"""The sessions of an Agent Engine of Google Cloud."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import parse_qs

from inspector_app.remote.store import RemoteSession
from runtime.errors.known_error import KnownError
from runtime.errors.storage_error import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.storage.open_service import open_session_service


class AgentEngine:
    """The sessions of all users of an engine; see `RemoteStore`.

    An engine does not know the names of apps. Its sessions are listed under its id, or under `?app=NAME` in the URI, so that the agent of
    that name can continue them.

    Attributes:
        target, title, badge, note, files: see `RemoteStore`.

    Args:
        uri: `agentengine://` and the engine's id or resource name.

    Raises:
        KnownError: the URI is wrong, or the project or the location is missing.
    """

    badge = "Agent Engine"
    files = None

    def __init__(self, uri: str) -> None:
        engine, _, query = uri.partition("?")
        self._service = open_session_service(engine)
        self.target = uri
        self.title = engine.rpartition("/")[2]
        self._app = (parse_qs(query).get("app") or [self.title])[0]
        self.note = f"{engine}\nSessions of an Agent Engine in Google Cloud."

    def listed(self) -> dict[SessionKey, float]:
        """See `RemoteStore.listed`."""
        found = _now(self._service.list_sessions(app_name=self._app))
        return {session.key: session.last_update_time for session in found.sessions}

    def session(self, key: SessionKey) -> RemoteSession | None:
        """See `RemoteStore.session`."""
        found = _now(self._service.get_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id))
        return RemoteSession(dict(found.state), found.last_update_time, list(found.events)) if found is not None else None

    def close(self) -> None:
        """See `RemoteStore.close`."""
        _now(self._service.close())


def _now(work: Any) -> Any:
    """Wait for a coroutine on this thread.

    Raises:
        StorageError: the engine cannot be used.
    """
    try:
        return asyncio.run(work)
    except StorageError:
        raise
    except KnownError as error:
        raise StorageError(str(error)) from error
