"""The notes on a database's events and the names of its sessions: in it if it is ours and can be written, else in a file of our own."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from inspector_app.support.data_folder import data_folder
from runtime.errors.not_found_error import SessionNotFoundError
from runtime.sessions.note import NAME, Note, checked_text, merged
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.database_url import named_file
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.notes import Notes
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.writing.notes_file import NotesFile
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from runtime.sessions.base_session_service import BaseSessionService


class EventNotes:
    """The notes of one database, whether it is ours or another program's, which a note must not change.

    Args:
        target: the database: a path or a URL.
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._file = NotesFile(target, data_folder() / "notes")

    def revision_beside(self) -> tuple[object, ...]:
        """Return values that change whenever a note in our own file does."""
        return self._file.revision()

    def read(self, database: StoredDatabase, key: SessionKey | None = None) -> Notes:
        """Return the notes of one session or of all, by event id.

        Args:
            database: the open database.
            key: the session; None: all.
        """
        inside, beside = database.notes(key), self._file.notes(key)
        found = {owner: merged(inside.get(owner, {}), beside.get(owner, {})) for owner in inside.keys() | beside.keys()}
        return {owner: notes for owner, notes in found.items() if notes}

    def of(self, database: StoredDatabase, key: SessionKey) -> dict[str, Note]:
        """Return the notes of a session, by event id; see `read`."""
        return self.read(database, key).get(key, {})

    def names(self, database: StoredDatabase) -> dict[SessionKey, str]:
        """Return the names that the user gave to sessions."""
        return {key: notes[NAME].text for key, notes in self.read(database).items() if NAME in notes}

    def are_inside(self, database: StoredDatabase) -> bool:
        """Return whether new notes go into the database itself."""
        layout, file = database.layout, named_file(self._target)
        return layout.ours and layout.format.writer is not None and (file is None or os.access(file, os.W_OK))

    async def put(self, service: BaseSessionService | None, key: SessionKey, event_id: str, note: Note) -> None:
        """Store a note in place of an earlier one on the event; an empty one deletes it.

        Args:
            service: the database's service, if `are_inside`; else None.
            key: the session.
            event_id: the event.
            note: the note.

        Raises:
            StorageError: it cannot be stored.
        """
        if service is None:
            await run_in_thread(self._file.put, key, event_id, note)
            return
        if await self._store_beside(service):  # the database has become ours since they were made
            await run_in_thread(self._file.delete)
        await service.set_note(key, event_id, note)

    async def carry_to(self, copy: str) -> None:
        """Store the notes that are in our own file in a copy of the database, which is ours.

        Args:
            copy: its path or URL.
        """
        if self._file.path.is_file():
            async with open_session_service(copy) as service:
                await self._store_beside(service)

    async def _store_beside(self, service: BaseSessionService) -> bool:
        """Store the notes of our own file in a database, and return whether there are any."""
        beside = await run_in_thread(self._file.notes)
        for key, notes in beside.items():
            inside = await service.notes(key)
            for event_id, note in notes.items():
                if event_id not in inside or note.at >= inside[event_id].at:
                    try:
                        await service.set_note(key, event_id, note)
                    except SessionNotFoundError:
                        break  # the session was deleted
        return bool(beside)


def changed_note(old: Note | None, *, text: str | None = None, is_bookmark: bool | None = None) -> Note:
    """Return a note with another text, or with or without bookmark, as of now.

    Args:
        old: the present note, if any.
        text: the new text; None keeps the old one.
        is_bookmark: None keeps the old mark.

    Raises:
        NoteError: the text is too long.
    """
    before = old or Note()
    kept = before.text if text is None else checked_text(text)
    at = max(time.time(), before.at + 1e-6)  # later than the old one, also if the clock was set back
    return Note(kept, before.is_bookmark if is_bookmark is None else is_bookmark, at)
