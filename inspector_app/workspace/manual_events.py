"""Events that the user commits to a session, while its agent is held or between runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from inspector_app.documents.open_session import OpenSession
from inspector_app.documents.session_document import Committed
from inspector_app.engines.protocol import Engine
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.current_agent import CurrentAgent
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.messages import MessageBus
from runtime.support.lazy import lazy_module

if TYPE_CHECKING:
    from inspector_app.engines import embedded
    from runtime.events.event import Event
else:
    embedded = lazy_module("inspector_app.engines.embedded")


class ManualEvents:
    """Commits to the displayed session, through the engine of its run if there is one.

    Args:
        agents: the loaded agent.
        current: the session to commit to.
        run: the run, whose engine commits while an agent is held.
        tasks: runs the commits.
        messages: receives failures.
    """

    def __init__(self, agents: CurrentAgent, current: CurrentSession, run: CurrentRun, tasks: Tasks, messages: MessageBus) -> None:
        self._agents = agents
        self._current = current
        self._run = run
        self._tasks = tasks
        self._messages = messages

    def blocked(self) -> str | None:
        """Return why nothing can be committed now, as a sentence; None if it can."""
        session = self._current.session
        if session is None:
            return "No session is selected."
        if not session.source.writing_allowed:
            return session.source.read_only_because or f"{session.source.title} is open read-only: allow writing first."
        if self._run.phase in ("running", "stopping") and self._run.address == session.address:
            return "The agent is running: pause it first (F6)."
        return None

    def blocked_between_runs(self) -> str | None:
        """As `blocked`, and also while a run in the session is held."""
        session = self._current.session
        if session is not None and self._run.phase != "idle" and self._run.address == session.address:
            return "A run is in progress: stop it first (Shift+F5)."
        return self.blocked()

    def commit(self, title: str, work: Callable[[Engine, OpenSession], Awaitable[Event]]) -> None:
        """Commit an event, unless that is blocked.

        Args:
            title: what is done, for messages.
            work: makes the event and commits it.
        """
        session = self._current.session
        if session is not None and self.blocked() is None:
            self._tasks.spawn(self._commit(title, session, work), title)

    async def _commit(self, title: str, session: OpenSession, work: Callable[[Engine, OpenSession], Awaitable[Event]]) -> None:
        running = self._run.engine if self._run.address == session.address else None
        try:
            await work(running or await self.engine(session), session)
        except Exception as error:
            self._messages.error(title, error)
            return
        if running is None:
            await self._current.refresh_session(session.address)

    async def engine(self, session: OpenSession) -> Engine:
        """Return an engine for a session in which nothing runs."""

        def on_commit(event: Event, temp: dict[str, Any]) -> None:
            self._current.add_committed(session.address, [Committed(event, temp)])

        loaded, name = self._agents.loaded, session.address.key.app_name
        if loaded is not None and loaded.name == name:
            return await loaded.open_engine(session.source, on_commit)
        return embedded.EmbeddedEngine.without_agent(name, await session.source.service(), session.source.files, on_commit)
