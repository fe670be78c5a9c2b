"""An agent in a child process: on the google-adk of its own environment, or on the embedded runtime."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from inspector_app.engines.adk_storage import session_storage
from inspector_app.engines.agent_outline import agent_outline
from inspector_app.engines.agent_output import OnOutput
from inspector_app.engines.child_engine import IN_MEMORY, ChildEngine
from inspector_app.engines.environments import Environment, child_variables, own_environment
from inspector_app.engines.protocol import Capability, Debugpy, Engine, OnCommit, Store
from runtime.agents.base_agent import BaseAgent
from runtime.debugger.request_recorder import RequestRecorder
from runtime.errors import KnownError
from runtime.events.event import Event
from runtime.models.llm_request import LlmRequest
from runtime.storage.connections.database_url import database_url
from runtime.support.worker_threads import run_in_thread


class UnusableStoreError(KnownError):
    """An agent in another process cannot reach the sessions; the message says what to do."""


class ChildAgent:
    """An agent in a child process. Use `load` to make one.

    The child serves all runs. If it ends, such as by a crash, the next run starts another one.

    Args:
        path: the agent's folder or file.
        environment: the Python that runs it; None runs it on the embedded runtime, with our own Python.
        on_output: called with what the agent writes.
        debugpy: lets a debugger attach to each child.

    Attributes:
        debugpy: see above.
        python: the Python whose google-adk runs it; None on the embedded runtime.
        files: the files of its own code that it has loaded.
        name, folder, engine_title, records_ends, root, described, places, needs_file, is_blocked: see `Agent`.
    """

    needs_file = True
    is_blocked = False

    def __init__(self, path: Path, environment: Environment | None, on_output: OnOutput, debugpy: Debugpy | None = None) -> None:
        self._path = path
        self._is_embedded = environment is None
        self._environment = environment or own_environment()
        self.python = environment.python if environment is not None else None
        self.records_ends = environment is None  # google-adk records none
        self._on_output = on_output
        self.debugpy = debugpy
        self._engine: ChildEngine | None = None
        self._sessions: Mapping[str, Any] = IN_MEMORY
        self._recording: Path | None = None
        self._on_commit: OnCommit = _nothing
        self._requests: RequestRecorder | None = None
        self._reasons: dict[Capability, str | None] = {}
        self._title = ""

    @classmethod
    async def load(cls, path: Path, environment: Environment | None, on_output: OnOutput, debugpy: Debugpy | None = None) -> ChildAgent:
        """Start a child and load the agent there.

        Args:
            path: its folder or file, absolute.
            environment, on_output, debugpy: see the class.

        Raises:
            AgentLoadError: it needs a package of its own that has the name of one of ours.
            ChildError: the agent cannot be loaded.
            AgentStillLoadingError: its code was not imported in time.
            ChildEndedError: the child has ended meanwhile.
        """
        agent = cls(path, environment, on_output, debugpy)
        engine = await agent._ready(IN_MEMORY)
        agent._describe(engine)
        return agent

    def _describe(self, engine: ChildEngine) -> None:
        self._reasons = {name: engine.why_not(name) for name in _CAPABILITIES}
        self._title = engine.title
        self.engine_title = f"{engine.title} · debugpy {self.debugpy.port}" if self.debugpy is not None else engine.title
        self.name, self.folder, self.places = engine.agent.app_name, Path(engine.agent.folder), engine.agent.places
        self.described: Mapping[str, Any] = engine.agent.root
        self.root: BaseAgent = agent_outline(engine.agent.root)
        self.files = tuple(Path(file) for file in engine.agent.files)

    def why_not(self, capability: Capability) -> str | None:
        """Return a sentence that says why it cannot do something; None if it can."""
        return self._reasons[capability]

    def active(self) -> AbstractContextManager[None]:
        """Do nothing: the child has read the agent's `.env`."""
        return nullcontext()

    async def open_engine(
        self, store: Store, on_commit: OnCommit, requests: RequestRecorder | None = None, recording: Path | None = None
    ) -> Engine:
        """See `Agent.open_engine`.

        Raises:
            UnusableStoreError: the store is this process's memory.
            StorageRefusedError: this google-adk cannot continue the database.
            ChildError: its services cannot be opened there.
            ChildEndedError: the child has ended.
        """
        self._on_commit, self._requests = on_commit, requests
        return await self._ready(await self._sessions_in(store), recording)

    async def ask_model(self, agent_name: str, request: dict[str, Any]) -> dict[str, Any]:
        """See `Agent.ask_model`."""
        return await (await self._ready(self._sessions, self._recording)).ask_model(agent_name, request)

    async def close(self) -> None:
        """End the child."""
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.close()

    async def _ready(self, sessions: Mapping[str, Any], recording: Path | None = None) -> ChildEngine:
        """Return the engine, with its sessions and their recording in this place."""
        engine = self._engine
        if engine is not None and engine.child.ended is not None:
            await self.close()
            engine = None
        if engine is None:
            self._engine = engine = await ChildEngine.start(
                self._environment.python,
                self._path,
                self._take_commit,
                sessions=sessions,
                recording=recording,
                environ=await run_in_thread(child_variables, self._environment, self._path),
                embedded=self._is_embedded,
                debugpy=self.debugpy,
                on_output=self._on_output,
                on_request=self._take_request,
            )
        elif (sessions, recording) != (self._sessions, self._recording):
            await engine.open(sessions, recording)
        self._sessions, self._recording = sessions, recording
        return engine

    async def _sessions_in(self, store: Store) -> Mapping[str, Any]:
        if store.layout_kind == "memory":
            raise UnusableStoreError("The agent runs in another process, which cannot reach sessions in memory. Open a database for it.")
        if self._is_embedded:
            kind = "sqlite" if store.layout_kind == "sqlite" else "database"
            return {"kind": kind, "path": store.target, "url": database_url(store.target).render_as_string(hide_password=False)}
        version = self._title.removeprefix("google-adk ")
        return await run_in_thread(session_storage, store.target, version, new_as_sqlite=store.layout_kind == "sqlite")

    def _take_commit(self, event: Event, temp: dict[str, Any]) -> None:
        self._on_commit(event, temp)

    def _take_request(self, event_id: str, request: LlmRequest) -> None:
        if self._requests is not None:
            self._requests.keep(event_id, request)


_CAPABILITIES: tuple[Capability, ...] = ("hold_calls", "resume", "rewind", "confirm", "edit_errors", "rerun")


def _nothing(event: Event, temp: dict[str, Any]) -> None:
    """Ignore a commit."""
