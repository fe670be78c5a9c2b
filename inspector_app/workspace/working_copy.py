"""Going on in a copy of somebody else's database, which stays as it is."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QObject

from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_files import copy_files
from inspector_app.documents.sources import Source
from inspector_app.shell.parts import Parts
from inspector_app.support.data_folder import data_folder
from runtime import sessions
from runtime.sessions.session import SessionKey
from runtime.support.worker_threads import run_in_thread


class WorkingCopy(QObject):
    """Copies databases that are open read only.

    Args:
        parts: of the window.
    """

    def __init__(self, parts: Parts, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._messages = parts.messages
        self._tasks = parts.tasks
        self._cursor = parts.cursor
        self._browse = parts.browse
        parts.window.workbench.writing_hint.other_accepted.connect(self._on_copy)
        parts.window.commands.work_on_copy.triggered.connect(self._on_copy)

    async def open_copy(self, source: Source, key: SessionKey) -> None:
        """Copy a database, open the copy and select a session in it.

        Raises:
            StorageError: it cannot be copied.
        """
        copy = free_copy_name(Path(source.target))
        await run_in_thread(_copy, source.target, copy)
        await run_in_thread(copy_files, source.target, str(copy))
        opened = await self._browse.open_database(str(copy))
        if opened is None:
            return
        self._messages.info(f"This is a copy now: {copy}. {source.title} stays as it is.")
        self._cursor.select_session(SessionAddress(opened.target, key))
        await self._browse.wait_until_loaded()

    def _on_copy(self) -> None:
        session = self._browse.session
        if session is not None and not session.source.writing_allowed:
            self._tasks.spawn(self.open_copy(session.source, session.address.key), "Copying the database")


def _copy(target: str, new: Path) -> None:
    sessions.copy_of_database(target, new)  # loaded on this thread: the window need not wait for SQLAlchemy


def free_copy_name(file: Path) -> Path:
    """Return a name for a copy that nobody uses: beside the original, or where nothing can be written there, in our own folder."""
    folder = file.parent
    if not os.access(folder, os.W_OK):
        folder = data_folder()
        folder.mkdir(parents=True, exist_ok=True)
    name, number = folder / f"{file.stem}-copy{file.suffix}", 1
    while name.exists():
        number += 1
        name = folder / f"{file.stem}-copy-{number}{file.suffix}"
    return name
