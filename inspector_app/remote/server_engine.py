"""The engine that lets a server run its agent: a message goes to `/run_sse`, and the events come back as they are committed."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

from google.genai import types

from inspector_app.engines.protocol import AgentDescription, Capability, OnCommit
from inspector_app.remote.adk_server import AdkServer
from inspector_app.remote.mirror import Mirror
from inspector_app.remote.store import RemoteSession, take_temp
from runtime.debugger.debugger import Debugger
from runtime.errors.not_found_error import NotFoundError
from runtime.errors.storage_error import StorageError
from runtime.events.event import Event
from runtime.forks.recording import Recording
from runtime.forks.session_replay import Repeat
from runtime.sessions.session_key import SessionKey
from runtime.storage.layouts.decode import parse_event
from runtime.support.bounded import parse
from runtime.support.worker_threads import run_in_thread

WHOLE_EVENTS = "-"  # any id of a call's event: without one, the server sends an event with new files in two pieces


class ServerRunError(StorageError):
    """The agent failed in the server; the message is the server's."""


class ServerEngine:
    """Runs one app of a server; see `Engine`. To hold it means to read no further event: the server may continue until it cannot send.

    Args:
        server: the server.
        mirror: the copy of its sessions, which does not follow a session during its run.
        agent: the app.
        title: a phrase for the status bar.
        on_commit: see `OnCommit`.
    """

    def __init__(self, server: AdkServer, mirror: Mirror, agent: AgentDescription, title: str, on_commit: OnCommit) -> None:
        self._server = server
        self._mirror = mirror
        self._on_commit = on_commit
        self.agent = agent
        self.title = title
        self.unmarked_edits: dict[str, Any] = {}
        self.leaves_threads = False

    def why_not(self, capability: Capability) -> str | None:
        """See `Engine.why_not`."""
        return why_not(capability)

    def attach(self, debugger: Debugger) -> None:
        """See `Engine.attach`: the debugger holds the events that this engine yields; calls are the server's own."""

    async def new_session(self, user_id: str, state: Mapping[str, Any] | None = None, session_id: str | None = None) -> SessionKey:
        """See `Engine.new_session`."""
        key = await run_in_thread(self._server.create_session, self.agent.app_name, user_id, session_id, dict(state or {}))
        await run_in_thread(self._mirror.bring, key)
        return key

    async def run(self, key: SessionKey, message: types.Content | None, invocation_id: str | None = None) -> AsyncGenerator[Event, None]:
        """Run, resume or answer; see `Engine.run`.

        Raises:
            StorageError: the server cannot be used, or ended the connection.
            ServerRunError: the agent failed.
        """
        before = await run_in_thread(self._session, key)
        known = {event.id: event for event in before.events}
        body: dict[str, Any] = {
            "appName": key.app_name,
            "userId": key.user_id,
            "sessionId": key.session_id,
            "streaming": True,
            "functionCallEventId": WHOLE_EVENTS,
        }
        if message is not None:
            body["newMessage"] = json.loads(message.model_dump_json(by_alias=True, exclude_none=True))
        if invocation_id is not None:
            body["invocationId"] = invocation_id
        is_first = True
        with self._mirror.left_alone(key):
            async with self._server.requests.streamed("/run_sse", body) as lines, aclosing(_events(lines)) as events:
                async for event in events:
                    if is_first:
                        is_first = False
                        await self._commit_message(key, event, known)
                    temp: dict[str, Any] = dict(take_temp(event))
                    if not event.partial and not self._commit(event, known, temp):
                        continue
                    yield event

    async def _commit_message(self, key: SessionKey, first: Event, known: dict[str, Event]) -> None:
        """Report the user's own events, which the server stores and does not send, before the first that it sends."""
        for event in (await run_in_thread(self._session, key)).events:
            if event.id == first.id:
                return
            if event.id not in known:
                if event.author != "user":
                    return
                self._commit(event, known)

    def _commit(self, event: Event, known: dict[str, Event], temp: dict[str, Any] | None = None) -> bool:
        """Report an event; return whether it is new. google-adk up to 1.25 always sends new files apart, with the same id."""
        if (same := known.get(event.id)) is not None:
            same.actions.artifact_delta.update(event.actions.artifact_delta)
            return False
        known[event.id] = event
        self._on_commit(event, temp or {})
        return True

    def _session(self, key: SessionKey) -> RemoteSession:
        found = self._server.session(key)
        if found is None:
            raise NotFoundError(f"{self._server.title} has no session {key.session_id} any more.")
        return found

    def rerun(self, key: SessionKey, recording: Recording, *, runs_tools: bool = False, strict: bool = False) -> Repeat:
        """Refuse; `why_not("rerun")` says why."""
        raise StorageError(why_not("rerun"))

    async def rewind(self, key: SessionKey, invocation_id: str) -> None:
        """Refuse; `why_not("rewind")` says why."""
        raise StorageError(why_not("rewind"))

    async def edit_state(self, key: SessionKey, changes: dict[str, Any]) -> Event:
        """See `Engine.edit_state`; the server makes the event."""
        before = {event.id for event in (await run_in_thread(self._session, key)).events}
        await run_in_thread(self._server.change_state, key, changes)
        new = [event for event in (await run_in_thread(self._session, key)).events if event.id not in before]
        if not new:
            raise StorageError(f"{self._server.title} did not store the change.")
        for event in new:
            self._on_commit(event, {})
        return new[-1]

    async def undo_state_edit(self, key: SessionKey, event_id: str) -> Event:
        """Refuse: the protocol cannot clear a key."""
        raise StorageError(f"{self._server.title} cannot undo an edit. Set the keys to their earlier values.")

    async def report_progress(self, key: SessionKey, call_id: str, response: dict[str, Any]) -> Event:
        """Refuse: the protocol runs the agent with each answer."""
        raise StorageError(f"{self._server.title} takes no progress, only the answer itself.")

    async def cancel_open_calls(self, key: SessionKey, invocation_id: str, edits: dict[str, Any]) -> list[Event]:
        """Do nothing: a server stops the run itself when the window stops listening."""
        return []

    async def close(self) -> None:
        """Do nothing: the connection belongs to the source of the sessions."""


async def _events(lines: Any) -> AsyncGenerator[Event, None]:
    async for line in lines:
        if not line.startswith(b"data:"):
            continue
        text = line[5:].strip()
        try:
            found = parse(text)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise StorageError("The server sent an event that is not JSON.")
        if "error" in found and "author" not in found:
            raise ServerRunError(f"The agent failed in the server: {found['error']}")
        yield parse_event(json.dumps(found))


def why_not(capability: Capability) -> str | None:
    """Return why a server cannot do something for a window, as a sentence; None if it can."""
    reasons: dict[Capability, str] = {
        "hold_calls": "A server makes its calls itself: they cannot be held. It is held between events.",
        "rewind": "A server's protocol has no rewind. Fork instead.",
        "edit_errors": "A server handles its errors itself.",
        "rerun": "A server cannot repeat a run with recorded answers.",
    }
    return reasons.get(capability)
