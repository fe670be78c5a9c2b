"""The note on the selected event: shown in its details, written there, and deleted with an undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from inspector_app.detail.commands import DetailCommands
from inspector_app.detail.event_detail import EventDetail
from inspector_app.widgets.actions import allow
from inspector_app.widgets.hint_bar import HintBar
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.session_notes import SessionNotes
from runtime.sessions.note import Note

if TYPE_CHECKING:
    from runtime.events.event import Event


class NoteController(QObject):
    """A controller of the note bar and of the commands that bookmark and note the selected event.

    Signals:
        editing_began: the user writes a note, so the selection should stay where it is.

    Args:
        current: the displayed session.
        notes: the notes.
        commands: the commands of the details.
        detail: shows the note.
        hint: offers to restore a deleted note.
    """

    editing_began = Signal()

    def __init__(
        self,
        current: CurrentSession,
        notes: SessionNotes,
        commands: DetailCommands,
        detail: EventDetail,
        hint: HintBar,
    ) -> None:
        super().__init__(detail)
        self._notes = notes
        self._commands = commands
        self._detail = detail
        self._hint = hint
        self._shown: str | None = None  # the event whose note is displayed
        self._deleted: tuple[str, Note] | None = None
        bar = detail.note
        bar.saved.connect(self._on_saved)
        bar.deleted.connect(self._on_delete)
        bar.editing_began.connect(self.editing_began)
        detail.bookmark.clicked.connect(self.toggle_bookmark)
        detail.add_note.clicked.connect(self.edit)
        detail.event_shown.connect(self._on_event_shown)
        commands.toggle_bookmark.triggered.connect(self.toggle_bookmark)
        commands.edit_note.triggered.connect(self.edit)
        notes.changed.connect(self._show)
        notes.deleted.connect(self._on_deleted)
        hint.accepted.connect(self._on_undo)
        current.session_loading.connect(self._on_session_loading)
        current.state_computed.connect(self._on_state_computed)
        self._allow()

    def toggle_bookmark(self) -> None:
        """Bookmark the selected event, or remove its bookmark."""
        if self._shown is not None:
            self._notes.toggle_bookmark(self._shown)

    def edit(self) -> None:
        """Open the editor of the selected event's note."""
        if self._shown is not None:
            self._detail.note.edit()

    def keep_draft(self) -> None:
        """Save what is typed in an open editor."""
        self._detail.note.keep_draft()

    def _on_state_computed(self, computed: object) -> None:
        if computed is None:  # no event is selected
            self._leave()

    def _on_session_loading(self, _address: object) -> None:
        self._leave()
        self._hint.hide()

    def _leave(self) -> None:
        """Save what is typed, while the session is still displayed, and show no note."""
        self._detail.note.keep_draft()
        self._shown = None
        self._show()

    def _on_event_shown(self, event: Event) -> None:
        shown = event.id if self._detail.is_of_session else None
        if shown != self._shown:
            self._detail.note.keep_draft()
            self._shown = shown
        self._show()

    def _show(self) -> None:
        note = self._notes.of(self._shown) if self._shown is not None else None
        self._detail.show_note(note, is_possible=self._shown is not None)
        self._allow()

    def _allow(self) -> None:
        blocked = None if self._shown is not None else "Select an event first."
        allow(self._commands.toggle_bookmark, blocked, "Mark this event, to find it again (F4 goes to the next one)")
        allow(self._commands.edit_note, blocked, "Write a text on this event; the event itself does not change")
        none = None if self._notes.notes else "No event of this session has a note or a bookmark."
        for command in (self._commands.next_note, self._commands.previous_note):
            allow(command, none)

    def _on_saved(self, text: str) -> None:
        if self._shown is not None:
            self._notes.write(self._shown, text)

    def _on_delete(self) -> None:
        if self._shown is not None:
            self._notes.delete(self._shown)

    def _on_deleted(self, event_id: str, note: Note) -> None:
        self._deleted = event_id, note
        self._hint.suggest("The note was deleted.", "Undo", "note-sticky", "accent")

    def _on_undo(self) -> None:
        self._hint.hide()
        if self._deleted is not None:
            event_id, note = self._deleted
            self._notes.write(event_id, note.text)
