"""Databases that are open read only: written in place after a backup, or left alone and gone on with in a copy."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import QObject

from inspector_app.controllers.browse import BrowseController
from inspector_app.controllers.sources import Source
from inspector_app.controllers.window_status import WindowStatus
from inspector_app.cursor import Cursor, SessionAddress
from inspector_app.data_folder import data_folder
from inspector_app.messages import MessageBus
from inspector_app.tasks import Tasks
from inspector_app.views.main_window import MainWindow
from runtime.sessions.copy_database import copy_database
from runtime.sessions.session import SessionKey
from runtime.worker_threads import run_in_thread


class WritingController(QObject):
    """Makes it possible to go on in somebody else's database.

    Args:
        window: whose commands and hint ask for it.
        status, messages, tasks, cursor, browse: of the window.
    """

    def __init__(
        self,
        window: MainWindow,
        status: WindowStatus,
        messages: MessageBus,
        tasks: Tasks,
        cursor: Cursor,
        browse: BrowseController,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._status = status
        self._messages = messages
        self._tasks = tasks
        self._cursor = cursor
        self._browse = browse
        hint = window.workbench.writing_hint
        hint.accepted.connect(self._on_allow)
        hint.other_accepted.connect(self._on_copy)
        window.commands.allow_writing.triggered.connect(self._on_allow)
        window.commands.work_on_copy.triggered.connect(self._on_copy)

    async def allow(self, source: Source) -> None:
        """Let a database be written in place; the first write makes a backup beside it.

        Raises:
            StorageError: it can only be read.
        """
        await source.service()  # what stands in the way is said now, not in the middle of a run
        source.writing_allowed = True
        self._messages.info(f"{source.title} may be written now; the first write makes a backup beside it.")
        await self._browse.open_database(source.target)
        self._status.show_source(source)
        self._status.show_session_hints()
        self._status.show_run()

    async def open_copy(self, source: Source, key: SessionKey) -> None:
        """Copy a database, open the copy and select a session in it.

        Raises:
            StorageError: it cannot be copied.
        """
        copy = free_copy_name(Path(source.target))
        await run_in_thread(copy_database, source.target, copy)
        opened = await self._browse.open_database(str(copy))
        if opened is None:
            return
        self._messages.info(f"This is a copy now: {copy}. {source.title} stays as it is.")
        self._cursor.select_session(SessionAddress(opened.target, key))
        await self._browse.wait_until_loaded()

    def _on_allow(self) -> None:
        self._spawn(lambda source, _key: self.allow(source), "Allowing writing")

    def _on_copy(self) -> None:
        self._spawn(self.open_copy, "Copying the database")

    def _spawn(self, work: Callable[[Source, SessionKey], Awaitable[None]], name: str) -> None:
        session = self._browse.session

        async def do() -> None:
            if session is not None and not session.source.writing_allowed:
                await work(session.source, session.address.key)

        self._tasks.spawn(do(), name)


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
