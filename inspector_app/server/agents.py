"""The served agents, each with the sessions in its own folder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from inspector_app.engines.agent_loader import AgentLoadError, LoadedAgent, load_agent
from inspector_app.engines.code_files import code_digest
from inspector_app.engines.env_file import AgentEnvironment
from inspector_app.server.adk_servers import adk_server_of
from runtime.artifacts.base_artifact_service import BaseArtifactService
from runtime.artifacts.file_artifact_service import FileArtifactService
from runtime.errors import KnownError, NotFoundError, StorageError
from runtime.events import Event
from runtime.memory.base_memory_service import BaseMemoryService
from runtime.memory.in_memory_memory_service import InMemoryMemoryService
from runtime.runners import Runner
from runtime.sessions.base_session_service import BaseSessionService
from runtime.storage.open_service import open_session_service
from runtime.support.worker_threads import run_in_thread

KEPT_IN = ".adk"  # the folder in an agent's folder where google-adk's server stores sessions and files, too
SECONDS_FOR_A_TURN = 60  # how long a run waits for agents with other environment variables; an agent may call another one here


class AgentBusyError(KnownError):
    """Agents with other environment variables ran for too long."""


class NoAppNameError(KnownError):
    """A request does not say which of several agents it is for."""


class Turns:
    """The order in which agents run whose environment variables differ: these belong to the whole process.

    Agents with the same variables run at the same time.
    """

    def __init__(self) -> None:
        self._values: Mapping[str, str | None] = {}
        self._users = 0
        self._free = asyncio.Event()

    @asynccontextmanager
    async def turn(self, environment: AgentEnvironment) -> AsyncIterator[None]:
        """Wait until no agent with other variables runs, and set these.

        Raises:
            AgentBusyError: it took too long.
            EnvFileError: the `.env` file cannot be read.
        """
        values = environment.values
        try:
            async with asyncio.timeout(SECONDS_FOR_A_TURN):
                while self._users and self._values != values:
                    await self._free.wait()
        except TimeoutError:
            raise AgentBusyError(
                f"Another agent, whose .env sets other variables, has been running for {SECONDS_FOR_A_TURN} s. Try again when it is done, "
                "or serve the two agents with an api_server each."
            ) from None
        self._users, self._values = self._users + 1, values
        self._free.clear()
        try:
            with environment.active():
                yield
        finally:
            self._users -= 1
            if not self._users:
                self._free.set()


@dataclass(frozen=True, slots=True)
class Stores:
    """Where all agents keep what they store, in place of their own folders.

    Attributes:
        sessions: None: a database in each agent's folder.
        files: None: a folder of artifacts in each agent's folder.
    """

    sessions: BaseSessionService | None = None
    files: BaseArtifactService | None = None


class ServedAgent:
    """One agent. Its code is loaded and its database opened on the first request.

    Args:
        name: the folder's name, and the app's name in requests and in the database.
        folder: the agent's folder.
        turns: shared by all agents of the server.
        stores: shared by all agents of the server.
        reloads: whether to load the agent again when its code has changed.

    Attributes:
        name: see above.
        folder: see above.
        memory: what its agents search, until the server stops.
    """

    def __init__(self, name: str, folder: Path, turns: Turns, stores: Stores, *, reloads: bool = False) -> None:
        self.name = name
        self.folder = folder
        self.memory: BaseMemoryService = InMemoryMemoryService()
        self._turns = turns
        self._stores = stores
        self._reloads = reloads
        self._digest: str | None = None
        self._loaded: LoadedAgent | None = None
        self._service: BaseSessionService | None = None
        self._files: BaseArtifactService | None = None
        self._runner: Runner | None = None
        self._loading = asyncio.Lock()

    @property
    def sessions(self) -> BaseSessionService:
        """The service for its sessions.

        Raises:
            StorageError: the database cannot be written.
        """
        if self._stores.sessions is not None:
            return self._stores.sessions
        if self._service is None:
            try:
                (self.folder / KEPT_IN).mkdir(exist_ok=True)
            except OSError as error:
                raise StorageError(f"The sessions of {self.name!r} cannot be stored in {self.folder / KEPT_IN}: {error}") from error
            self._service = open_session_service(str(self.folder / KEPT_IN / "session.db"))
        return self._service

    @property
    def files(self) -> BaseArtifactService:
        """The service for its artifacts."""
        if self._stores.files is not None:
            return self._stores.files
        if self._files is None:
            self._files = FileArtifactService(root_dir=self.folder / KEPT_IN / "artifacts", make_now=False)
        return self._files

    async def runner(self) -> Runner:
        """Return the agent's Runner.

        Raises:
            AgentLoadError: its code cannot be loaded; the next request tries again.
            AgentBusyError: agents with other environment variables ran for too long.
            StorageError: its database cannot be written.
        """
        async with self._loading:
            if self._runner is None or await self._is_outdated():
                # In a thread, so that other agents' streams continue while this one imports its libraries.
                async with self._turns.turn(AgentEnvironment(self.folder)):
                    loaded = self._loaded = await run_in_thread(self._load)
                self._runner = Runner(
                    app=loaded.app,
                    app_name=self.name,
                    session_service=self.sessions,
                    artifact_service=self.files,
                    memory_service=self.memory,
                )
            return self._runner

    async def _is_outdated(self) -> bool:
        """Return whether to load the agent again: a stopped run still blocks its thread, or its code has changed."""
        if self._loaded is not None and self._loaded.is_blocked:
            return True
        return self._reloads and await run_in_thread(code_digest, self.folder) != self._digest

    def _load(self) -> LoadedAgent:
        if self._reloads:
            self._digest = code_digest(self.folder)
        try:
            return load_agent(str(self.folder))
        except AgentLoadError as error:
            server = adk_server_of(self.folder) if error.missing else None
            if server is None:
                raise
            raise AgentLoadError(f"{error.missing} {server.sentence}", error.traceback, place=(error.file, error.line)) from error

    async def in_environment(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """Yield a run's events while the agent's environment variables are set.

        Raises:
            AgentBusyError: agents with other environment variables ran for too long.
        """
        assert self._loaded is not None
        async with self._turns.turn(self._loaded.environment), aclosing(events):
            async for event in events:
                yield event

    async def close(self) -> None:
        """Close its plugins and its database."""
        if self._runner is not None:
            await self._runner.close()
        if self._service is not None:
            await self._service.close()


class ServedAgents:
    """The agents of a folder.

    Args:
        folders: agent name → its folder.
        stores: where they keep what they store.
        reloads: whether to load an agent again when its code has changed.
    """

    def __init__(self, folders: Mapping[str, Path], stores: Stores | None = None, *, reloads: bool = False) -> None:
        turns = Turns()
        self._stores = stores or Stores()
        self._agents = {name: ServedAgent(name, folder, turns, self._stores, reloads=reloads) for name, folder in folders.items()}

    @property
    def names(self) -> list[str]:
        """The agents' names, sorted."""
        return sorted(self._agents)

    @property
    def only(self) -> str | None:
        """The name of the only agent, which a request need not give; None if there are several."""
        return self.names[0] if len(self._agents) == 1 else None

    def named(self, name: str) -> ServedAgent:
        """Return the agent with this name.

        Raises:
            NotFoundError: there is no such agent.
        """
        if name not in self._agents:
            raise NotFoundError(f"There is no agent {name!r} here. The agents are: {', '.join(self.names)}.")
        return self._agents[name]

    def named_or_only(self, name: str | None) -> ServedAgent:
        """Return the agent with this name, or the only one if no name is given.

        Raises:
            NotFoundError: there is no such agent.
            NoAppNameError: no name is given, and there are several agents.
        """
        name = name or self.only
        if name is None:
            raise NoAppNameError(f"The request names no app. Add app_name; the agents are: {', '.join(self.names)}.")
        return self.named(name)

    async def close(self) -> None:
        """Close all agents."""
        for agent in self._agents.values():
            await agent.close()
        if self._stores.sessions is not None:
            await self._stores.sessions.close()
