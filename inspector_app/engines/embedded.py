"""An engine that runs an agent in this process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any

from google.genai import types

from inspector_app.engines.adk_worker.plugin_file import plugin
from inspector_app.engines.protocol import AgentDescription, Capability
from runtime.agents.base_agent import BaseAgent
from runtime.apps.app import App
from runtime.artifacts.base_artifact_service import BaseArtifactService
from runtime.contexts.run_config import RunConfig, StreamingMode
from runtime.debugger.debugger import Debugger
from runtime.debugger.interception import Interception
from runtime.events.event import Event
from runtime.forks.recording import Recording
from runtime.forks.rerun import Rerun
from runtime.memory.base_memory_service import BaseMemoryService
from runtime.plugins.base_plugin import BasePlugin
from runtime.runners import Runner
from runtime.sessions.base_session_service import BaseSessionService, load_for_run
from runtime.sessions.session import Session
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import State

TITLE = "embedded runtime"


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

    title = TITLE
    leaves_threads = True

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
        self._plugins = plugins
        watched: Any = WatchedSessionService(service, on_commit)  # a service by registration
        self._interception: Interception | None = None
        self._runner = Runner(app=app, session_service=watched, artifact_service=files, memory_service=memory)
        for each in reversed(plugins):
            self._runner.plugin_manager.register_plugin(each, first=True)

    @classmethod
    def without_agent(
        cls, app_name: str, service: BaseSessionService, files: BaseArtifactService, on_commit: Callable[[Event, dict[str, Any]], None]
    ) -> EmbeddedEngine:
        """Return an engine that edits state and runs no agent, for sessions whose agent is not loaded."""
        return cls(App(name=app_name, root_agent=BaseAgent(name="nobody")), service, files, on_commit)

    @property
    def agent(self) -> AgentDescription:
        """The agent that it runs."""
        resumability = self._app.resumability_config
        is_resumable = resumability is not None and resumability.is_resumable
        return AgentDescription(self._app.name, "", is_resumable, plugin.describe_agent(self._app.root_agent))

    @property
    def unmarked_edits(self) -> dict[str, Any]:
        """See `Interception.unmarked_edits`."""
        return self._interception.unmarked_edits if self._interception is not None else {}

    def why_not(self, capability: Capability) -> str | None:
        """Return a sentence that says why the engine cannot do something; None if it can."""
        if capability == "resume" and not self.agent.resumable:
            return "The app is not resumable: its App has no ResumabilityConfig(is_resumable=True)."
        return None

    def attach(self, debugger: Debugger) -> None:
        """Let a debugger hold the next run. Pass that run to `Debugger.run`."""
        manager = self._runner.plugin_manager
        if self._interception is not None:
            manager.remove_plugin(self._interception)
        self._interception = Interception(debugger)
        for each in (self._interception, *reversed(self._plugins)):  # the given plugins see a call before it is held
            if each is not self._interception:
                manager.remove_plugin(each)
            manager.register_plugin(each, first=True)

    async def close(self) -> None:
        """Do nothing: the session service belongs to its database, the agent to its loader."""

    async def new_session(self, user_id: str, state: Mapping[str, Any] | None = None, session_id: str | None = None) -> SessionKey:
        """Create a session of the app without events; see `Engine.new_session`."""
        given = dict(state or {})
        session = await self._service.create_session(app_name=self._app.name, user_id=user_id, state=given, session_id=session_id)
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

    def rerun(self, key: SessionKey, recording: Recording, *, runs_tools: bool = False, strict: bool = False) -> Rerun:
        """Return a recorded run that can be repeated in a fork; see `Engine.rerun`."""
        config = RunConfig(streaming_mode=StreamingMode.SSE)
        return Rerun(self._runner, key, recording, config, runs_tools=runs_tools, strict=strict)

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
