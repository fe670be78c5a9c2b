"""The comparison of two sessions: their aligned events, and the differences of the selected pair."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QSplitter,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from inspector_app.branches.aspect_view import AspectView
from inspector_app.branches.comparison_model import LEFT, LEFT_NUMBER, RIGHT, RIGHT_NUMBER, SIGN, ComparisonModel
from inspector_app.branches.view_data import Aspect
from inspector_app.presentation.values import counted
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.elided_label import ElidedLabel
from inspector_app.widgets.layouts import card, laid_out, named

ROW_HEIGHT = 25


class ComparePage(QWidget):
    """A view of a `ComparisonModel`.

    Attributes:
        model, table: the aligned events and the view of them.
        aspects: the differences of the selected pair.

    Signals:
        pair_selected (int): the user selected this row.
        event_requested (bool, int): the user chose the event at this position; the flag is True for the right session.
        left: the user closed the page.
    """

    pair_selected = Signal(int)
    event_requested = Signal(bool, int)
    left = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("compare_page")
        self._differing: list[int] = []
        self.model = ComparisonModel(self)
        self.table = self._make_table()
        self._titles = [self._label("compare_left_title"), self._label("compare_right_title")]
        self._totals = [self._label("compare_left_totals"), self._label("compare_right_totals")]
        self._count = plain_label(name="compare_count", parent=self)
        self._previous = self._button("compare_previous", "arrow-up", "Previous difference", "Shift+F8", self.go_to_previous)
        self._next = self._button("compare_next", "arrow-down", "Next difference", "F8", self.go_to_next)
        self._close = self._button("compare_close", "xmark", "Back to the sessions", "Esc", self.left.emit)
        split = QSplitter(Qt.Orientation.Vertical, self)
        split.addWidget(card(self.table))
        self.aspects = AspectView()  # created after the table for the tab order
        split.addWidget(self.aspects)
        split.setSizes([360, 300])
        split.setChildrenCollapsible(False)
        laid_out(QVBoxLayout(self), self._head(), (split, 1), margins=(0, 6, 0, 6), spacing=6)

    def show_comparison(self, titles: tuple[str, str], totals: tuple[str, str], differing: Sequence[int]) -> None:
        """Show the model's comparison and select the first difference.

        Args:
            titles: titles of the two sessions.
            totals: summaries of the two sessions.
            differing: numbers of the rows that differ.
        """
        for label, text in zip(self._titles + self._totals, titles + totals, strict=True):
            label.setText(text)
            label.setToolTip("")
        self._differing = list(differing)
        self._select(self._differing[0] if self._differing else 0)
        self._show_place()
        self.table.setFocus()

    def go_to_next(self) -> None:
        """Select the next row that differs."""
        row = self.table.currentIndex().row()
        self._select(next((number for number in self._differing if number > row), row))

    def go_to_previous(self) -> None:
        """Select the previous row that differs."""
        row = self.table.currentIndex().row()
        self._select(next((number for number in reversed(self._differing) if number < row), row))

    def _select(self, row: int) -> None:
        if 0 <= row < self.model.rowCount():
            index = self.model.index(row, LEFT)
            self.table.setCurrentIndex(index)
            self.table.scrollTo(index, QAbstractItemView.ScrollHint.EnsureVisible)

    def _head(self) -> QHBoxLayout:
        head = QHBoxLayout()
        head.setContentsMargins(8, 0, 0, 0)
        halves = []
        for title, totals in zip(self._titles, self._totals, strict=True):
            words = laid_out(QVBoxLayout(), title, totals, spacing=0)
            title.setProperty("role", "name")
            totals.setProperty("role", "secondary")
            half = laid_out(QHBoxLayout(), (words, 1), spacing=8)
            head.addLayout(half, 1)  # as wide as half the table
            halves.append(half)
        for part in (self._count, self._previous, self._next, self._close):
            halves[-1].addWidget(part)
        return head

    def _make_table(self) -> QTableView:
        table = named(QTableView(self), "compare_table", "Events of both sessions")
        table.setProperty("bare", "true")
        table.setModel(self.model)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setShowGrid(False)
        table.setWordWrap(False)
        table.setTabKeyNavigation(False)
        table.verticalHeader().hide()
        theme.keep_row_height(table, ROW_HEIGHT)
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = table.horizontalHeader()
        header.setHighlightSections(False)
        header.setSectionsClickable(False)
        for column, width in ((LEFT_NUMBER, 52), (SIGN, 30), (RIGHT_NUMBER, 52)):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Fixed)
            table.setColumnWidth(column, width)
        for column in (LEFT, RIGHT):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        table.selectionModel().currentChanged.connect(self._on_current_changed)
        table.doubleClicked.connect(self._on_double_clicked)
        table.activated.connect(self._on_double_clicked)
        return table

    def _label(self, name: str) -> ElidedLabel:
        label = named(ElidedLabel(), name)
        return label

    def _button(self, name: str, icon: str, text: str, key: str, slot: object) -> QPushButton:
        button = push_button("", name, icon=theme.icon(icon, "text"), does=text, parent=self)
        button.setToolTip(f"{text} ({key})")
        button.clicked.connect(slot)
        shortcut = QShortcut(QKeySequence(key), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(button.click)
        return button

    def _on_current_changed(self, current: QModelIndex, previous: QModelIndex) -> None:
        if current.isValid() and current.row() != previous.row():
            self._show_place()
            self.pair_selected.emit(current.row())

    def _on_double_clicked(self, index: QModelIndex) -> None:
        left, right = self.model.places(index.row())
        wants_right = index.column() in (RIGHT_NUMBER, RIGHT) or left is None
        place = right if wants_right else left
        if place is not None:
            self.event_requested.emit(wants_right, place)

    def _show_place(self) -> None:
        row, count = self.table.currentIndex().row(), len(self._differing)
        if not count:
            self._count.setText("No difference")
        elif row in self._differing:
            self._count.setText(f"Difference {self._differing.index(row) + 1:,} of {count:,}")
        else:
            self._count.setText(counted(count, "difference"))
        self._next.setEnabled(any(number > row for number in self._differing[-1:]))
        self._previous.setEnabled(any(number < row for number in self._differing[:1]))

    def show_pair(self, aspects: Sequence[Aspect]) -> None:
        """Show the aspects of the selected pair."""
        left, right = self.model.places(self.table.currentIndex().row())
        self.aspects.left.setPlaceholderText("The left session has no matching event." if left is None else "")
        self.aspects.right.setPlaceholderText("The right session has no matching event." if right is None else "")
        self.aspects.set_aspects(aspects)
