"""An agent on any engine, for the commands that run it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from google.genai import types

from inspector_app.commands.child_runs import open_child
from inspector_app.commands.opening import open_runner, planned_engine
from inspector_app.commands.options.running import Eval, Run
from inspector_app.documents.session_files import files_of
from inspector_app.engines.agent_loader import LoadedAgent, load_agent
from inspector_app.engines.child_engine import ChildEngine
from inspector_app.engines.child_process import ChildEndedError
from inspector_app.engines.engine_choice import EnginePlan
from inspector_app.engines.protocol import Capability
from runtime.artifacts.base_artifact_service import BaseArtifactService
from runtime.contexts.run_config import RunConfig, StreamingMode
from runtime.events import Event
from runtime.forks.recording import Recording
from runtime.forks.rerun import Rerun
from runtime.forks.session_replay import Repeat
from runtime.history.run_ends import end_of
from runtime.runners import Runner
from runtime.sessions.base_session_service import BaseSessionService
from runtime.sessions.in_memory_session_service import InMemorySessionService
from runtime.sessions.recorded_end import RecordedEnd
from runtime.sessions.session_key import SessionKey
from runtime.storage.open_service import open_session_service


@asynccontextmanager
async def open_driven(options: Run | Eval) -> AsyncIterator[DrivenAgent]:
    """Yield the agent that the options name, on the engine that they choose.

    Raises:
        KnownError: the agent cannot be loaded, or its engine cannot use the database.
    """
    plan = planned_engine(options.agent, options.engine, options.python, options.debugpy)
    loaded = load_agent(options.agent) if plan.kind == "embedded" else None
    async with driven(plan, loaded, options.db, options.app) as agent:
        yield agent


@asynccontextmanager
async def driven(
    plan: EnginePlan,
    loaded: LoadedAgent | None,
    database: str | None,
    app_name: str | None = None,
    recording: Path | None = None,
    files: BaseArtifactService | None = None,
) -> AsyncIterator[DrivenAgent]:
    """Yield an agent that is ready to run, and release what it holds afterwards.

    Args:
        plan: what runs it.
        loaded: the agent, if it runs in this process.
        database: the path or URL of the sessions' database; None keeps them in memory.
        app_name: the app name of its sessions, if it runs in this process; None: its own.
        recording: the file in which model and tool calls are recorded; None: nowhere.
        files: stores the files, if it runs in this process; None: beside the database.

    Raises:
        KnownError: the agent cannot be loaded, or its engine cannot use the database.
    """
    if loaded is None:
        async with open_child(plan, database, recording) as engine:
            yield _InChild(plan, engine)
        return
    name = app_name or loaded.name
    service = open_session_service(database) if database else InMemorySessionService()
    async with service, open_runner(loaded, name, service, files or files_of(database), recording) as runner:
        yield _Here(plan, name, service, runner)


class _Here:
    """An agent in this process.

    Attributes:
        plan: what runs it.
        app_name: the app name of its sessions.
    """

    def __init__(self, plan: EnginePlan, app_name: str, service: BaseSessionService, runner: Runner) -> None:
        self.plan, self.app_name = plan, app_name
        self._service, self._runner = service, runner

    def why_not(self, _capability: Capability) -> None:
        return None

    async def new_session(self, user_id: str, state: Mapping[str, Any] | None = None, session_id: str | None = None) -> SessionKey:
        given = dict(state or {})
        return (await self._service.create_session(app_name=self.app_name, user_id=user_id, state=given, session_id=session_id)).key

    def run(
        self,
        key: SessionKey,
        message: types.Content | None,
        invocation_id: str | None = None,
        *,
        state: Mapping[str, Any] | None = None,
        streaming: bool = False,
    ) -> AsyncGenerator[Event, None]:
        return self._runner.run_async(
            user_id=key.user_id,
            session_id=key.session_id,
            invocation_id=invocation_id,
            new_message=message,
            state_delta=dict(state) if state else None,
            run_config=RunConfig(streaming_mode=StreamingMode.SSE if streaming else StreamingMode.NONE),
        )

    def rerun(self, key: SessionKey, recording: Recording, *, runs_tools: bool = False, strict: bool = False) -> Repeat:
        return Rerun(self._runner, key, recording, runs_tools=runs_tools, strict=strict)

    async def stored(self, key: SessionKey) -> list[Event] | None:
        """Return a session's events; None if it does not exist, or cannot be read any more."""
        session = await self._service.get_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
        return list(session.events) if session is not None else None

    async def events(self, key: SessionKey) -> list[Event]:
        return await self.stored(key) or []

    async def ends(self, key: SessionKey, own: list[Event], failure: Exception | None) -> dict[str, RecordedEnd]:
        """Return the recorded ends of a session's invocations.

        Args:
            key: the session.
            own: the events of the invocation that has just run.
            failure: what it raised; None if it ended normally.
        """
        return await self._service.recorded_ends(key)


class _InChild:
    """An agent in a process of its own; see `_Here`."""

    def __init__(self, plan: EnginePlan, engine: ChildEngine) -> None:
        self.plan, self.app_name = plan, engine.agent.app_name
        self._engine = engine

    def why_not(self, capability: Capability) -> str | None:
        return self._engine.why_not(capability)

    async def new_session(self, user_id: str, state: Mapping[str, Any] | None = None, session_id: str | None = None) -> SessionKey:
        return await self._engine.new_session(user_id, state, session_id)

    def run(
        self,
        key: SessionKey,
        message: types.Content | None,
        invocation_id: str | None = None,
        *,
        state: Mapping[str, Any] | None = None,
        streaming: bool = False,
    ) -> AsyncGenerator[Event, None]:
        return self._engine.run(key, message, invocation_id, state_delta=state, streaming=streaming)

    def rerun(self, key: SessionKey, recording: Recording, *, runs_tools: bool = False, strict: bool = False) -> Repeat:
        return self._engine.rerun(key, recording, runs_tools=runs_tools, strict=strict)

    async def stored(self, key: SessionKey) -> list[Event] | None:
        found = await self._engine.session(key) if self._engine.child.ended is None else None
        return found[1] if found is not None else None

    async def events(self, key: SessionKey) -> list[Event]:
        return await self.stored(key) or []

    async def ends(self, key: SessionKey, own: list[Event], failure: Exception | None) -> dict[str, RecordedEnd]:
        end = end_of(own, failure) if own and not isinstance(failure, ChildEndedError) else None  # google-adk records none
        return {own[-1].invocation_id: end} if end is not None else {}


DrivenAgent = _Here | _InChild
