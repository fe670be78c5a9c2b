"""A database that holds no sessions, looked at all the same: its tables as they stand, read only."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject

from inspector_app.databases.raw_tables_controller import RawTablesController
from inspector_app.opening.opening_controller import OpeningController
from inspector_app.shell.main_window import MainWindow
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.messages import MessageBus


class ForeignDatabaseController(QObject):
    """Shows its page when such a file is opened, one file at a time.

    Args:
        window: whose page it is.
        opening: finds such files, and knows where to go from the page.
        messages, tasks: of the window.
    """

    def __init__(
        self, window: MainWindow, opening: OpeningController, messages: MessageBus, tasks: Tasks, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._window = window
        self._opening = opening
        self._tasks = tasks
        self._file: Path | None = None
        self._page = window.foreign_database
        self._tables = RawTablesController(self._page.tables, messages, tasks, self, holds_sessions=False)
        opening.other_database_found.connect(self._on_found)
        self._page.left.connect(self._on_left)
        window.commands.reload.triggered.connect(self._on_reload)

    def close(self) -> None:
        """Let go of the file."""
        self._file = None
        self._tables.close()

    def _on_found(self, path: str, text: str) -> None:
        self._page.show_text(f"{text} Its tables are shown, read only.")
        if Path(path) == self._file and self._window.page is self._page:
            self._tables.read_again()
            return
        self._file = Path(path)
        self._tables.set_file(self._file)
        self._window.show_page(self._page)
        self._tables.show()
        self._page.tables.tables.setFocus()

    def _on_reload(self) -> None:
        """Look at the file again: google-adk may have been about to make its tables."""
        if self._file is not None and self._page.isVisible():
            self._tasks.spawn(self._look_again(self._file), f"Reading {self._file.name} again")

    async def _look_again(self, file: Path) -> None:
        await self._opening.open_paths([str(file)])
        if self._window.page is not self._page:
            self.close()

    def _on_left(self) -> None:
        self.close()
        self._opening.show_home()
