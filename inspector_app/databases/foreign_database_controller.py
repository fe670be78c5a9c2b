"""Databases without sessions: their tables as plain rows, read-only."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from inspector_app.databases.foreign_database_page import ForeignDatabasePage
from inspector_app.databases.raw_tables_controller import RawTablesController
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.messages import MessageBus


class ForeignDatabaseController(QObject):
    """A controller that fills the page with the tables of one file at a time.

    Attributes:
        open_paths: opens a file again, which may have sessions by now.

    Signals:
        opened: the page should be displayed.
        left: the user closed the page.

    Args:
        tasks: runs the reading.
        messages: receives problems.
        page: the page to fill.
    """

    opened = Signal()
    left = Signal()

    def __init__(self, tasks: Tasks, messages: MessageBus, page: ForeignDatabasePage) -> None:
        super().__init__(page)
        self._tasks = tasks
        self._page = page
        self.open_paths: Callable[[list[str]], Awaitable[None]]
        self._file: Path | None = None
        self._tables = RawTablesController(page.tables, messages, tasks, self, holds_sessions=False)
        page.left.connect(self._on_left)

    @property
    def _is_shown(self) -> bool:
        """Whether the page is the window's current one."""
        return self._page.isVisibleTo(self._page.window())

    def close(self) -> None:
        """Release the file."""
        self._file = None
        self._tables.close()

    def show(self, path: str, text: str) -> None:
        """Show a file's tables.

        Args:
            path: the file.
            text: why it is not a session database.
        """
        self._page.show_text(f"{text} Its tables are shown, read-only.")
        if Path(path) == self._file and self._is_shown:
            self._tables.read_again()
            return
        self._file = Path(path)
        self._tables.set_file(self._file)
        self.opened.emit()
        self._tables.show()
        self._page.tables.tables.setFocus()

    def read_again(self) -> None:
        """Read the displayed file again."""
        """Open the file again: google-adk may have created its tables meanwhile."""
        if self._file is not None and self._page.isVisible():
            self._tasks.spawn(self._look_again(self._file), f"Reading {self._file.name} again")

    async def _look_again(self, file: Path) -> None:
        await self.open_paths([str(file)])
        if not self._is_shown:
            self.close()

    def _on_left(self) -> None:
        self.close()
        self.left.emit()
