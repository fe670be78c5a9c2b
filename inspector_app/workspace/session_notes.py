"""The owner of the notes on the displayed session's events."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.event_notes import changed_note
from inspector_app.documents.open_session import OpenSession
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.current_session import CurrentSession
from runtime.sessions.note import NAME, Note


class SessionNotes(QObject):
    """The notes of the displayed session. A change is displayed at once and stored in the background.

    Signals:
        changed: other notes than before.
        deleted(str, Note): the user deleted this note on the event with this id.

    Args:
        current: the displayed session.
        tasks: reads and stores.
    """

    changed = Signal()
    deleted = Signal(str, object)

    def __init__(self, current: CurrentSession, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks = tasks
        self._session: OpenSession | None = None  # until another one is read, so that a text typed last can be stored
        self._notes: dict[str, Note] = {}
        self._one_at_a_time = asyncio.Lock()
        self._storing: set[asyncio.Task[None]] = set()
        current.session_loading.connect(self._on_session_loading)
        current.session_loaded.connect(self._on_session_loaded)

    @property
    def notes(self) -> Mapping[str, Note]:
        """The notes by event id."""
        return self._notes

    def of(self, event_id: str) -> Note | None:
        """Return the note on an event; None if it has none."""
        return self._notes.get(event_id)

    async def places(self) -> list[int]:
        """Return the indexes of the noted events in the session, ascending."""
        session, found = self._session, []
        if session is None:
            return []
        for event_id in list(self._notes):
            place = session.index_of(event_id)
            if place is None and session.pages is not None:
                place = await session.pages.index_of(event_id)
            if place is not None:
                found.append(place)
        return sorted(found)

    def write(self, event_id: str, text: str) -> None:
        """Replace the text of an event's note; an empty one deletes the text.

        Raises:
            NoteError: the text is too long.
        """
        self._store(event_id, changed_note(self.of(event_id), text=text))

    def toggle_bookmark(self, event_id: str) -> None:
        """Bookmark an event, or remove its bookmark."""
        old = self.of(event_id)
        self._store(event_id, changed_note(old, is_bookmark=not (old is not None and old.is_bookmark)))

    def delete(self, event_id: str) -> None:
        """Delete the text of an event's note; its bookmark stays."""
        old = self.of(event_id)
        if old is not None and old.text:
            self._store(event_id, changed_note(old, text=""))
            self.deleted.emit(event_id, old)

    async def wait_until_stored(self, seconds: float) -> None:
        """Wait until all changes are stored, at most this long: another process may lock the database."""
        if self._storing:
            await asyncio.wait(self._storing, timeout=seconds)

    def reread(self, target: str) -> None:
        """Read the notes again if the displayed session is in this database: another window or process changed some."""
        session = self._session
        if session is not None and session.address.database == target:
            self._tasks.spawn(self._read(session), "Reading the notes")

    def _store(self, event_id: str, note: Note) -> None:
        session = self._session
        if session is None:
            return
        self._take({**self._notes, event_id: note})
        storing = self._tasks.spawn(self._keep(session, event_id, note), "Storing a note")
        self._storing.add(storing)
        storing.add_done_callback(self._storing.discard)

    async def _keep(self, session: OpenSession, event_id: str, note: Note) -> None:
        try:
            async with self._one_at_a_time:
                await session.source.set_note(session.address.key, event_id, note)
        except BaseException:
            await self._read(session)  # display what is stored
            raise

    def _on_session_loading(self, _address: object) -> None:
        self._session = None
        self._take({})

    def _on_session_loaded(self, session: OpenSession) -> None:
        self._session = session
        self._tasks.spawn(self._read(session), "Reading the notes")

    async def _read(self, session: OpenSession) -> None:
        async with self._one_at_a_time:
            found = await session.source.notes(session.address.key)
        if self._session is session:
            self._take(found)

    def _take(self, notes: Mapping[str, Note]) -> None:
        kept = {event_id: note for event_id, note in notes.items() if not note.is_empty and event_id != NAME}
        if kept != self._notes:
            self._notes = kept
            self.changed.emit()
