"""What agents do that run as tools: shown while they run, and as long as the window is open; it is stored nowhere."""

from __future__ import annotations

from collections import deque

from PySide6.QtCore import QObject

from inspector_app.detail.event_detail import EventDetail
from inspector_app.documents.session_document import SessionDocument
from inspector_app.stream.event_list_model import EventListModel
from inspector_app.stream.event_stream import EventStreamView
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.incoming_events import ToolAgentEvent
from runtime.debugger.hold import Hold
from runtime.events.event import Event

MOST_KEPT = 10_000
"""Events that are kept, of all sessions."""


class ToolAgentEvents(QObject):
    """Keeps them, and puts them into the stream of their session.

    Args:
        run: where they come from.
        browse, cursor: of the window.
        events: the model behind the stream.
        stream, detail: where they are seen.
    """

    def __init__(
        self,
        run: CurrentRun,
        browse: CurrentSession,
        cursor: Cursor,
        events: EventListModel,
        stream: EventStreamView,
        detail: EventDetail,
    ) -> None:
        super().__init__(stream)
        self._cursor = cursor
        self._events = events
        self._stream = stream
        self._detail = detail
        self._kept: deque[ToolAgentEvent] = deque(maxlen=MOST_KEPT)
        run.tool_agent_event_arrived.connect(self._on_tool_agent_event)
        run.hold_changed.connect(self._on_hold_changed)
        browse.session_loaded.connect(self._on_session_loaded)
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
        self._cursor.select_event(None)  # it has no place in the session
        self._detail.show_tool_agent_event(event)
