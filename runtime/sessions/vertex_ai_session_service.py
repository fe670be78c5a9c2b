"""Sessions in an Agent Engine of Google Cloud."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from google.auth.credentials import Credentials

from runtime.errors.already_exists_error import AlreadyExistsError
from runtime.errors.input_validation_error import InputValidationError
from runtime.errors.not_found_error import NotFoundError, SessionNotFoundError
from runtime.errors.storage_error import StaleSessionError
from runtime.events.event import Event
from runtime.sessions.agent_engine_client import AgentEngineClient, ConflictError
from runtime.sessions.agent_engine_events import from_api, time_of, to_api
from runtime.sessions.base_session_service import BaseSessionService, GetSessionConfig, ListSessionsResponse, check_state
from runtime.sessions.session import Session, SessionKey
from runtime.sessions.state import same_value
from runtime.support.worker_threads import run_in_thread

_ENGINE = re.compile(r"projects/([\w-]+)/locations/([\w-]+)/reasoningEngines/(\d+)")
_SESSION_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")
_SCHEME = "agentengine://"


class VertexAiSessionService(BaseSessionService):
    """Stores sessions in an Agent Engine. The server has no condition for an append, so a stale copy is not noticed.

    Args:
        project, location: the Google Cloud project and its location; None: `GOOGLE_CLOUD_PROJECT` and `GOOGLE_CLOUD_LOCATION`.
        agent_engine_id: the engine of all apps; None: each app's name is the id or the resource name of its engine.
        express_mode_api_key: an express mode key in place of project, location and credentials.
        credentials: None: the application default credentials.

    Raises:
        StorageError: the project or the location is missing.
    """

    def __init__(
        self,
        project: str | None = None,
        location: str | None = None,
        agent_engine_id: str | None = None,
        *,
        express_mode_api_key: str | None = None,
        credentials: Credentials | None = None,
    ) -> None:
        self._client = AgentEngineClient(project, location, api_key=express_mode_api_key, credentials=credentials)
        self._agent_engine_id = agent_engine_id

    @classmethod
    def of_uri(cls, uri: str) -> VertexAiSessionService:
        """Return the service of `agentengine://ID` or `agentengine://projects/P/locations/L/reasoningEngines/ID`.

        Raises:
            InputValidationError: the URI is neither.
            StorageError: the project or the location is missing.
        """
        name = uri.removeprefix(_SCHEME)
        if match := _ENGINE.fullmatch(name):
            return cls(*match.groups())
        if not name.isdecimal():
            raise InputValidationError(f"{uri} names no Agent Engine. Write {_SCHEME}projects/P/locations/L/reasoningEngines/ID.")
        return cls(agent_engine_id=name)

    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None, **kwargs: Any
    ) -> Session:
        """See `BaseSessionService.create_session`.

        Args:
            app_name, user_id, state, session_id: see there.
            **kwargs: fields of the new session, such as `ttl="7200s"` or `expire_time`.
        """
        chosen = (session_id or "").strip()
        if chosen:
            _check_id(chosen)
        initial = check_state(state or {})
        return await run_in_thread(lambda: self._create(app_name, user_id, initial, chosen, kwargs))

    async def get_session(self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None) -> Session | None:
        """See `BaseSessionService.get_session`."""
        key = SessionKey(app_name, user_id, session_id)
        return await run_in_thread(lambda: self._get(key, config or GetSessionConfig()))

    async def list_sessions(
        self, *, app_name: str, user_id: str | None = None, limit: int | None = None, after: SessionKey | None = None
    ) -> ListSessionsResponse:
        """See `BaseSessionService.list_sessions`. The server lists by time, so every page reads the whole list."""
        sessions = await run_in_thread(lambda: self._list(app_name, user_id))
        if after is not None:
            first = (user_id or after.user_id, after.session_id)
            sessions = [session for session in sessions if (session.user_id, session.id) > first]
        return ListSessionsResponse(sessions=sessions[:limit])

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """See `BaseSessionService.delete_session`."""
        key = SessionKey(app_name, user_id, session_id)
        await run_in_thread(lambda: self._delete(key))

    async def close(self) -> None:
        """See `BaseSessionService.close`."""
        self._client.close()

    async def _commit(self, session: Session, event: Event, temp: dict[str, Any]) -> None:
        if any(other.id == event.id for other in session.events):
            raise StaleSessionError(f"Event {event.id} is already part of session {session.id}.")
        await run_in_thread(lambda: self._append(session.key, event))

    def _engine(self, app_name: str) -> str:
        """Return the resource name of an app's engine.

        Raises:
            InputValidationError: the app's name names none, and the service has none.
        """
        match = _ENGINE.fullmatch(app_name)
        number = self._get_reasoning_engine_id(app_name)
        place = f"projects/{match[1]}/locations/{match[2]}" if match and not self._agent_engine_id else self._client.place
        return f"{place}/reasoningEngines/{number}".lstrip("/")

    def _get_reasoning_engine_id(self, app_name: str) -> str:
        """Return the id of an app's engine; a subclass may map names in another way, as in google-adk."""
        match = _ENGINE.fullmatch(app_name)
        number = self._agent_engine_id or (match[3] if match else app_name)
        if not number.isdecimal():
            raise InputValidationError(
                f"The app {app_name!r} names no Agent Engine. Give the service an agent_engine_id, or the app the engine's id as its name."
            )
        return number

    def _name(self, key: SessionKey) -> str:
        return f"{self._engine(key.app_name)}/sessions/{key.session_id}"

    def _create(self, app_name: str, user_id: str, state: dict[str, Any], session_id: str, more: dict[str, Any]) -> Session:
        names = {"expire_time": "expireTime", "display_name": "displayName"}
        body = {"userId": user_id, **({"sessionState": state} if state else {}), **{names.get(k, k): v for k, v in more.items()}}
        engine = self._engine(app_name)
        try:
            operation = self._client.ask("POST", f"{engine}/sessions", body, {"sessionId": session_id} if session_id else None)
            name = str(self._client.finished(operation)["response"]["name"])
        except ConflictError as error:
            name = f"{engine}/sessions/{session_id}"
            # After a lost answer it may be this very session that is there.
            if not (error.args[1:] == (True,) and self._is_new(name, user_id, state)):
                raise AlreadyExistsError(f"Session with id {session_id} already exists.") from error
        found = self._client.ask("GET", name)
        return _session(app_name, found)

    def _is_new(self, name: str, user_id: str, state: dict[str, Any]) -> bool:
        found = self._client.ask("GET", name)
        own = {key: value for key, value in (found.get("sessionState") or {}).items() if key in state}
        events = self._client.all_of(f"{name}/events", "sessionEvents", {})
        return found.get("userId") == user_id and same_value(own, state) and next(events, None) is None

    def _get(self, key: SessionKey, config: GetSessionConfig) -> Session | None:
        found = self._found(key)
        if found is None:
            return None
        session = _session(key.app_name, found)
        if config.num_recent_events != 0:
            query = {} if config.after_timestamp is None else {"filter": f'timestamp>="{_text(config.after_timestamp)}"'}
            try:
                events = [from_api(event) for event in self._client.all_of(f"{self._name(key)}/events", "sessionEvents", query)]
            except NotFoundError:
                return None  # deleted meanwhile
            session.events.extend(events[-config.num_recent_events :] if config.num_recent_events else events)
            if session.events:
                session.last_update_time = session.events[-1].timestamp
        return session

    def _found(self, key: SessionKey) -> dict[str, Any] | None:
        """Return a session's resource; None if it does not exist, or belongs to another user."""
        if not _SESSION_ID.fullmatch(key.session_id):
            return None
        try:
            found = self._client.ask("GET", self._name(key))
        except NotFoundError:
            return None
        return found if found.get("userId") == key.user_id else None

    def _list(self, app_name: str, user_id: str | None) -> list[Session]:
        query = {} if user_id is None else {"filter": f"user_id={_quoted(user_id)}"}
        try:
            found = [_session(app_name, item) for item in self._client.all_of(f"{self._engine(app_name)}/sessions", "sessions", query)]
        except NotFoundError:
            return []
        chosen = (session for session in found if user_id in (None, session.user_id))
        return sorted(chosen, key=lambda session: (session.user_id, session.id))

    def _delete(self, key: SessionKey) -> None:
        if self._found(key) is None:
            return
        try:
            self._client.finished(self._client.ask("DELETE", self._name(key)))
        except NotFoundError:
            return  # deleted meanwhile

    def _append(self, key: SessionKey, event: Event) -> None:
        _check_id(key.session_id)
        name = self._name(key)
        try:
            self._client.ask("POST", f"{name}:appendEvent", to_api(event), is_done=lambda: self._is_stored(name, event))
        except NotFoundError as error:
            raise SessionNotFoundError(f"Session not found: {key.session_id}") from error

    def _is_stored(self, name: str, event: Event) -> bool:
        """Return whether an append whose answer was lost was carried out."""
        query = {"filter": f'timestamp>="{_text(event.timestamp - 1)}"'}
        return any(from_api(found).id == event.id for found in self._client.all_of(f"{name}/events", "sessionEvents", query))


def _session(app_name: str, found: dict[str, Any]) -> Session:
    return Session(
        app_name=app_name,
        user_id=str(found.get("userId", "")),
        id=str(found.get("name", "")).rpartition("/")[2],
        state=found.get("sessionState") or {},
        last_update_time=time_of(found.get("updateTime")) or 0.0,
    )


def _check_id(session_id: str) -> None:
    if not _SESSION_ID.fullmatch(session_id):
        raise InputValidationError(f"{session_id!r} cannot be the id of a session here: use letters, digits, - and _, at most 128.")


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _text(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
