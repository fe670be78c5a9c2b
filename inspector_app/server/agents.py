"""The agents that are served, each with the sessions in its own folder."""

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

KEPT_IN = ".adk"
"""In an agent's folder: where google-adk's server keeps that agent's sessions and files, too."""


class ServedAgent:
    """One agent. Its code is loaded and its database opened when somebody first asks for them.

    Args:
        name: of its folder, and of its app in requests and in the database.
        folder: where it is.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._folder = folder
        self._service: BaseSessionService | None = None
        self._runner: Runner | None = None
        self._loading = asyncio.Lock()

    @property
    def sessions(self) -> BaseSessionService:
        """Its sessions.

        Raises:
            StorageError: the database cannot be written.
        """
        if self._service is None:
            try:
                (self._folder / KEPT_IN).mkdir(exist_ok=True)
            except OSError as error:
                raise StorageError(f"The sessions of {self.name!r} cannot be kept in {self._folder / KEPT_IN}: {error}") from error
            self._service = open_session_service(str(self._folder / KEPT_IN / "session.db"))
        return self._service

    async def runner(self) -> Runner:
        """Return what runs it.

        Raises:
            AgentLoadError: its code cannot be loaded; the next request tries again.
            StorageError: its database cannot be written.
        """
        async with self._loading:
            if self._runner is None:
                # In a thread: what other agents stream shall not stand still while this one imports its libraries.
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
        """Their names, sorted."""
        return sorted(self._agents)

    def named(self, name: str) -> ServedAgent:
        """Return an agent.

        Raises:
            NotFoundError: there is none of that name.
        """
        if name not in self._agents:
            raise NotFoundError(f"There is no agent {name!r} here. Served are: {', '.join(self.names)}.")
        return self._agents[name]

    async def close(self) -> None:
        """Close them all."""
        for agent in self._agents.values():
            await agent.close()
