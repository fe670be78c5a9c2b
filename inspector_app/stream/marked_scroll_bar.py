"""A scroll bar that shows where something is: a line for each pixel behind which there is any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QScrollBar, QWidget

from inspector_app.presentation.values import plain_tooltip
from inspector_app.stream.hits import pixels_with
from inspector_app.widgets import theme

LINE = 2
SETTLE_MS = 100
"""From a change until the marks are counted again: while events stream in, not for each of them."""


@dataclass(frozen=True, slots=True)
class Marks:
    """Places of one kind.

    Attributes:
        name: in the plural, for the tooltip.
        role: colour role.
        side: which part of the bar's width they take, so that colour is not the only sign: `left`, `right` or `all`.
        places: ascending.
    """

    name: str
    role: str
    side: str
    places: Sequence[int]


class MarkedScrollBar(QScrollBar):
    """The bar of a long list.

    Args:
        first_of: row → the first place at or below it.
        rows: how many rows there are.
    """

    def __init__(self, first_of: Callable[[int], int], rows: Callable[[], int], parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self.setObjectName("event_scroll_bar")
        self.setAccessibleName("Place in the session")
        self._first_of = first_of
        self._rows = rows
        self._find: Callable[[], Sequence[Marks]] = list
        self._lines: list[tuple[Marks, list[int]]] = []
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self.count_now)

    @property
    def lines(self) -> dict[str, list[int]]:
        """Name of the marks → the pixels that have one, from above."""
        return {marks.name: pixels for marks, pixels in self._lines}

    def mark_with(self, find: Callable[[], Sequence[Marks]]) -> None:
        """Tell how to find out what is to be marked; asked when something changed, not for each painting."""
        self._find = find
        self.refresh()

    def refresh(self, *_: object) -> None:
        """Count again in a moment: something changed."""
        if not self._settle.isActive():
            self._settle.start()

    def count_now(self) -> None:
        """Find out which pixels have marks."""
        self._settle.stop()
        all_marks = [marks for marks in self._find() if marks.places]
        rows, height = self._rows(), self.height()
        firsts: list[int] = []
        if all_marks and rows and height:
            firsts = [self._first_of(pixel * rows // height) for pixel in range(height)]
            firsts.append(self._first_of(rows))
        self._lines = [(marks, pixels_with(marks.places, firsts)) for marks in all_marks] if firsts else []
        words = [f"{len(marks.places):,} {marks.name} ({_WORDS[marks.side]})" for marks in all_marks]
        self.setToolTip(plain_tooltip("Marked: " + " · ".join(words)) if words else "")
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Count again: there are other pixels."""
        super().resizeEvent(event)
        self.refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the marks over the bar."""
        super().paintEvent(event)
        if not self._lines:
            return
        with QPainter(self) as painter:
            half = self.width() // 2
            for marks, pixels in self._lines:
                left = half + 1 if marks.side == "right" else 1
                width = self.width() - 2 if marks.side == "all" else half - 1
                colour = theme.color(marks.role)
                for first, last in _runs(pixels):
                    top = min(first, self.height() - LINE)
                    painter.fillRect(QRect(left, top, width, last - top + LINE), colour)


_WORDS = {"left": "on the left", "right": "on the right", "all": "across"}


def _runs(pixels: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and last of each row of neighbours: painted at once."""
    runs: list[tuple[int, int]] = []
    for pixel in pixels:
        if runs and pixel == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], pixel)
        else:
            runs.append((pixel, pixel))
    return runs
