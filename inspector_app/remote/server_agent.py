"""An app that a server runs, as an agent of the window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from inspector_app.engines.agent_outline import agent_outline
from inspector_app.engines.protocol import AgentDescription, Capability, CodePlace, OnCommit, Store
from inspector_app.remote.adk_server import AdkServer
from inspector_app.remote.mirror import Mirror
from inspector_app.remote.server_engine import ServerEngine, why_not
from inspector_app.support.data_folder import data_folder
from runtime.agents.base_agent import BaseAgent
from runtime.debugger.request_recorder import RequestRecorder
from runtime.errors.storage_error import StorageError


class ServerAgent:
    """An app of a server; see `Agent`.

    Attributes:
        name: the app's name.
        user_id: whose sessions new ones are.
        folder: names it in what is remembered; nothing is there.
        engine_title: the server, and what it runs on.

    Args:
        server: the server.
        mirror: the copy of its sessions.
        name: the app.
        version: what the server runs on, as a phrase.
        described: its agents as data.
    """

    records_ends = False
    needs_file = True
    is_blocked = False
    places: tuple[CodePlace, ...] = ()

    def __init__(self, server: AdkServer, mirror: Mirror, name: str, version: str, described: dict[str, Any]) -> None:
        self._server = server
        self._mirror = mirror
        self.name = name
        self.user_id = server.address.users[0]
        self.folder = data_folder() / "servers" / quote(server.title, safe="") / quote(name, safe="")
        self.engine_title = f"{server.title} ({version})"
        self.described: Mapping[str, Any] = described
        self.root: BaseAgent = agent_outline(described)

    @classmethod
    def of(cls, server: AdkServer, mirror: Mirror, name: str) -> ServerAgent:
        """Return an app as the server describes it. It blocks."""
        return cls(server, mirror, name, server.version(), server.described(name))

    def why_not(self, capability: Capability) -> str | None:
        """See `Agent.why_not`."""
        return why_not(capability)

    @contextmanager
    def active(self) -> Iterator[None]:
        """Do nothing: the server has its own environment."""
        yield

    async def open_engine(
        self, store: Store, on_commit: OnCommit, requests: RequestRecorder | None = None, recording: Path | None = None
    ) -> ServerEngine:
        """See `Agent.open_engine`.

        Raises:
            StorageError: the store is not this server.
        """
        if store.target != self._server.target:
            raise StorageError(f"{self._server.title} stores its sessions itself. Select one of its sessions, or create one there.")
        description = AgentDescription(self.name, str(self.folder), True, dict(self.described))
        return ServerEngine(self._server, self._mirror, description, self.engine_title, on_commit)

    async def ask_model(self, agent_name: str, request: dict[str, Any]) -> dict[str, Any]:
        """Refuse: the protocol reaches no model.

        Raises:
            StorageError: always.
        """
        raise StorageError(f"The model is asked by {self._server.title} alone: a request cannot be sent again from here.")

    async def close(self) -> None:
        """Do nothing: the connection belongs to the source of the sessions."""
