"""Working copies of databases that another program made; the originals are not changed."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QObject

from inspector_app.documents.event_notes import EventNotes
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_files import copy_files
from inspector_app.documents.sources import Source
from inspector_app.support.data_folder import data_folder
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.current_session import CurrentSession
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.messages import MessageBus
from inspector_app.workspace.open_databases import OpenDatabases
from runtime import sessions
from runtime.sessions.session_key import SessionKey
from runtime.support.worker_threads import run_in_thread

_MOST_NAMED = 5  # files that a message names


class WorkingCopy(QObject):
    """Copies a database that is open read-only, and opens the copy.

    Args:
        cursor: selects the session in the copy.
        databases: opens the copy.
        current: the displayed session, whose database is meant.
        tasks: runs the copying.
        messages: receives the copy's name.
    """

    def __init__(
        self,
        cursor: Cursor,
        databases: OpenDatabases,
        current: CurrentSession,
        tasks: Tasks,
        messages: MessageBus,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._cursor = cursor
        self._databases = databases
        self._current = current
        self._tasks = tasks
        self._messages = messages

    def request(self) -> None:
        """Continue the displayed session in a copy of its database."""
        session = self._current.session
        if session is not None and not session.source.writing_allowed:
            self._tasks.spawn(self.open_copy(session.source, session.address.key), "Copying the database")

    async def open_copy(self, source: Source, key: SessionKey) -> None:
        """Copy a database, open the copy and select a session in it.

        Raises:
            StorageError: it cannot be copied.
        """
        copy = free_copy_name(Path(source.target))
        await run_in_thread(_copy, source.target, copy)
        await EventNotes(source.target).carry_to(str(copy))
        skipped = await run_in_thread(copy_files, source.target, str(copy))
        opened = await self._databases.open_database(str(copy))
        if opened is None:
            return
        self._messages.info(f"This is a copy now: {copy}. {source.title} stays as it is.")
        if skipped:
            names = ", ".join(str(file) for file in skipped[:_MOST_NAMED]) + (", …" if len(skipped) > _MOST_NAMED else "")
            self._messages.warning(f"Links, special files and extremely large files are not in the copy: {names}.")
        self._cursor.select_session(SessionAddress(opened.target, key))
        await self._current.wait_until_loaded()


def _copy(target: str, new: Path) -> None:
    sessions.copy_of_database(target, new)  # on this thread, so that the window does not wait while SQLAlchemy is loaded


def free_copy_name(file: Path) -> Path:
    """Return an unused name for a copy: beside the original, or in our data folder where that folder is read-only."""
    folder = file.parent
    if not os.access(folder, os.W_OK):
        folder = data_folder()
        folder.mkdir(parents=True, exist_ok=True)
    name, number = folder / f"{file.stem}-copy{file.suffix}", 1
    while name.exists():
        number += 1
        name = folder / f"{file.stem}-copy-{number}{file.suffix}"
    return name
