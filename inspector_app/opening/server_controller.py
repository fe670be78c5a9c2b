"""Lets the window use the agents of a server whose session is displayed, and says what a hold means there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeGuard

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.sources import Source
from inspector_app.workspace.workspace import Workspace
from runtime.debugger.hold import Hold
from runtime.storage.connections.database_url import is_remote
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from inspector_app.documents import remote_source
    from inspector_app.remote import server_agent
else:
    server_agent = lazy_module("inspector_app.remote.server_agent")
    remote_source = lazy_module("inspector_app.documents.remote_source")

MANY_SESSIONS = 1_000  # sessions of a server; copying more takes minutes, which the user should know

AskForApp = Callable[[str, Sequence[str], str, Callable[[str], object]], None]


class ServerController(QObject):
    """Follows the selection: a server's session is continued by the server, any other one by the loaded agent.

    Signals:
        agent_ready(str, str): an app of a server was chosen for the next session: a title and a hint for the empty stream.

    Args:
        work: the owners.
        ask_for_app: see `server_app_dialog`.
    """

    agent_ready = Signal(str, str)

    def __init__(self, work: Workspace, ask_for_app: AskForApp, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work = work
        self._ask_person = ask_for_app
        self._explained: set[str] = set()
        self._listed: set[str] = set()
        work.cursor.session_changed.connect(self._on_session_changed)
        work.databases.database_listed.connect(self._on_database_listed)
        work.databases.database_closed.connect(self._on_database_closed)
        work.run.hold_changed.connect(self._on_hold_changed)

    def ask(self) -> None:
        """Ask which app of the displayed server the next session is of."""
        source = self._work.databases.source(self._work.agents.server)
        if self._work.run.phase != "idle":
            self._work.messages.info(self._work.run.blocked("new_session") or "")
        elif _is_remote(source):
            self._work.tasks.spawn(self._ask(source), f"Asking {source.title} for its apps")

    async def _ask(self, source: remote_source.RemoteSource) -> None:
        apps = await source.apps()
        if len(apps) > 1:
            self._ask_for_app(source, apps)
        else:
            self._work.messages.info(f"{source.title} runs this agent and no other one. Engines are chosen for an agent of your own.")

    def _ask_for_app(self, source: remote_source.RemoteSource, apps: list[str]) -> None:
        agent = self._work.agents.loaded
        is_used = isinstance(agent, server_agent.ServerAgent) and self._work.agents.server == source.target
        used = agent.name if agent is not None and is_used else apps[0]

        def begin(app: str) -> None:
            self._work.tasks.spawn(self._begin(source, app), f"Asking {source.title} for its agent")

        self._ask_person(source.title, apps, used, begin)

    async def _begin(self, source: remote_source.RemoteSource, app_name: str) -> None:
        """Let the next message begin a session of an app."""
        self._work.cursor.select_session(None)
        await self._visit(source, app_name)
        agent = self._work.agents.loaded
        if isinstance(agent, server_agent.ServerAgent):
            hint = f"Write a message below to begin a session of the user “{agent.user_id}”."
            self.agent_ready.emit(f"{app_name} on {source.title} is ready", hint)

    def _on_session_changed(self, address: SessionAddress | None) -> None:
        source = self._work.databases.source(address.database) if address is not None else None
        if _is_remote(source) and address is not None:
            self._work.tasks.spawn(self._visit(source, address.key.app_name), f"Asking {source.title} for its agent")
        elif address is not None:
            self._work.agents.visit(None)

    async def _visit(self, source: remote_source.RemoteSource, app_name: str) -> None:
        agent = await source.agent(app_name)
        selected = self._work.cursor.session
        if selected is None or (selected.database, selected.key.app_name) == (source.target, app_name):
            self._work.agents.visit(agent, source.target)

    def _on_database_listed(self, source: Source, sessions: list[object]) -> None:
        if _is_remote(source) and source.target not in self._listed:
            self._listed.add(source.target)
            self._work.tasks.spawn(self._greet(source, len(sessions)), f"Asking {source.title} for its apps")

    async def _greet(self, source: remote_source.RemoteSource, count: int) -> None:
        if count:
            copied = "session is" if count == 1 else f"{count:,} sessions are"
            self._work.messages.info(
                f"The {copied} copied into a temporary file in the background, so that searches find everything there.",
                quiet=count < MANY_SESSIONS,
            )
        apps = await source.apps()
        if not apps:
            return
        self._work.messages.info(f"{source.title} runs {', '.join(apps)}. {source.note.splitlines()[1]}", quiet=True)
        if self._work.cursor.session is None and not count:
            await self._begin(source, apps[0])
            if len(apps) > 1:
                self._ask_for_app(source, apps)

    def _on_database_closed(self, target: str) -> None:
        self._listed.discard(target)
        self._explained.discard(target)
        if self._work.agents.server == target:
            self._work.agents.visit(None)

    def _on_hold_changed(self, hold: Hold | None) -> None:
        address = self._work.run.address
        source = self._work.databases.source(address.database) if hold is not None and address is not None else None
        if _is_remote(source) and self._work.agents.server == source.target and source.target not in self._explained:
            self._explained.add(source.target)
            self._work.messages.info(
                f"{source.title} is held by not reading on: it may continue by itself until the connection is full. Its calls are not held."
            )


def _is_remote(source: Source | None) -> TypeGuard[remote_source.RemoteSource]:
    """Return whether a source is a server's; for another one the code of servers is not loaded."""
    return source is not None and is_remote(source.target) and isinstance(source, remote_source.RemoteSource)
