"""The tables of an open database file as plain rows, read on their own thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from PySide6.QtCore import QObject

from inspector_app.databases.raw_rows import length_of
from inspector_app.databases.raw_tables_pane import RawTablesPane
from inspector_app.presentation.values import visible
from inspector_app.support.tasks import Tasks
from inspector_app.support.worker import Worker
from inspector_app.widgets.text_dialog import TextDialog
from inspector_app.workspace.messages import MessageBus
from runtime.errors.known_error import KnownError
from runtime.storage.reading.raw_tables import MOST_COUNTED, Direction, RawPage, RawTable, RawTables, RawValue

T = TypeVar("T")
SHOWN_AS_SESSIONS = {"sessions", "events", "app_states", "user_states", "adk_internal_metadata"}
_HEX_LINE = 16  # bytes of a BLOB on a line
_MOST_HEX = 64 * 1024  # bytes of a BLOB that are displayed


class RawTablesController(QObject):
    """A controller that fills the pane of tables.

    Args:
        pane: the pane to fill.
        messages: receives why a value cannot be read.
        tasks: runs the reading.
        holds_sessions: whether the file's sessions are also displayed as such.
    """

    def __init__(
        self, pane: RawTablesPane, messages: MessageBus, tasks: Tasks, parent: QObject | None = None, *, holds_sessions: bool = True
    ) -> None:
        super().__init__(parent)
        self._pane = pane
        self._messages = messages
        self._tasks = tasks
        self._holds_sessions = holds_sessions
        self._file: Path | None = None
        self._raw: RawTables | None = None
        self._worker: Worker | None = None
        self._tables: list[RawTable] = []
        self._page: RawPage | None = None
        pane.table_chosen.connect(self._on_table_chosen)
        pane.page_requested.connect(self._on_page_requested)
        pane.value_requested.connect(self._on_value_requested)

    def set_file(self, file: Path | None) -> None:
        """Choose the file whose tables `show` reads; None if the database is not a file."""
        self.close()
        self._file, self._tables, self._page = file, [], None
        self._pane.set_tables([])
        if file is None:
            self._pane.say("These sessions are not in a file", "To read the tables of a server, use its own tools, such as psql.")
        else:
            self._pane.say("Reading the tables…")

    def show(self) -> None:
        """Read the file's tables, unless they are already read."""
        if self._file is not None and self._raw is None:
            self._raw = RawTables(self._file)
            self._worker = Worker(f"tables of {self._file}")
            self.read_again()

    def read_again(self) -> None:
        """List the tables again, and show the first page of the selected one."""
        if self._raw is not None:
            self._tasks.spawn(self._read_tables(self._raw), "Reading the tables")

    def close(self) -> None:
        """Release the file."""
        if self._worker is not None and self._raw is not None:
            self._worker.close(self._raw.close)
        self._worker = self._raw = None

    async def _read_tables(self, raw: RawTables) -> None:
        chosen = self._page.table.name if self._page is not None else None
        tables = await self._ask(raw, raw.tables)
        if tables is None:
            return
        self._tables = tables
        filled = next((number for number, table in enumerate(tables) if table.row_count), 0 if tables else -1)
        place = next((number for number, table in enumerate(tables) if table.name == chosen), filled)
        self._pane.set_tables([(table.name, _count(table), self._note(table)) for table in tables], chosen=place)
        if tables:
            await self._read_page(raw, tables[place], "first")
        else:
            self._pane.say("The file has no tables")

    async def _read_page(self, raw: RawTables, table: RawTable, direction: Direction, place: int | None = None) -> None:
        page = await self._ask(raw, raw.page, table, direction, place)
        if page is None:
            return
        self._page = page
        numbers = page.places if table.numbered is not None else [number + 1 for number in page.places]
        self._pane.model.set_rows(table.columns, numbers, page.rows)
        possible = (("first", "previous") if page.before else ()) + (("next", "last") if page.after else ())
        self._pane.show_page(_place(page, numbers), set(possible))

    async def _show_value(self, raw: RawTables, page: RawPage, row: int, column: int) -> None:
        name = page.table.columns[column][0]
        value = await self._ask(raw, raw.value, page.table, page.places[row], name, inline=False)
        if value is not None:
            TextDialog(visible(f"{page.table.name}.{name}, row {page.places[row]:,}"), _text(value), self._pane).open()

    async def _ask(self, raw: RawTables, work: Callable[..., T], *args: Any, inline: bool = True) -> T | None:
        """Return the result of `work` on the worker thread; None if it failed, or if another file was chosen meanwhile.

        Args:
            raw: the tables that `work` reads.
            work: called with `args`.
            args: the arguments.
            inline: report a failure in the pane, in place of the rows; otherwise as a message.
        """
        if raw is not self._raw or self._worker is None:
            return None
        try:
            found = await self._worker.call(work, *args)
        except KnownError as error:
            if raw is self._raw and inline:
                self._pane.say("The table could not be read", str(error))
            elif raw is self._raw:
                self._messages.warning(str(error))
            return None
        return found if raw is self._raw else None

    def _note(self, table: RawTable) -> str:
        known = self._holds_sessions and (table.name in SHOWN_AS_SESSIONS or table.name.startswith("inspector_"))
        what = "Also shown as sessions, events and state." if known else "Not interpreted: shown only here."
        return f"{what}\n{table.left_out:,} more columns are not shown." if table.left_out else what

    def _on_table_chosen(self, row: int) -> None:
        if self._raw is not None and row < len(self._tables):
            self._tasks.spawn(self._read_page(self._raw, self._tables[row], "first"), "Reading a table")

    def _on_page_requested(self, direction: Direction) -> None:
        raw, page = self._raw, self._page
        if raw is not None and page is not None and page.places:
            place = page.places[0] if direction == "previous" else page.places[-1]
            self._tasks.spawn(self._read_page(raw, page.table, direction, place), "Reading a table")

    def _on_value_requested(self, row: int, column: int) -> None:
        if self._raw is not None and self._page is not None:
            self._tasks.spawn(self._show_value(self._raw, self._page, row, column), "Reading a value")


def _count(table: RawTable) -> str:
    return f"{MOST_COUNTED:,}+" if table.row_count > MOST_COUNTED else f"{table.row_count:,}"


def _place(page: RawPage, rows: Sequence[int]) -> str:
    if not rows:
        return "No rows"
    if page.table.row_count == 1:
        return "1 row"
    of = f"of {_count(page.table)}" if page.table.row_count > len(rows) else ""
    return f"rows {rows[0]:,}–{rows[-1]:,} {of}".strip()


def _text(value: RawValue) -> str:
    """Return a whole value as text; a BLOB as a hex dump, without decoding it."""
    if value.kind == "null":
        return "NULL"
    if value.kind != "blob":
        return str(value.value)
    data = value.value[:_MOST_HEX]
    lines = [f"{length_of(value)}{', the first 64 KiB' if len(data) < (value.length or 0) else ''}", ""]
    for start in range(0, len(data), _HEX_LINE):
        line = data[start : start + _HEX_LINE]
        letters = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in line)
        lines.append(f"{start:08x}  {line.hex(' '):<{_HEX_LINE * 3}} {letters}")
    return "\n".join(lines)
