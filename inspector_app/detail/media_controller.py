"""Opening of the sounds, films and documents in an event, on a click only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTemporaryDir

from inspector_app.detail.event_detail import EventDetail
from inspector_app.detail.media_buttons import open_with_system
from inspector_app.detail.media_files import media_file, media_type
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.messages import MessageBus
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from google.genai import types


class MediaController(QObject):
    """A controller that writes a temporary file and opens it with the system's program. The files are deleted with the window.

    Args:
        tasks: runs the writing.
        messages: receives why nothing was opened.
        detail: the view with the buttons.
    """

    def __init__(self, tasks: Tasks, messages: MessageBus, detail: EventDetail) -> None:
        super().__init__(detail)
        self._tasks = tasks
        self._messages = messages
        self._folder: QTemporaryDir | None = None  # for its owner only; deleted with this object
        self._count = 0
        detail.cards.media_requested.connect(self._on_requested)

    def _on_requested(self, blob: types.Blob) -> None:
        self._tasks.spawn(self._open(blob), "Opening the file")

    async def _open(self, blob: types.Blob) -> None:
        try:
            suffix, data = media_file(blob)
        except ValueError as error:
            self._messages.info(str(error))
            return
        if self._folder is None:
            self._folder = QTemporaryDir()
        self._count += 1
        file = Path(self._folder.path()) / f"event-{self._count}{suffix}"
        try:
            await run_in_thread(file.write_bytes, data)
        except OSError as error:
            self._messages.warning(f"The file cannot be written: {error}.")
            return
        if not open_with_system(file):
            self._messages.info(f"This system has no program for {media_type(blob)}. The file is {file} until the window is closed.")
