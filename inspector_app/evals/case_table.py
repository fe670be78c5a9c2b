"""The steps of a case: what was expected, and what the agent did."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableWidget, QTableWidgetItem, QWidget

from inspector_app.evals.case_rows import CaseRow
from inspector_app.presentation.values import plain_tooltip, visible_lines
from inspector_app.widgets import theme
from inspector_app.widgets.layouts import named

STEP, EXPECTED, SIGN, ACTUAL = range(4)
MOST_SHOWN = 4_000  # characters of a text; its session shows the rest
_SIGNS = {True: ("not-equal", "bad"), False: ("equals", "dim")}


class CaseTable(QTableWidget):
    """A table of `CaseRow`s. Texts are wrapped, so that whole answers can be read beside each other."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(0, 4, parent)
        named(self, "eval_steps", "What was expected, and what the agent did")
        self.setHorizontalHeaderLabels(["Step", "Expected", "", "Actual"])
        self.setProperty("bare", "true")
        self.setShowGrid(False)
        self.setWordWrap(True)
        self.setTabKeyNavigation(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setSectionResizeMode(STEP, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(SIGN, QHeaderView.ResizeMode.Fixed)
        self.setColumnWidth(SIGN, 34)
        for column in (EXPECTED, ACTUAL):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        theme.current().changed.connect(self._on_theme_changed)
        self._rows: list[CaseRow] = []

    @property
    def steps(self) -> list[CaseRow]:
        """The displayed steps."""
        return list(self._rows)

    def show_steps(self, rows: Sequence[CaseRow]) -> None:
        """Show steps."""
        self._rows = list(rows)
        turns = max((row.turn for row in rows), default=1)
        self.setRowCount(len(rows))
        for place, row in enumerate(rows):
            step = f"{row.what}, turn {row.turn}" if turns > 1 else row.what
            for column, text in ((STEP, step), (EXPECTED, row.expected), (SIGN, ""), (ACTUAL, row.actual)):
                self.setItem(place, column, self._cell(row, column, text))
        self.resizeRowsToContents()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give each row the height that its texts need at this width."""
        super().resizeEvent(event)
        self.resizeRowsToContents()

    def _cell(self, row: CaseRow, column: int, text: str) -> QTableWidgetItem:
        cut = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
        cell = QTableWidgetItem(visible_lines(cut))
        cell.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        cell.setToolTip(plain_tooltip(text))
        if column == STEP:
            cell.setForeground(theme.color("dim"))
        if column == SIGN and row.differs is not None:
            cell.setIcon(theme.icon(*_SIGNS[row.differs]))
            cell.setData(Qt.ItemDataRole.AccessibleTextRole, "different" if row.differs else "the same")
            cell.setToolTip("different" if row.differs else "the same")
        if row.differs and text:
            ground = {EXPECTED: "removed", ACTUAL: "added"}.get(column)
            if ground is not None:
                cell.setBackground(theme.color(ground))
        return cell

    def _on_theme_changed(self) -> None:
        self.show_steps(self._rows)
