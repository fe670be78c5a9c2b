"""The commands about sessions."""

from __future__ import annotations

import json
from typing import Any

from . import google_adk
from .current_run import CurrentRun
from .driving import Driver
from .errors import WorkerError
from .plugin_file import plugin


class Sessions:
    """Answers commands from google-adk's session service and Runner."""

    def __init__(self, service: Any, runner: Any, run: CurrentRun, driver: Driver) -> None:
        self._service = service
        self._runner = runner
        self._run = run
        self._driver = driver

    async def create(self, command: dict[str, Any]) -> dict[str, Any]:
        """Return a new session."""
        options = {key: command[key] for key in ("state", "session_id") if command.get(key) is not None}
        session = await self._service.create_session(app_name=self._runner.app_name, user_id=command["user_id"], **options)
        return _session_json(session)

    async def get(self, command: dict[str, Any]) -> dict[str, Any] | None:
        """Return a session with its events; None if it does not exist."""
        session = await self._service.get_session(**self._names(command))
        return _session_json(session) if session is not None else None

    async def append_event(self, command: dict[str, Any]) -> dict[str, Any]:
        """Append an event that no agent yielded; return it as it is stored."""
        session = self._run.session if command["session_id"] == self._run.run.session_id else None
        if session is None:
            session = await self._service.get_session(**self._names(command))
        if session is None:
            raise WorkerError(f"There is no session {command['session_id']}.")
        event = google_adk.required("google.adk.events.event", "Event").model_validate_json(json.dumps(command["event"]))
        stored: dict[str, Any] = json.loads(plugin.event_json(await self._driver.append(self._service, session, event)))
        return stored

    async def rewind(self, command: dict[str, Any]) -> None:
        """Take back an invocation and all later ones."""
        self._driver.check_idle()
        if not hasattr(self._runner, "rewind_async"):
            raise WorkerError(f"{google_adk.engine_name_first()} cannot rewind; google-adk 1.17 and later can.")
        where = {"user_id": command["user_id"], "session_id": command["session_id"]}
        await self._runner.rewind_async(**where, rewind_before_invocation_id=command["invocation_id"])

    def _names(self, command: dict[str, Any]) -> dict[str, str]:
        return {"app_name": self._runner.app_name, "user_id": command["user_id"], "session_id": command["session_id"]}


def _session_json(session: Any) -> dict[str, Any]:
    return {
        "app_name": session.app_name,
        "user_id": session.user_id,
        "id": session.id,
        "state": session.state,
        "last_update_time": session.last_update_time,
        "events": [json.loads(plugin.event_json(event)) for event in session.events],
    }
