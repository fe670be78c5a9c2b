"""The door of the details of the selected event: content, state, request to the model, note and code."""

from __future__ import annotations

from PySide6.QtCore import Qt

from inspector_app.detail.artifact_controller import ArtifactController
from inspector_app.detail.code_controller import CodeController
from inspector_app.detail.commands import DetailCommands
from inspector_app.detail.detail_controller import DetailController
from inspector_app.detail.event_detail import EventDetail
from inspector_app.detail.media_controller import MediaController
from inspector_app.detail.note_controller import NoteController
from inspector_app.detail.origin_controller import OriginController
from inspector_app.detail.output_controller import OutputController
from inspector_app.detail.request_controller import RequestController
from inspector_app.detail.send_again_controller import SendAgainController
from inspector_app.state.files_controller import FilesController
from inspector_app.state.pin_controller import PinController
from inspector_app.state.state_edits import StateEditController
from inspector_app.state.writers_controller import WritersController
from inspector_app.widgets.hint_bar import ANSWERS
from inspector_app.widgets.places import Pane, Places
from inspector_app.workspace.feature import Feature
from inspector_app.workspace.traceback_store import TracebackStore
from inspector_app.workspace.workspace import Workspace


class Detail(Feature):
    """The details of the selected event.

    Attributes:
        commands, view: the commands and the pane.
        requests, code, notes, writers: the controllers of the request to the model, of code, of notes, and of a key's writers; exist once
            started.
    """

    def __init__(self, places: Places) -> None:
        super().__init__(places)
        self.commands = DetailCommands(places)
        self.view = EventDetail()
        places.pane(Pane("detail", "Inspector", self.view, "right", 2))
        about = "What it says and changed, the state after it with who wrote each key, and the request to the model."
        places.tour_stop(3, "The selected event", about, self.view)
        self._note_hint = places.hint("note_deleted_hint", ANSWERS, "note_hint")
        self.commands.find_in_state.triggered.connect(self._on_find_in_state)
        for going in (self.commands.next_note, self.commands.previous_note):
            going.triggered.connect(places.events_requested)
        self.view.role_of = places.colours.role
        for link in (self.view.state.tree.writer_requested, self.view.event_requested):
            link.connect(places.event_requested)

    def start(self, work: Workspace) -> None:
        """Make the controllers."""
        view, current, tasks, messages = self.view, work.current, work.tasks, work.messages
        calls = OriginController(current, work.prices, tasks, view)
        MediaController(tasks, messages, view)
        ArtifactController(current, tasks, messages, view)
        self.requests = RequestController(work, calls, view)
        SendAgainController(self.requests, work.agents, work.prices, tasks, view)
        OutputController(work.output, TracebackStore(work.preferences.folder / "tracebacks"), current, tasks, view)
        self.code = CodeController(work, self.commands, view)
        DetailController(work.cursor, current, work.run, StateEditController(work.cursor, current, work.commits, self), view)
        FilesController(work.cursor, current, work.run, tasks, view.state.model, self)
        self.notes = NoteController(current, work.notes, self.commands, view, self._note_hint)
        self.notes.editing_began.connect(self._on_note_begun)
        work.agents.agent_loaded.connect(view.refresh_author, Qt.ConnectionType.QueuedConnection)  # after the stream
        view.delta.comparing_ended.connect(lambda: work.cursor.compare_with(None))
        view.note.left.connect(lambda: self._on_note_left(work.cursor.event_index))
        self.writers = WritersController(work, view.writers, lambda: view.state_is_in_front)
        self.writers.answered.connect(self._on_writers_found)
        view.writers.closed.connect(view.state.tree.setFocus)
        view.state.tree.writers_requested.connect(self.writers.ask)
        self.commands.who_wrote.triggered.connect(lambda: self.writers.ask_for_selected(view.state.tree.selected_key()))
        PinController(work.cursor, work.preferences, view.state)

    def _on_find_in_state(self) -> None:
        self.places.pane_requested.emit("detail")
        self.view.find_in_state()

    def _on_writers_found(self) -> None:
        self.places.pane_requested.emit("detail")
        self.view.show_writers()

    def _on_note_begun(self) -> None:
        self.places.pane_requested.emit("detail")

    def _on_note_left(self, index: int | None) -> None:
        """Return to the event, and follow the next ones if it is the last, as before the note."""
        self.places.focus_requested.emit()
        if index is not None:
            self.places.event_requested.emit(index)
