"""An engine that runs an agent in this process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from google.genai import types

from inspector_app.engines.watched_service import WatchedSessionService
from runtime.agents.base_agent import BaseAgent
from runtime.apps.app import App
from runtime.artifacts.base_artifact_service import BaseArtifactService
from runtime.contexts.run_config import RunConfig, StreamingMode
from runtime.events.event import Event
from runtime.forks.recording import Recording
from runtime.forks.rerun import Rerun
from runtime.memory.base_memory_service import BaseMemoryService
from runtime.plugins.base_plugin import BasePlugin
from runtime.runners import Runner
from runtime.sessions.base_session_service import BaseSessionService
from runtime.sessions.session import SessionKey

TITLE = "embedded runtime"


class EmbeddedEngine:
    """Runs one app on one session service.

    Args:
        app: the app to run.
        service: stores its sessions.
        files: stores its artifacts.
        on_commit: called right after each commit with the event, the user's message included, and the `temp:` keys it set.
        memory: the agents' memory across sessions, if any.
        plugins: the debugger's plugins; they are called before the app's own, in this order.
    """

    def __init__(
        self,
        app: App,
        service: BaseSessionService,
        files: BaseArtifactService,
        on_commit: Callable[[Event, dict[str, Any]], None],
        plugins: Sequence[BasePlugin] = (),
        *,
        memory: BaseMemoryService | None = None,
    ) -> None:
        self._app = app
        self._service = service
        watched = WatchedSessionService(service, on_commit)
        self._runner = Runner(app=app, session_service=watched, artifact_service=files, memory_service=memory)
        for plugin in reversed(plugins):
            self._runner.plugin_manager.register_plugin(plugin, first=True)

    @classmethod
    def without_agent(
        cls, app_name: str, service: BaseSessionService, files: BaseArtifactService, on_commit: Callable[[Event, dict[str, Any]], None]
    ) -> EmbeddedEngine:
        """Return an engine that edits state and runs no agent, for sessions whose agent is not loaded."""
        return cls(App(name=app_name, root_agent=BaseAgent(name="nobody")), service, files, on_commit)

    async def new_session(self, user_id: str) -> SessionKey:
        """Create an empty session of the app."""
        session = await self._service.create_session(app_name=self._app.name, user_id=user_id)
        return session.key

    def run(self, key: SessionKey, message: types.Content | None, invocation_id: str | None = None) -> AsyncGenerator[Event, None]:
        """Run, resume or answer; see `Runner.run_async`.

        Args:
            key: the session.
            message: the user's message or answer.
            invocation_id: the invocation to resume; None starts a new one, or resumes the one that the answer belongs to.
        """
        return self._runner.run_async(
            user_id=key.user_id,
            session_id=key.session_id,
            invocation_id=invocation_id,
            new_message=message,
            run_config=RunConfig(streaming_mode=StreamingMode.SSE),
        )

    def rerun(self, key: SessionKey, recording: Recording) -> Rerun:
        """Return a recorded run that can be repeated in a fork."""
        return Rerun(self._runner, key, recording, RunConfig(streaming_mode=StreamingMode.SSE))

    async def rewind(self, key: SessionKey, invocation_id: str) -> None:
        """Rewind an invocation and all later ones; see `Runner.rewind_async`."""
        await self._runner.rewind_async(user_id=key.user_id, session_id=key.session_id, rewind_before_invocation_id=invocation_id)

    async def edit_state(self, key: SessionKey, changes: dict[str, Any]) -> Event:
        """Set state keys manually; see `Runner.edit_state`."""
        return await self._runner.edit_state(user_id=key.user_id, session_id=key.session_id, changes=changes)

    async def undo_state_edit(self, key: SessionKey, event_id: str) -> Event:
        """Undo a manual edit; see `Runner.undo_state_edit`."""
        return await self._runner.undo_state_edit(user_id=key.user_id, session_id=key.session_id, event_id=event_id)

    async def report_progress(self, key: SessionKey, call_id: str, response: dict[str, Any]) -> Event:
        """Report the progress of a long-running call; see `Runner.report_progress`."""
        return await self._runner.report_progress(user_id=key.user_id, session_id=key.session_id, call_id=call_id, response=response)

    async def cancel_open_calls(self, key: SessionKey, invocation_id: str, edits: dict[str, Any]) -> list[Event]:
        """Answer the calls that a stopped run left unanswered; see `Runner.cancel_open_calls`."""
        return await self._runner.cancel_open_calls(
            user_id=key.user_id, session_id=key.session_id, invocation_id=invocation_id, edits=edits
        )
