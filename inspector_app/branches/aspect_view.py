"""The aspects in which two events are compared, and the two values of the selected aspect side by side."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor, QTextFormat
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QPlainTextEdit, QSplitter, QTextEdit, QVBoxLayout, QWidget

from inspector_app.branches.view_data import Aspect
from inspector_app.widgets import theme
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.text_dialog import broken_lines

MAX_SHOWN = 200_000  # characters of one value; the JSON tab of its session shows the rest
MAX_MARKED_LINES = 2_000

MOST_SHOWN = 500  # aspects listed until the user asks for all: events with ten thousands of calls have as many


class AspectView(QWidget):
    """The aspects on the left, and the two values of the selected aspect."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._aspects: list[Aspect] = []
        self.names = named(QListWidget(self), "compare_aspects", "What is compared")
        theme.keep_icon_size(self.names, 12)
        self.names.currentRowChanged.connect(self._on_row_changed)
        self.names.itemClicked.connect(self._on_chosen)
        self.names.itemActivated.connect(self._on_chosen)
        self.left = _text_pane("compare_left_text", "Left value")
        self.right = _text_pane("compare_right_text", "Right value")
        split = QSplitter(Qt.Orientation.Horizontal, self)
        for pane, share in ((self.names, 2), (self.left, 5), (self.right, 5)):
            split.addWidget(pane)
            split.setStretchFactor(split.count() - 1, share)
        split.setSizes([200, 500, 500])
        split.setChildrenCollapsible(False)
        laid_out(QVBoxLayout(self), split, margins=0)
        self._scroll_together()
        theme.current().changed.connect(self._on_theme_changed)

    @property
    def aspects(self) -> list[Aspect]:
        """The displayed aspects."""
        return list(self._aspects)

    def set_aspects(self, aspects: Sequence[Aspect]) -> None:
        """Replace the aspects; keep the selected aspect if it still differs."""
        before = self.names.currentItem()
        kept = before.data(Qt.ItemDataRole.UserRole) if before is not None else ""
        self._aspects = list(aspects)
        self.names.blockSignals(True)
        self.names.clear()
        few = len(aspects) <= MOST_SHOWN + 1
        self._add(0, len(aspects) if few else MOST_SHOWN)
        if not few:
            offer = QListWidgetItem(f"Show all {len(aspects):,}")
            offer.setForeground(theme.color("accent"))
            self.names.addItem(offer)
        self.names.blockSignals(False)
        names = [aspect.name for aspect in aspects]
        place = names.index(kept) if kept in names else 0
        row = place if place < MOST_SHOWN and aspects and aspects[place].differs else 0
        self.names.setCurrentRow(row if aspects else -1)
        self._on_row_changed(row if aspects else -1)

    def _add(self, first: int, end: int) -> None:
        """Add some aspects' names to the list."""
        different, same = theme.icon("not-equal", "accent"), theme.icon("equals", "dim")
        for aspect in self._aspects[first:end]:
            item = QListWidgetItem(different if aspect.differs else same, aspect.name)
            item.setData(Qt.ItemDataRole.UserRole, aspect.name)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{aspect.name}: {'different' if aspect.differs else 'the same'}")
            self.names.addItem(item)

    def _on_chosen(self, item: QListWidgetItem) -> None:
        """Show all aspects if that was chosen."""
        row = self.names.row(item)
        if item.data(Qt.ItemDataRole.UserRole) is not None:
            return
        self.names.blockSignals(True)
        self.names.takeItem(row)
        self._add(row, len(self._aspects))
        self.names.setCurrentRow(row)
        self.names.blockSignals(False)
        self._on_row_changed(row)

    def _on_row_changed(self, row: int) -> None:
        aspect = self._aspects[row] if 0 <= row < len(self._aspects) else Aspect("", "", "", False)
        left, right = broken_lines(aspect.left[:MAX_SHOWN]), broken_lines(aspect.right[:MAX_SHOWN])
        self.left.setPlainText(left)
        self.right.setPlainText(right)
        gone, come = _marked_lines(left.split("\n"), right.split("\n")) if aspect.differs else ([], [])
        _mark(self.left, gone if left else [], "removed")  # an empty value is one empty line; do not mark it
        _mark(self.right, come if right else [], "added")

    def _on_theme_changed(self) -> None:
        self._on_row_changed(self.names.currentRow())

    def _scroll_together(self) -> None:
        for one, other in ((self.left, self.right), (self.right, self.left)):
            one.verticalScrollBar().valueChanged.connect(other.verticalScrollBar().setValue)


def _text_pane(name: str, title: str) -> QPlainTextEdit:
    pane = named(QPlainTextEdit(readOnly=True), name, title)
    theme.use_mono(pane)
    return pane


def _marked_lines(left: list[str], right: list[str]) -> tuple[list[int], list[int]]:
    """Return the numbers of the lines that differ, for both sides."""
    if max(len(left), len(right)) > MAX_MARKED_LINES:
        return [], []
    gone: list[int] = []
    come: list[int] = []
    for what, first, end, other_first, other_end in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if what != "equal":
            gone += range(first, end)
            come += range(other_first, other_end)
    return gone, come


def _mark(pane: QPlainTextEdit, lines: list[int], ground: str) -> None:
    marks = []
    for number in lines:
        selection = QTextEdit.ExtraSelection()
        selection.cursor = QTextCursor(pane.document().findBlockByNumber(number))
        selection.format.setBackground(theme.color(ground))
        selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        marks.append(selection)
    pane.setExtraSelections(marks)
