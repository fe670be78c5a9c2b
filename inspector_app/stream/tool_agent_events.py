"""Events of agents that run as tools: those of the run, and those that were recorded."""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from inspector_app.documents.open_session import OpenSession
from inspector_app.stream.event_stream import EventStreamView
from inspector_app.stream.event_table_model import EventTableModel
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.incoming_events import ToolAgentEvent
from runtime.debugger.hold import Hold
from runtime.errors.storage_error import StorageError

if TYPE_CHECKING:
    from runtime.events.event import Event

MOST_KEPT = 10_000  # of all sessions, where runs are not recorded; older ones are dropped
LATEST_MS = 10_000  # the longest pause before it is read once more
DELAY_MS = 600  # from a tool's result to reading the recording, which its writer writes four times a second


class ToolAgentEvents(QObject):
    """Adds the events of tool agents to their session's stream: as they arrive, and from the recording.

    Signals:
        tool_agent_event_selected(Event): an event of a tool agent was selected in the stream, instead of one of the session.

    Args:
        run: yields the events.
        current: the displayed session.
        cursor: the selection.
        events: the model behind the stream.
        stream: the view.
        tasks: reads recordings.
    """

    tool_agent_event_selected = Signal(object)

    def __init__(
        self,
        run: CurrentRun,
        current: CurrentSession,
        cursor: Cursor,
        events: EventTableModel,
        stream: EventStreamView,
        tasks: Tasks,
    ) -> None:
        super().__init__(stream)
        self._cursor = cursor
        self._events = events
        self._stream = stream
        self._tasks = tasks
        self._session: OpenSession | None = None
        self._due = QTimer(self, singleShot=True)
        self._due.timeout.connect(self._on_due)
        self._kept: deque[ToolAgentEvent] = deque(maxlen=MOST_KEPT)
        run.tool_agent_event_arrived.connect(self._on_tool_agent_event)
        run.hold_changed.connect(self._on_hold_changed)
        current.session_loaded.connect(self._on_session_loaded)
        current.events_added.connect(self._on_events_added)
        stream.tool_agent_event_selected.connect(self._on_tool_agent_event_selected)

    def _on_tool_agent_event(self, arrived: ToolAgentEvent) -> None:
        if not arrived.event.partial:
            self._kept.append(arrived)
        if arrived.address == self._cursor.session:
            self._events.add_tool_agent_event(arrived.event, arrived.call_ids)

    def _on_session_loaded(self, session: OpenSession) -> None:
        self._session = session
        self._read_again()
        for arrived in self._kept:
            if arrived.address == session.address:
                self._events.add_tool_agent_event(arrived.event, arrived.call_ids)

    def _on_events_added(self, events: Sequence[Event]) -> None:
        if any(event.get_function_responses() for event in events):
            self._due.start(DELAY_MS)  # another process may have run an agent as a tool

    def _on_due(self) -> None:
        self._read_again()
        if self._due.interval() < LATEST_MS:  # its recorder may be slow
            self._due.start(2 * self._due.interval())

    def _read_again(self) -> None:
        if self._session is not None:
            self._tasks.spawn(self._read(self._session), "Reading what agents as tools did", background=True)

    async def _read(self, session: OpenSession) -> None:
        with contextlib.suppress(StorageError):  # the Request tab reports it
            recorded = await session.source.recorded_facts(session.address.key)
            if self._session is session and self._cursor.session == session.address:
                self._events.add_tool_agent_runs(recorded.inner)

    def _on_hold_changed(self, hold: Hold | None) -> None:
        if hold is not None and hold.inner and hold.event is not None:
            self._stream.select_tool_agent_event(hold.event.id)

    def _on_tool_agent_event_selected(self, event: Event) -> None:
        self._cursor.select_event(None)  # the session does not have this event
        self.tool_agent_event_selected.emit(event)
