"""What becomes of sessions that are in no database of the user's: *Save as*, and the question where closing the window would lose some."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from inspector_app.sessions.exchange_dialogs import ask_for_new_database
from inspector_app.shell.leave_dialog import LeaveDialog
from inspector_app.shell.main_window import MainWindow
from inspector_app.support.preferences import Preferences
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.messages import MessageBus
from inspector_app.workspace.unsaved_sessions import UnsavedSessions

TITLE = "Save the sessions of this window"


class LeaveController(QObject):
    """Saves sessions on request, and asks before the window is closed, if that would delete sessions.

    Args:
        unsaved: the sessions.
        preferences: remembers where they were saved.
        tasks: runs the saving; it reports errors, and the window stays open then.
        messages: receives what was saved.
        window: the window.
    """

    def __init__(
        self,
        unsaved: UnsavedSessions,
        preferences: Preferences,
        tasks: Tasks,
        messages: MessageBus,
        window: MainWindow,
    ) -> None:
        super().__init__(window)
        self._unsaved = unsaved
        self._preferences = preferences
        self._tasks = tasks
        self._messages = messages
        self._window = window
        self._is_saved = False
        window.leave_requested.connect(self._on_leave_requested)

    @property
    def keeps(self) -> bool:
        """Whether the program keeps this window's sessions for the next one: they are a person's, and were not saved."""
        return not self._is_saved and self._unsaved.count() > 0

    def _on_leave_requested(self) -> None:
        count = self._unsaved.count(lost=True)
        if count == 0:
            self._window.close_requested.emit()
            return
        if self._window.findChild(LeaveDialog) is not None:
            return
        asked = LeaveDialog(count, self._window)
        asked.save_button.clicked.connect(self._on_save)
        asked.delete_button.clicked.connect(self._window.close_requested)
        asked.open()

    def _on_save(self) -> None:
        ask_for_new_database("sessions", self._on_chosen, partial(self._window.activateWindow), self._window, TITLE)

    def _on_chosen(self, file: str) -> None:
        self._tasks.spawn(self._save(Path(file)), f"Saving to {Path(file).name}")

    async def _save(self, file: Path) -> None:
        for written in await self._unsaved.save(file):
            self._preferences.add_recent(str(written))
        self._is_saved = True
        self._window.close_requested.emit()

    def ask_where_to_save(self) -> None:
        """Ask for the database that the unsaved sessions are put into; the window stays open."""
        ask_for_new_database("sessions", self._on_file_chosen, self._window.activateWindow, self._window, "Save the unsaved sessions")

    def _on_file_chosen(self, file: str) -> None:
        self._tasks.spawn(self._save_as(Path(file)), f"Saving to {Path(file).name}")

    async def _save_as(self, file: Path) -> None:
        files, sentence = await self._unsaved.save_as(file)
        for written in files:
            self._preferences.add_recent(str(written))
        self._messages.info(sentence)
