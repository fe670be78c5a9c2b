"""An agent on any engine, for commands that run it several times."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Protocol

from google.genai import types

from inspector_app.commands.child_runs import open_child
from inspector_app.commands.opening import open_runner, planned_engine
from inspector_app.commands.options.running import Eval, Run
from inspector_app.documents.session_files import files_of
from inspector_app.engines.agent_loader import load_agent
from inspector_app.engines.child_engine import ChildEngine
from inspector_app.engines.engine_choice import EnginePlan
from runtime.events import Event
from runtime.runners import Runner
from runtime.sessions.base_session_service import BaseSessionService
from runtime.sessions.in_memory_session_service import InMemorySessionService
from runtime.sessions.session_key import SessionKey
from runtime.storage.open_service import open_session_service


class DrivenAgent(Protocol):
    """An agent that is ready to run.

    Attributes:
        plan: what runs it.
        app_name: the app's name.
    """

    plan: EnginePlan
    app_name: str

    async def new_session(self, user_id: str, state: Mapping[str, Any] | None = None, session_id: str | None = None) -> SessionKey:
        """Create a session."""

    def run(self, key: SessionKey, message: types.Content) -> AsyncGenerator[Event, None]:
        """Send a message and yield the events."""

    async def events(self, key: SessionKey) -> list[Event]:
        """Return a session's events."""


@asynccontextmanager
async def open_driven(options: Run | Eval) -> AsyncIterator[DrivenAgent]:
    """Yield the agent that the options name, on the engine that they choose.

    Args:
        options: the command line's options.

    Raises:
        KnownError: the agent cannot be loaded, or its engine cannot use the database.
    """
    plan = planned_engine(options.agent, options.engine, options.python, options.debugpy)
    if plan.kind != "embedded":
        async with open_child(plan, options.db) as engine:
            yield _InChild(plan, engine)
        return
    loaded = load_agent(options.agent)
    name = options.app or loaded.name
    service = open_session_service(options.db) if options.db else InMemorySessionService()
    async with service, open_runner(loaded, name, service, files_of(options.db)) as runner:
        yield _Here(plan, name, service, runner)


class _Here:
    """An agent in this process."""

    def __init__(self, plan: EnginePlan, app_name: str, service: BaseSessionService, runner: Runner) -> None:
        self.plan, self.app_name = plan, app_name
        self._service, self._runner = service, runner

    async def new_session(self, user_id: str, state: Mapping[str, Any] | None = None, session_id: str | None = None) -> SessionKey:
        given = dict(state or {})
        return (await self._service.create_session(app_name=self.app_name, user_id=user_id, state=given, session_id=session_id)).key

    def run(self, key: SessionKey, message: types.Content) -> AsyncGenerator[Event, None]:
        return self._runner.run_async(user_id=key.user_id, session_id=key.session_id, new_message=message)

    async def events(self, key: SessionKey) -> list[Event]:
        session = await self._service.get_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
        return list(session.events) if session is not None else []


class _InChild:
    """An agent in a process of its own."""

    def __init__(self, plan: EnginePlan, engine: ChildEngine) -> None:
        self.plan, self.app_name = plan, engine.agent.app_name
        self._engine = engine

    async def new_session(self, user_id: str, state: Mapping[str, Any] | None = None, session_id: str | None = None) -> SessionKey:
        return await self._engine.new_session(user_id, state, session_id)

    def run(self, key: SessionKey, message: types.Content) -> AsyncGenerator[Event, None]:
        return self._engine.run(key, message, streaming=False)

    async def events(self, key: SessionKey) -> list[Event]:
        found = await self._engine.session(key)
        return found[1] if found is not None else []
