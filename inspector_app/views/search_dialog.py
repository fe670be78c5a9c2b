"""Looks for words in all sessions of a database; stays open beside the window while its finds are looked at."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from inspector_app import theme
from inspector_app.values import plain_tooltip, visible
from inspector_app.views.list_below import ListBelow

COLUMNS = ("Session", "User", "Author", "Text")


class SearchDialog(QDialog):
    """Shows what it is told.

    Signals:
        asked (str): look for these words.
        cancelled: stop reading the database.
        chosen (int): go to the event of this row.
        ended: it was closed.

    Args:
        title: of the database.
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
        self.words = QLineEdit()
        self.words.setObjectName("search_words")
        self.words.setAccessibleName("Words to look for")
        self.words.setPlaceholderText("Words that all stand in one event; Enter searches")
        theme.make_clearable(self.words)
        self.table = self._make_table()
        self.progress = QProgressBar()
        self.progress.setObjectName("search_progress")
        self.progress.setAccessibleName("Reading the database")
        self.progress.setFormat("Reading the database: %p%")
        self.cancel = QPushButton("Cancel")
        self.cancel.setObjectName("search_cancel")
        self.cancel.setAccessibleName("Stop reading the database")
        self._asked = ""
        self._said = QLabel()
        self._said.setObjectName("search_said")
        self._said.setTextFormat(Qt.TextFormat.PlainText)
        self._said.setProperty("role", "secondary")
        line = QHBoxLayout()
        line.addWidget(self.progress, 1)
        line.addWidget(self.cancel)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(12, 12, 12, 10)
        rows.setSpacing(8)
        rows.addWidget(self.words)
        rows.addWidget(self.table, 1)
        rows.addLayout(line)
        rows.addWidget(self._said)
        ListBelow(self.words, self.table)
        self.words.returnPressed.connect(self._on_return)
        self.cancel.clicked.connect(self.cancelled)
        self.table.cellActivated.connect(self._on_activated)
        self.table.cellClicked.connect(self._on_activated)
        self.finished.connect(self.ended)
        self.show_progress(0, 0)

    def _make_table(self) -> QTableWidget:
        table = QTableWidget(0, len(COLUMNS))
        table.setObjectName("search_hits")
        table.setAccessibleName("Events found")
        table.setHorizontalHeaderLabels(list(COLUMNS))
        table.verticalHeader().hide()
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setShowGrid(False)
        table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        table.horizontalHeader().setHighlightSections(False)
        table.setWordWrap(False)
        table.horizontalHeader().setSectionResizeMode(len(COLUMNS) - 1, QHeaderView.ResizeMode.Stretch)
        for column, width in enumerate((150, 90, 110)):
            table.setColumnWidth(column, width)
        return table

    @property
    def said(self) -> str:
        """What it says about the search."""
        return self._said.text()

    def say(self, text: str) -> None:
        """Say how the search went."""
        self._said.setText(visible(text))

    def show_progress(self, done: int, of: int) -> None:
        """Show how much of the database is read; nothing while it is all of it."""
        reading = done < of
        self.progress.setVisible(reading)
        self.cancel.setVisible(reading)
        self.progress.setMaximum(1000)
        self.progress.setValue(done * 1000 // max(of, 1))

    def show_hits(self, hits: Sequence[tuple[str, ...]]) -> None:
        """Show what was found, in the order of `COLUMNS`."""
        self.table.setCurrentCell(-1, -1)
        self.table.setRowCount(len(hits))
        for row, hit in enumerate(hits):
            for column, text in enumerate(hit):
                cell = QTableWidgetItem(visible(text))
                cell.setToolTip(plain_tooltip(text))
                self.table.setItem(row, column, cell)

    def _on_return(self) -> None:
        row = self.table.currentRow()
        if row >= 0 and self.words.text() == self._asked:
            self.chosen.emit(row)
            return
        self._asked = self.words.text()
        self.asked.emit(self._asked)

    def _on_activated(self, row: int, _column: int) -> None:
        self.chosen.emit(row)
