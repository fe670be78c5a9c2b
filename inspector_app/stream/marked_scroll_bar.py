"""A scroll bar with marks: a line at each pixel whose rows hold a marked place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRect, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QScrollBar, QWidget

from inspector_app.stream.hits import pixels_with
from inspector_app.widgets import theme
from inspector_app.widgets.layouts import named
from inspector_app.widgets.tooltips import set_tooltip

LINE = 2  # height of a mark in pixels
SETTLE_MS = 100  # from a change to counting the marks again, so that streaming events are counted together


@dataclass(frozen=True, slots=True)
class Marks:
    """Places of one kind.

    Attributes:
        name: the kind in the plural, for the tooltip.
        role: colour role.
        side: the part of the bar's width that the marks take, so that colour is not the only sign: `left`,
            `middle`, `right` or `all`.
        places: the marked places, ascending.
    """

    name: str
    role: str
    side: str
    places: Sequence[int]


class MarkedScrollBar(QScrollBar):
    """The bar of a long list.

    Args:
        first_of: returns the first place at or below a row.
        rows: returns the number of rows.
    """

    def __init__(self, first_of: Callable[[int], int], rows: Callable[[], int], parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        named(self, "event_scroll_bar", "Place in the session")
        self._first_of = first_of
        self._rows = rows
        self._find: Callable[[], Sequence[Marks]] = list
        self._lines: list[tuple[Marks, list[int]]] = []
        self._settle = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settle.timeout.connect(self.count_now)

    @property
    def lines(self) -> dict[str, list[int]]:
        """Name of the marks → the marked pixels, from the top."""
        return {marks.name: pixels for marks, pixels in self._lines}

    def marks(self) -> Sequence[Marks]:
        """Return all marks that there are now, empty ones included."""
        return self._find()

    def mark_with(self, find: Callable[[], Sequence[Marks]]) -> None:
        """Set the function that returns the marks; it is called after changes, not for each painting."""
        self._find = find
        self.refresh()

    def refresh(self, *_: object) -> None:
        """Count the marks again soon."""
        if not self._settle.isActive():
            self._settle.start()

    def count_now(self) -> None:
        """Compute the marked pixels."""
        self._settle.stop()
        all_marks = [marks for marks in self.marks() if marks.places]
        rows, height = self._rows(), self.height()
        firsts: list[int] = []
        if all_marks and rows and height:
            firsts = [self._first_of(pixel * rows // height) for pixel in range(height)]
            firsts.append(self._first_of(rows))
        self._lines = [(marks, pixels_with(marks.places, firsts)) for marks in all_marks] if firsts else []
        words = [f"{len(marks.places):,} {marks.name} ({_WORDS[marks.side]})" for marks in all_marks]
        set_tooltip(self, "Marked: " + " · ".join(words) if words else "")
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Count the marks again: the number of pixels has changed."""
        super().resizeEvent(event)
        self.refresh()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the marks over the bar."""
        super().paintEvent(event)
        if not self._lines:
            return
        with QPainter(self) as painter:
            for marks, pixels in self._lines:
                left, width = _part(marks.side, self.width())
                colour = theme.color(marks.role)
                for first, last in _runs(pixels):
                    top = min(first, self.height() - LINE)
                    painter.fillRect(QRect(left, top, width, last - top + LINE), colour)


_WORDS = {"left": "on the left", "middle": "in the middle", "right": "on the right", "all": "across"}


def _part(side: str, width: int) -> tuple[int, int]:
    """Return where a side of a bar of this width begins, and its own width."""
    if side == "all":
        return 1, width - 2
    if side == "middle":
        return width // 3, width - 2 * (width // 3)
    return (width // 2 + 1 if side == "right" else 1), width // 2 - 1


def _runs(pixels: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and last pixel of each run of neighbours, which is painted at once."""
    runs: list[tuple[int, int]] = []
    for pixel in pixels:
        if runs and pixel == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], pixel)
        else:
            runs.append((pixel, pixel))
    return runs
