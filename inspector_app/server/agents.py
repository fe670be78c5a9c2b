"""The served agents, each with the sessions in its own folder."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from inspector_app.engines.agent_loader import load_agent
from runtime.artifacts import FileArtifactService
from runtime.errors import NotFoundError, StorageError
from runtime.memory import InMemoryMemoryService
from runtime.runners import Runner
from runtime.sessions.base_session_service import BaseSessionService
from runtime.storage.open_service import open_session_service
from runtime.support.worker_threads import run_in_thread

KEPT_IN = ".adk"  # the folder in an agent's folder where google-adk's server stores sessions and files, too


class ServedAgent:
    """One agent. Its code is loaded and its database opened on the first request.

    Args:
        name: the folder's name, and the app's name in requests and in the database.
        folder: the agent's folder.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._folder = folder
        self._service: BaseSessionService | None = None
        self._runner: Runner | None = None
        self._loading = asyncio.Lock()

    @property
    def sessions(self) -> BaseSessionService:
        """The service for its sessions.

        Raises:
            StorageError: the database cannot be written.
        """
        if self._service is None:
            try:
                (self._folder / KEPT_IN).mkdir(exist_ok=True)
            except OSError as error:
                raise StorageError(f"The sessions of {self.name!r} cannot be stored in {self._folder / KEPT_IN}: {error}") from error
            self._service = open_session_service(str(self._folder / KEPT_IN / "session.db"))
        return self._service

    async def runner(self) -> Runner:
        """Return the agent's Runner.

        Raises:
            AgentLoadError: its code cannot be loaded; the next request tries again.
            StorageError: its database cannot be written.
        """
        async with self._loading:
            if self._runner is None:
                # In a thread, so that other agents' streams continue while this one imports its libraries.
                loaded = await run_in_thread(load_agent, str(self._folder))
                files = FileArtifactService(root_dir=self._folder / KEPT_IN / "artifacts")
                self._runner = Runner(
                    app=loaded.app,
                    app_name=self.name,
                    session_service=self.sessions,
                    artifact_service=files,
                    memory_service=InMemoryMemoryService(),
                )
            return self._runner

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
    """

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._agents = {name: ServedAgent(name, folder) for name, folder in folders.items()}

    @property
    def names(self) -> list[str]:
        """The agents' names, sorted."""
        return sorted(self._agents)

    def named(self, name: str) -> ServedAgent:
        """Return the agent with this name.

        Raises:
            NotFoundError: there is no such agent.
        """
        if name not in self._agents:
            raise NotFoundError(f"There is no agent {name!r} here. The agents are: {', '.join(self.names)}.")
        return self._agents[name]

    async def close(self) -> None:
        """Close all agents."""
        for agent in self._agents.values():
            await agent.close()
