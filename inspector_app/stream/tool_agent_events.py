"""Events of agents that run as tools: displayed while the window is open, not stored."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.session_document import SessionDocument
from inspector_app.stream.event_stream import EventStreamView
from inspector_app.stream.event_table_model import EventTableModel
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.incoming_events import ToolAgentEvent
from runtime.debugger.hold import Hold

if TYPE_CHECKING:
    from runtime.events.event import Event

MOST_KEPT = 10_000  # of all sessions; older ones are dropped


class ToolAgentEvents(QObject):
    """Keeps the events of tool agents and adds them to their session's stream.

    Signals:
        tool_agent_event_selected(Event): an event of a tool agent was selected in the stream, instead of one of the session.

    Args:
        run: yields the events.
        current: the displayed session.
        cursor: the selection.
        events: the model behind the stream.
        stream: the view.
    """

    tool_agent_event_selected = Signal(object)

    def __init__(
        self,
        run: CurrentRun,
        current: CurrentSession,
        cursor: Cursor,
        events: EventTableModel,
        stream: EventStreamView,
    ) -> None:
        super().__init__(stream)
        self._cursor = cursor
        self._events = events
        self._stream = stream
        self._kept: deque[ToolAgentEvent] = deque(maxlen=MOST_KEPT)
        run.tool_agent_event_arrived.connect(self._on_tool_agent_event)
        run.hold_changed.connect(self._on_hold_changed)
        current.session_loaded.connect(self._on_session_loaded)
        stream.tool_agent_event_selected.connect(self._on_tool_agent_event_selected)

    def _on_tool_agent_event(self, arrived: ToolAgentEvent) -> None:
        if not arrived.event.partial:
            self._kept.append(arrived)
        if arrived.address == self._cursor.session:
            self._events.add_tool_agent_event(arrived.event, arrived.call_ids)

    def _on_session_loaded(self, session: SessionDocument) -> None:
        for arrived in self._kept:
            if arrived.address == session.address:
                self._events.add_tool_agent_event(arrived.event, arrived.call_ids)

    def _on_hold_changed(self, hold: Hold | None) -> None:
        if hold is not None and hold.inner and hold.event is not None:
            self._stream.select_tool_agent_event(hold.event.id)

    def _on_tool_agent_event_selected(self, event: Event) -> None:
        self._cursor.select_event(None)  # the session does not have this event
        self.tool_agent_event_selected.emit(event)
