"""The messages that are being written: one for each session, so that none is sent to another session than it was written for."""

from __future__ import annotations

from PySide6.QtCore import QObject

from inspector_app.documents.session_address import SessionAddress
from inspector_app.running.composer import Composer
from inspector_app.workspace.current_run import CurrentRun, RunEnd
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.open_databases import OpenDatabases


class Drafts(QObject):
    """Keeps the composer's text with the session that a message would go to, as long as the window is open.

    Args:
        cursor: the selected session.
        databases: tells when sessions were moved to another database.
        run: knows where a message would go, and what became of the last one.
        composer: the editor of messages.
    """

    def __init__(
        self, cursor: Cursor, databases: OpenDatabases, run: CurrentRun, composer: Composer, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._run = run
        self._composer = composer
        self._texts: dict[SessionAddress | None, str] = {}  # of the sessions that are not displayed; None: of a new one
        self._place = run.message_address
        self._sent_from: SessionAddress | None = None
        cursor.session_changed.connect(self._show)
        databases.unsaved_moved.connect(self._on_unsaved_moved)
        run.changed.connect(self._show)
        run.session_created.connect(self._on_session_created)
        run.run_started.connect(self._on_run_started)
        run.run_ended.connect(self._on_run_ended)

    def note_sent(self) -> None:
        """Remember which session's draft is being sent: it is cleared once the run has started."""
        self._sent_from = self._place

    def clear_unedited(self, text: str) -> None:
        """Clear the drafts that still are this text."""
        self._composer.clear_unedited(text)
        self._texts = {place: draft for place, draft in self._texts.items() if draft.strip() != text.strip()}

    def _show(self) -> None:
        """Show the draft of the session that a message would go to now."""
        place = self._run.message_address
        if place != self._place:
            self._texts[self._place] = self._composer.draft
            self._place = place
            self._composer.set_text(self._texts.pop(place, ""))

    def _on_session_created(self, address: SessionAddress, is_wanted: bool) -> None:
        """Leave what was written for a new session to the session that was created."""
        if self._place is None:
            self._place = address
            if not is_wanted:
                self._show()  # what is written from now on is for the next one
        elif (text := self._texts.pop(None, "")) and address != self._place:
            self._texts[address] = text
        self._sent_from = self._sent_from or address

    def _on_unsaved_moved(self, old: str, new: str) -> None:
        def moved(place: SessionAddress | None) -> SessionAddress | None:
            return SessionAddress(new, place.key) if place is not None and place.database == old else place

        self._texts = {moved(place): text for place, text in self._texts.items()}
        self._place, self._sent_from = moved(self._place), moved(self._sent_from)

    def _on_run_started(self) -> None:
        sent = self._run.message.strip()
        if not sent:
            return
        if self._sent_from == self._place:
            if (left := _without(self._composer.draft, sent)) != self._composer.draft:
                self._composer.set_text(left)
        elif self._sent_from in self._texts:
            self._texts[self._sent_from] = _without(self._texts[self._sent_from], sent)

    def _on_run_ended(self, end: RunEnd) -> None:
        """Put back a message that was not stored, because the disk was full or another process held the database."""
        if not self._run.message or end.committed:
            return
        if end.address == self._place:
            if not self._composer.text:
                self._composer.set_text(self._run.message)
        elif not self._texts.get(end.address, "").strip():
            self._texts[end.address] = self._run.message


def _without(draft: str, sent: str) -> str:
    """Return what was written after a message while it was being sent; the whole draft if the message itself was changed."""
    written = draft.lstrip()
    return written[len(sent) :].lstrip() if written.startswith(sent) else draft
