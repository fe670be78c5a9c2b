"""The door of the event stream."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QToolBar

from inspector_app.stream.event_stream import EventStreamView
from inspector_app.stream.event_table_model import EventTableModel
from inspector_app.stream.filter_bar import FilterBar
from inspector_app.stream.saved_filters_controller import SavedFilterController
from inspector_app.stream.scroll_marks import ScrollMarks
from inspector_app.stream.stream_controller import StreamController
from inspector_app.stream.tool_agent_events import ToolAgentEvents
from inspector_app.widgets.places import Places
from inspector_app.workspace.feature import Feature
from inspector_app.workspace.workspace import Workspace


class Stream(Feature):
    """The events of the displayed session, with their filter.

    Attributes:
        events, view: the events and their view.
        filter_bar: the filter above them.
        controller: displays and filters the events; exists once started.
        tool_agent_events: events of agents that are tools; exist once started.
    """

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self.events = EventTableModel(self, colours=places.colours)
        self.view = places.in_the_middle("stream", EventStreamView(self.events))
        self.filter_bar = places.beside_events("filter_bar", FilterBar(), -1)
        about = "One row for each event, grouped by invocation. Select one to see the state that the agent had there."
        places.tour_stop(2, "Events", about, self.view)
        add = places.command
        find = add("find_event", "Filter the events", "filter", "Ctrl+F /", menu="Find", at=1, needs="open")
        saved = add("saved_filters", "Saved filters…", "bookmark", "Ctrl+D", menu="Find", at=2, needs="open")
        mark = add("mark_hits", "Show all events, hits marked", "highlighter", "Ctrl+Shift+H", menu="Find", at=3, needs="open")
        self._next = add("next_hit", "Next hit", "arrow-down", "F3", menu="Find", at=4, needs="open")
        self._previous = add("previous_hit", "Previous hit", "arrow-up", "Shift+F3", menu="Find", at=5, needs="open")
        go_to = add("go_to_event", "Go to event…", "arrow-right-to-bracket", "Ctrl+G", menu="Find", at=11, needs="open")
        call = "Go to the call or its response"
        self._matching_call = add("matching_call", call, "arrow-right-arrow-left", "Ctrl+J", menu="Find", at=12, needs="open")
        states = "Compare states with this one"
        self._compare = add("compare_states", states, "code-compare", "Ctrl+B", menu="Find", at=33, needs="open")
        self.find_event = find
        find.triggered.connect(places.events_requested)
        find.triggered.connect(self.filter_bar.focus)
        saved.triggered.connect(self.filter_bar.saved.ask)
        mark.triggered.connect(self.filter_bar.marking.toggle)
        go_to.triggered.connect(self.view.ask_for_event)
        for going in (self._next, self._previous, go_to):
            going.triggered.connect(places.events_requested)

    def start(self, work: Workspace) -> None:
        """Make the controllers."""
        view, events = self.view, self.events
        self.controller = controller = StreamController(work, events, view, self.filter_bar)
        ScrollMarks(work.current, work.run, controller, work.notes, work.tasks, events, view.table.bar)
        SavedFilterController(work.cursor, work.preferences, self.filter_bar.saved)
        self.tool_agent_events = ToolAgentEvents(work.run, work.current, work.cursor, events, view, work.tasks)
        events.make.cost_of = work.costs.of_group
        work.costs.changed.connect(view.table.viewport().update)
        self._next.triggered.connect(controller.next_hit)
        self._previous.triggered.connect(controller.previous_hit)
        self._compare.triggered.connect(controller.compare_states)
        self._matching_call.triggered.connect(controller.go_to_matching_call)
        work.cursor.event_requested.connect(self.places.work_requested)
        work.current.session_loaded.connect(self._on_session_loaded)
        self.places.event_requested.connect(self.places.events_requested)
        self.places.event_requested.connect(controller.go_to)
        self.places.ready_for_sessions.connect(lambda title, hint, _: view.set_empty_text(title, hint))
        work.current.session_loading.connect(lambda: self.places.middle_requested.emit(view))
        self.places.window.installEventFilter(self)
        self.places.selected_event = lambda: controller.selected_event

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Paint all rows when the window is resized; a live stream postpones some."""
        if event.type() == QEvent.Type.Resize:
            self.view.table.paint_next()
        return False

    def _on_session_loaded(self) -> None:
        """Focus the events if no pane has the keyboard, as after a start; a pane that has it keeps it."""
        focus, bar = self.places.window.focusWidget(), self.places.window.findChild(QToolBar)
        if focus is None or not focus.isVisible() or (bar is not None and (focus is bar or bar.isAncestorOf(focus))):
            self.view.table.setFocus()
