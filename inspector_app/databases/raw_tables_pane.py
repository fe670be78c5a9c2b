"""The tables of a database as raw rows: a list of tables, a page of one, and any value in full."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QPushButton,
    QSplitter,
    QStackedLayout,
    QTableView,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from inspector_app.databases.raw_rows import RawRowsModel, shown
from inspector_app.presentation.values import plain_tooltip, visible
from inspector_app.widgets import theme
from inspector_app.widgets.clipboard import add_copy_action
from inspector_app.widgets.controls import push_button
from inspector_app.widgets.elided_label import ElidedLabel
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.row_menu import RowMenu, passing_menu

_ROW_HEIGHT = 24
_WIDTHS = (60, 240)  # minimum and maximum initial width of a column, pixels
_NAMES, _NAMES_MOST = 170, 280  # initial width of the table names, and their largest minimum width, pixels
_PAGES = {
    "first": ("angles-left", "First page"),
    "previous": ("angle-left", "Previous page"),
    "next": ("angle-right", "Next page"),
    "last": ("angles-right", "Last page"),
}


class RowsView(QTableView):
    """A table of rows; Enter opens a value in full."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Report Enter as activation on every platform."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.activated.emit(self.currentIndex())
            return
        super().keyPressEvent(event)


class RawTablesPane(QWidget):
    """A list of tables and a page of the chosen one.

    Attributes:
        tables: the tables' names and row counts.
        model, rows: the page, and the view of it.
        buttons: the paging buttons by name.

    Signals:
        table_chosen (int): the user chose the table at this position.
        page_requested (str): the user asked for the `first`, `previous`, `next` or `last` page.
        value_requested (int, int): the user asked for the full value at this row and column.
    """

    table_chosen = Signal(int)
    page_requested = Signal(str)
    value_requested = Signal(int, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("raw_tables_pane")
        self.tables = self._make_list()
        self.model = RawRowsModel(self)
        self.rows = self._make_rows()
        self._place = named(ElidedLabel(), "raw_place")
        self._place.setProperty("role", "secondary")
        self.buttons = {name: self._make_button(name) for name in _PAGES}
        self._open = push_button(
            "Open full",
            "raw_open_full",
            self._on_open_full,
            icon=theme.icon("up-right-from-square"),
            does="Open the selected value in full",
        )
        self._empty = EmptyState()
        self._empty.setProperty("card", "false")
        self._stack = QStackedLayout()
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._right())
        split = named(QSplitter(self, childrenCollapsible=False), "raw_splitter")
        split.addWidget(self.tables)
        holder = QWidget()
        holder.setLayout(self._stack)
        split.addWidget(holder)
        split.setSizes([_NAMES, 500])
        split.setStretchFactor(1, 1)
        laid_out(QHBoxLayout(self), split, margins=0)
        theme.current().changed.connect(self._on_theme_changed)

    def _on_theme_changed(self) -> None:
        for row in range(self.tables.rowCount()):
            if (count := self.tables.item(row, 1)) is not None:
                count.setForeground(theme.color("dim"))

    def set_tables(self, tables: Sequence[tuple[str, str, str]], *, chosen: int = -1) -> None:
        """Replace the list of tables.

        Args:
            tables: name, row count as text, and a note for each table.
            chosen: position of the table whose rows are shown; -1 for none.
        """
        self.tables.blockSignals(True)
        self.tables.setRowCount(len(tables))
        for row, (name, count, note) in enumerate(tables):
            for column, text in enumerate((visible(name), count)):
                cell = QTableWidgetItem(text)
                cell.setToolTip(plain_tooltip(f"{name}\n{note}"))
                if column:
                    cell.setForeground(theme.color("dim"))
                    cell.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
                self.tables.setItem(row, column, cell)
        wanted = self.tables.sizeHintForColumn(0) + self.tables.sizeHintForColumn(1) + 16
        self.tables.setMinimumWidth(min(wanted, _NAMES_MOST))
        self.tables.setCurrentCell(chosen, 0)
        self.tables.blockSignals(False)

    def say(self, title: str, hint: str = "") -> None:
        """Show a text instead of rows."""
        self._empty.set_text(title, hint)
        self._stack.setCurrentWidget(self._empty)

    def show_page(self, place: str, possible: set[str]) -> None:
        """Show the model's page.

        Args:
            place: text that states which rows are shown.
            possible: names of the pages that can be reached.
        """
        self._place.setText(place)
        for name, button in self.buttons.items():
            button.setEnabled(name in possible)
        self._stack.setCurrentIndex(1)
        self.rows.resizeColumnsToContents()
        least, most = _WIDTHS
        most = max(most, self.rows.viewport().width() // max(self.model.columnCount(), 1))  # a wide window leaves room for wider columns
        for column in range(self.model.columnCount()):
            self.rows.setColumnWidth(column, min(max(self.rows.columnWidth(column), least), most))
        self.rows.scrollToTop()
        if self.model.rowCount():
            self.rows.setCurrentIndex(self.model.index(0, 0))
        self._open.setEnabled(bool(self.model.rowCount()))

    def _make_list(self) -> QTableWidget:
        table = named(QTableWidget(0, 2), "raw_table_names", "Tables of the database")
        _set_up(table)
        table.horizontalHeader().hide()
        table.verticalHeader().hide()
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        table.currentCellChanged.connect(self._on_table_changed)
        return table

    def _make_rows(self) -> RowsView:
        rows = named(RowsView(), "raw_rows", "Rows of the table")
        rows.setProperty("bare", "true")
        rows.setModel(self.model)
        _set_up(rows)
        theme.use_mono(rows)
        rows.horizontalHeader().setResizeContentsPrecision(20)
        rows.horizontalHeader().setHighlightSections(False)
        rows.horizontalHeader().setStretchLastSection(True)
        rows.verticalHeader().setHighlightSections(False)
        rows.activated.connect(self._on_activated)
        RowMenu(rows, self.context_menu)
        return rows

    def _make_button(self, name: str) -> QPushButton:
        icon, text = _PAGES[name]
        button = push_button("", f"raw_{name}", icon=theme.icon(icon), does=text)
        button.setToolTip(text)
        button.clicked.connect(partial(self.page_requested.emit, name))
        return button

    def _right(self) -> QWidget:
        part = QWidget()
        part.setProperty("card", "true")
        bar = laid_out(QHBoxLayout(), (self._place, 1), margins=(8, 6, 6, 6), spacing=4)
        for button in self.buttons.values():
            bar.addWidget(button)
        bar.addSpacing(8)
        bar.addWidget(self._open)
        laid_out(QVBoxLayout(part), (self.rows, 1), bar, margins=1, spacing=0)
        return part

    def _on_table_changed(self, row: int, _column: int, before: int, _before_column: int) -> None:
        if row >= 0 and row != before:
            self.table_chosen.emit(row)

    def _on_activated(self, index: QModelIndex) -> None:
        self.value_requested.emit(index.row(), index.column())

    def _on_open_full(self) -> None:
        index = self.rows.currentIndex()
        if index.isValid():
            self._on_activated(index)

    def context_menu(self, index: QModelIndex) -> QMenu | None:
        """Return the menu of a value, or None if there is no value."""
        value = self.model.value(index)
        if value is None:
            return None
        menu = passing_menu(self)
        add_copy_action(menu, "Copy shown part" if value.is_cut else "Copy value", shown(value))
        menu.addAction(theme.icon("up-right-from-square", "dim"), "Open full…").triggered.connect(partial(self._on_activated, index))
        return menu


def _set_up(table: QTableView) -> None:
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setTabKeyNavigation(False)
    theme.keep_row_height(table, _ROW_HEIGHT)
    table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
