"""State edited by hand: as committed events, while an agent is held or between runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from PySide6.QtCore import QObject

from inspector_app.controllers.agents import AgentController
from inspector_app.controllers.browse import BrowseController, Committed, OpenSession
from inspector_app.controllers.run import RunController
from inspector_app.cursor import Cursor
from inspector_app.engines.embedded import EmbeddedEngine
from inspector_app.messages import MessageBus
from inspector_app.tasks import Tasks
from runtime.events.event import Event
from runtime.events.marks import is_state_edit


class StateEditController(QObject):
    """Sets state keys in the selected session, and takes such edits back."""

    def __init__(
        self,
        cursor: Cursor,
        agents: AgentController,
        browse: BrowseController,
        run: RunController,
        tasks: Tasks,
        messages: MessageBus,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._cursor = cursor
        self._agents = agents
        self._browse = browse
        self._run = run
        self._tasks = tasks
        self._messages = messages

    def blocked(self) -> str | None:
        """Return why state cannot be edited now, as a sentence; None if it can."""
        session = self._browse.session
        if session is None:
            return "No session is selected."
        if not session.source.writing_allowed:
            return f"{session.source.title} is open read only: allow writing first."
        if self._run.phase in ("running", "stopping") and self._run.address == session.address:
            return "The agent is running: pause it first (F6)."
        return None

    def edit(self, changes: dict[str, Any]) -> None:
        """Set keys.

        Args:
            changes: key with prefix → JSON value; None clears it.
        """
        self._do(lambda engine, session: engine.edit_state(session.address.key, changes))

    def undo(self) -> None:
        """Take the selected event back, if it is an edit."""
        event = self.selected_edit()
        if event is not None:
            event_id = event.id
            self._do(lambda engine, session: engine.undo_state_edit(session.address.key, event_id))

    def selected_edit(self) -> Event | None:
        """Return the selected event, if it is an edit."""
        session, index = self._browse.session, self._cursor.event_index
        if session is None or index is None or index >= len(session.events):
            return None
        event = session.events.peek(index, ask=False)
        return event if event is not None and is_state_edit(event) else None

    def _do(self, work: Callable[[EmbeddedEngine, OpenSession], Awaitable[Event]]) -> None:
        session = self._browse.session
        if session is not None and self.blocked() is None:
            self._tasks.spawn(self._commit(session, work), "Editing state")

    async def _commit(self, session: OpenSession, work: Callable[[EmbeddedEngine, OpenSession], Awaitable[Event]]) -> None:
        running = self._run.engine if self._run.address == session.address else None
        try:
            await work(running or await self.engine(session), session)
        except Exception as error:
            self._messages.error("Editing state", error)
            return
        if running is None:
            await self._browse.refresh_session(session.address)

    async def engine(self, session: OpenSession) -> EmbeddedEngine:
        """Return what commits into a session in which nothing runs."""

        def on_commit(event: Event, temp: dict[str, Any]) -> None:
            self._browse.add_committed(session.address, [Committed(event, temp)])

        service, loaded, name = await session.source.service(), self._agents.loaded, session.address.key.app_name
        if loaded is not None and loaded.name == name:
            return EmbeddedEngine(loaded.app, service, on_commit)
        return EmbeddedEngine.without_agent(name, service, on_commit)
