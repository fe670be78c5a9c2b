"""The detail of the selected event: its content, the state after it, and manual state edits."""

from __future__ import annotations

from PySide6.QtCore import QObject

from inspector_app.detail.event_detail import EventDetail
from inspector_app.documents.session_document import StateAtEvent
from inspector_app.presentation.event_summary import RAN_AHEAD
from inspector_app.state.state_edits import StateEditController
from inspector_app.workspace.current_run import CurrentRun
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor


class DetailController(QObject):
    """A controller that fills the detail and its state panes.

    Args:
        cursor: the selected event.
        current: the displayed session, which computes the state.
        run: the run, whose held agent may have written state without an event, and whose events may have run ahead.
        edits: edits state.
        detail: the view to fill.
    """

    def __init__(self, cursor: Cursor, current: CurrentSession, run: CurrentRun, edits: StateEditController, detail: EventDetail) -> None:
        super().__init__(detail)
        self._cursor = cursor
        self._current = current
        self._run = run
        self._edits = edits
        self._detail = detail
        self._read = ""  # the part of a long session's past that has been read
        detail.state_edit.edit_requested.connect(edits.edit)
        detail.state_edit.undo_requested.connect(edits.undo)
        current.state_computed.connect(self._on_state_computed)
        current.session_loading.connect(self._on_session_loading)
        current.past_progress.connect(self._on_past_progress)
        run.changed.connect(self._show_editing)

    def _on_state_computed(self, computed: StateAtEvent | None) -> None:
        detail = self._detail
        if computed is None:
            detail.clear("No event is selected", "Select one in the stream to see its content, the state after it and its JSON.")
        else:
            detail.show_event(computed.index, computed.event, RAN_AHEAD if self._run.ran_ahead(computed.event.id) else "")
            past = computed.past
            if past is not None and past.is_read:
                detail.set_state(past.state, past.changes, past.writers, computed.compared, past.changed_since)
            elif past is not None:
                detail.set_state(past.state, past.changes, None, computed.compared, unread=True)
                self._show_progress()
        self._show_editing()

    def _show_editing(self) -> None:
        """Show whether state can be edited, and what the held agent has written without an event."""
        detail, session, index = self._detail, self._current.session, self._cursor.event_index
        detail.state_edit.set_blocked(self._edits.blocked())
        detail.state_edit.set_undo(self._edits.selected_edit() is not None)
        at_end = session is not None and session.address == self._run.address and index == len(session.events) - 1
        detail.state.model.set_uncommitted(self._run.uncommitted if at_end else {})

    def _on_session_loading(self) -> None:
        self._read = ""

    def _on_past_progress(self, read: int, count: int) -> None:
        self._read = f": {read / max(count, 1):.0%}"
        self._show_progress()

    def _show_progress(self) -> None:
        self._detail.show_reading(f"Reading the past{self._read or '…'}")
