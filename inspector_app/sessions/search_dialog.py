"""The dialog that searches all sessions of a database for words. It stays open while the user goes through the hits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QProgressBar,
    QStackedLayout,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from inspector_app.presentation.values import plain_tooltip, visible
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.list_below import ListBelow

COLUMNS = ("session", "user", "author", "time", "text")
_TEXT = len(COLUMNS) - 1
_MARKED = Qt.ItemDataRole.UserRole  # start and end of the hit in the text
_WIDEST = 200  # pixels of each column but the text's


@dataclass(frozen=True, slots=True)
class FoundEvent:
    """A row of the result.

    Attributes:
        cells: texts of all columns but the last.
        text: an excerpt of the event.
        start, end: position of the first hit in the excerpt.
        session_id: of its session, for the tooltip.
    """

    cells: tuple[str, ...]
    text: str
    start: int
    end: int
    session_id: str = ""


class SearchDialog(QDialog):
    """A dialog that displays the progress and the result of a search.

    Signals:
        asked(str): the user wants to search for these words.
        cancelled: the user stopped the reading of the database.
        chosen(int): the user chose the event in this row.
        ended: the dialog was closed.

    Args:
        title: the database's title.
    """

    asked = Signal(str)
    cancelled = Signal()
    chosen = Signal(int)
    ended = Signal()

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("search_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"Search all sessions of {visible(title)}")
        room = parent.size() if parent is not None else QSize()
        self.resize(max(820, room.width() * 2 // 5), max(480, room.height() // 2))
        self.words = named(QLineEdit(), "search_words", "Words to search for")
        self.words.setPlaceholderText("Find events that contain all of these words")
        theme.make_clearable(self.words)
        self.table = self._make_table()
        self.progress = named(QProgressBar(format="Reading the database: %p%"), "search_progress", "Reading the database")
        self.cancel = push_button("Cancel", "search_cancel", does="Stop reading the database")
        self.cancel.setAutoDefault(False)  # Enter in the words begins a search; it must not end it at once
        self._asked = ""
        self._said = plain_label(name="search_said", role="secondary")
        self._nothing = EmptyState("Reading the database…")
        self._stack = QStackedLayout()
        self._stack.addWidget(self._nothing)
        self._stack.addWidget(self.table)
        line = laid_out(QHBoxLayout(), (self.progress, 1), self.cancel)
        laid_out(QVBoxLayout(self), self.words, (self._stack, 1), line, self._said, margins=(12, 12, 12, 10), spacing=8)
        ListBelow(self.words, self.table)
        self.words.returnPressed.connect(self._on_return)
        self.cancel.clicked.connect(self.cancelled)
        self.table.cellActivated.connect(self._on_activated)
        self.table.cellClicked.connect(self._on_activated)
        self.finished.connect(self.ended)
        self.show_progress(0, 0)

    def _make_table(self) -> QTableWidget:
        table = named(QTableWidget(0, len(COLUMNS)), "search_hits", "Events found")
        table.setHorizontalHeaderLabels(list(COLUMNS))
        table.verticalHeader().hide()
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setShowGrid(False)
        table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        table.horizontalHeader().setHighlightSections(False)
        table.setWordWrap(False)
        table.horizontalHeader().setSectionResizeMode(_TEXT, QHeaderView.ResizeMode.Stretch)
        table.setItemDelegateForColumn(_TEXT, _MarkingDelegate(table))
        return table

    @property
    def said(self) -> str:
        """The text about the search: below the hits, or in place of the list if there are none."""
        return self._said.text() or self._nothing.text[0]

    def say(self, text: str) -> None:
        """Show a text about the search."""
        found = self.table.rowCount() > 0
        self._stack.setCurrentWidget(self.table if found else self._nothing)
        self._said.setText(visible(text) if found else "")
        self._nothing.set_text("" if found else visible(text))

    def show_progress(self, done: int, of: int) -> None:
        """Show how much of the database is indexed; hide the progress bar once `done` reaches `of`."""
        reading = done < of
        self.progress.setVisible(reading)
        self.cancel.setVisible(reading)
        self.progress.setMaximum(1000)
        self.progress.setValue(done * 1000 // max(of, 1))

    def show_hits(self, hits: Sequence[FoundEvent]) -> None:
        """List the hits."""
        self.table.setCurrentCell(-1, -1)
        self.table.setRowCount(len(hits))
        for row, hit in enumerate(hits):
            for column, text in enumerate((*hit.cells, hit.text)):
                cell = QTableWidgetItem(visible(text))
                cell.setToolTip(plain_tooltip(text if column else f"{text}\nsession {hit.session_id}"))
                if column == _TEXT:
                    lead, word = visible(hit.text[: hit.start]), visible(hit.text[hit.start : hit.end])
                    cell.setData(_MARKED, (len(lead), len(lead) + len(word)))
                self.table.setItem(row, column, cell)
        self.table.resizeColumnsToContents()
        for column in range(_TEXT):
            self.table.setColumnWidth(column, min(self.table.columnWidth(column) + 8, _WIDEST))

    def _on_return(self) -> None:
        row = self.table.currentRow()
        if row >= 0 and self.words.text() == self._asked:
            self.chosen.emit(row)
            return
        self._asked = self.words.text()
        self.asked.emit(self._asked)

    def _on_activated(self, row: int, _column: int) -> None:
        self.chosen.emit(row)


class _MarkingDelegate(QStyledItemDelegate):
    """A delegate that paints a text with the hit bold and underlined."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Paint a cell."""
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        text, shown.text = shown.text, ""
        style = option.widget.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, shown, painter, option.widget)
        bold = QFont(shown.font)
        bold.setBold(True)
        bold.setUnderline(True)
        start, end = index.data(_MARKED)
        painter.save()
        painter.setPen(theme.color("text"))
        room = QRect(option.rect).adjusted(8, 0, -6, 0)
        for piece, font in ((text[:start], shown.font), (text[start:end], bold), (text[end:], shown.font)):
            cut = QFontMetrics(font).elidedText(piece, Qt.TextElideMode.ElideRight, room.width())
            painter.setFont(font)
            painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), cut)
            room.setLeft(room.left() + QFontMetrics(font).horizontalAdvance(piece))
        painter.restore()
