"""Paints the rows of the event stream."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from math import ceil
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPainter
from PySide6.QtWidgets import QApplication, QWidget

from inspector_app.stream.event_cells import TEXT_COLUMNS, Column
from inspector_app.stream.stream_row import StreamRow
from inspector_app.widgets import theme

ROW_HEIGHT = 27  # pixels at a scale of 100 %, as all lengths below
ICON_SIZE = 14
_CHEVRON = 9
_MARGIN = 6
_GAP = 14
_LANE = 8
_LEAST_TITLE = 120  # of an invocation's header
_LETTERS = "".join(map(chr, range(32, 127))) + "→…Δ·–"  # a text of these is as wide as its letters together; others may not be
_KNOWN = re.compile(f"[{re.escape(_LETTERS)}]*").fullmatch
_ELIDE = Qt.TextElideMode.ElideRight


class Cell(NamedTuple):
    """A column's number, left edge and width in pixels."""

    column: int
    left: int
    width: int


class StreamPainter:
    """Paints a whole row at once. A delegate is called for each cell, which costs more than the painting itself.

    It measures its fonts once: make another one when the theme's scale has changed.

    Args:
        view: the view to paint on.
    """

    def __init__(self, view: QWidget) -> None:
        self._view = view
        font = QFont(QApplication.font())
        italic = QFont(font)
        italic.setItalic(True)
        bold = QFont(font)
        bold.setBold(True)
        self._height = theme.row_px(ROW_HEIGHT)
        self._middle = (self._height - 1) // 2
        self._icon_size, self._chevron = theme.px(ICON_SIZE), theme.px(_CHEVRON)
        self._icon_x, self._text_x = theme.px(13), theme.px(20)  # from the left of a summary
        self._normal, self._italic, self._bold, self._small = (
            _Letters(letters, self._height) for letters in (font, italic, bold, theme.small_font())
        )

    def paint(self, painter: QPainter, top: int, cells: Sequence[Cell], row: StreamRow, *, selected: bool, is_hit: bool) -> None:
        """Paint a row.

        Args:
            painter: paints on the view's viewport; its font and pen are changed.
            top: top edge of the row in pixels.
            cells: the visible columns, from the left.
            row: the row.
            selected: whether the row is selected.
            is_hit: whether the row is marked as a hit of the filter.
        """
        header = row.kind == "invocation"
        if selected or header:
            left, right = cells[0].left, cells[-1].left + cells[-1].width
            painter.fillRect(left, top, right - left, self._height, theme.color("selected" if selected else "raised"))
        if header:
            self._paint_header(painter, top, cells, row)
            return
        lit = "text" if selected or row.held else "dim"
        for column, left, width in cells:
            texts = TEXT_COLUMNS.get(column)
            if texts is not None:
                letters = self._small if texts.is_small else self._normal
                self._text(painter, left, top, width, texts.text(row), texts.role or lit, letters, at_right=texts.at_right)
            elif column == Column.EVENT:
                self._paint_summary(painter, top, left, width, row)
            elif column == Column.AUTHOR:
                if row.author_sign > 1:  # italics for the second author of a colour, a bar for the others
                    painter.fillRect(left, top, 3, self._height, theme.color(row.author_role))
                letters = self._italic if row.author_sign == 1 else self._normal
                author = letters.shortened(row.author, width - 2 * _MARGIN)
                self._text(painter, left, top, width, author, row.author_role, letters)
            else:
                self._paint_gutter(painter, top, left, width, row, is_hit)

    def _paint_header(self, painter: QPainter, top: int, cells: Sequence[Cell], row: StreamRow) -> None:
        left, right = cells[0].left, cells[-1].left + cells[-1].width - 1
        painter.setPen(theme.color("line"))
        painter.drawLine(left, top + self._height - 1, right, top + self._height - 1)
        self._icon(painter, left + theme.px(12), top + self._middle + 1, _fold_icon(row), "dim", self._chevron)
        x, icon = left + theme.px(24), self._icon_size if row.icon else 0
        aside = [row.tokens] if row.icon or not row.event_kind else [row.event_kind, row.tokens]
        facts = " · ".join(filter(None, aside))
        least = theme.px(_LEAST_TITLE)
        room = max(right - x - icon - round(self._small.width(facts)) - 3 * _GAP, least)
        title = self._bold.fitted(row.summary, room)
        painter.setFont(self._bold.font)
        painter.setPen(theme.color("text" if row.icon else "dim"))
        painter.drawText(x, top + self._bold.baseline, title)
        x += round(self._bold.width(title)) + _GAP
        if icon:
            self._icon(painter, x + icon // 2, top + self._middle + 1, row.icon, row.role, icon)
            x += icon + _GAP // 2
        painter.setFont(self._small.font)
        painter.setPen(theme.color("dim"))
        painter.drawText(x, top + self._small.baseline, self._small.fitted(facts, max(right - x, 0)))

    def _paint_gutter(self, painter: QPainter, top: int, left: int, width: int, row: StreamRow, is_hit: bool) -> None:
        middle = left + (width - 1) // 2
        if is_hit:
            painter.fillRect(left, top + 2, 3, self._height - 4, theme.color("accent"))
        if row.held:
            self._icon(painter, middle, top + self._middle, "circle-arrow-right", "warn", self._icon_size)
        elif row.breakpoint:
            self._icon(painter, middle, top + self._middle, "circle", "bad" if row.breakpoint == "on" else "line", self._icon_size - 2)

    def _paint_summary(self, painter: QPainter, top: int, left: int, width: int, row: StreamRow) -> None:
        right = left + width
        for lane in range(row.lanes):  # a line for each level of the agent's branch
            colour = theme.color(row.author_role if lane == row.lanes - 1 else "line")
            painter.fillRect(left + 3 + lane * _LANE, top, 2, self._height, colour)
        left += row.lanes * _LANE
        if row.kind == "tool agent":
            self._icon(painter, left + self._icon_x, top + self._middle + 1, _fold_icon(row), "dim", self._chevron)
            self._text(painter, left + self._text_x, top, right - left - self._text_x, row.summary, row.role, self._small)
            return
        loud = row.role in ("bad", "warn")
        self._icon(painter, left + self._icon_x, top + self._middle + 1, row.icon, row.role if loud else row.author_role, self._icon_size)
        note = row.note
        for is_marked, icon in ((note and note.text, "note-sticky"), (note and note.is_bookmark, "bookmark")):
            if is_marked:
                self._icon(painter, right - self._icon_x, top + self._middle + 1, icon, "accent", self._icon_size - 2)
                right -= self._icon_x + 4
        for is_marked, icon, mark in ((row.edited, "pen", "edited"), (row.ran_ahead, "forward", "ran ahead")):
            if is_marked:
                self._icon(painter, right - self._icon_x, top + self._middle + 1, icon, "warn", self._icon_size - 2)
                room = ceil(self._small.width(mark)) + 2 * _MARGIN
                self._text(painter, right - self._icon_x - 10 - room, top, room, mark, "warn", self._small)
                right -= self._icon_x + 11 + room
        self._text(painter, left + self._text_x, top, right - left - self._text_x, row.summary, row.role, self._normal)

    def _text(
        self, painter: QPainter, left: int, top: int, width: int, text: str, role: str, letters: _Letters, *, at_right: bool = False
    ) -> None:
        if not text:
            return
        left, width = left + _MARGIN, width - 2 * _MARGIN
        fitted = letters.fitted(text, width)
        painter.setFont(letters.font)
        painter.setPen(theme.color(role))
        painter.drawText(left + round(width - letters.width(fitted)) if at_right else left, top + letters.baseline, fitted)

    def _icon(self, painter: QPainter, x: int, y: int, name: str, role: str, size: int) -> None:
        drawn = theme.pixmap(name, role, size, self._view.devicePixelRatioF())
        painter.drawPixmap(x - size // 2, y - size // 2, drawn)


def _fold_icon(row: StreamRow) -> str:
    return "chevron-right" if row.folded else "chevron-down"


class _Letters:
    """A font and the widths of its letters, measured once: Qt lays out a text to measure it, which takes as long as painting it."""

    def __init__(self, font: QFont, row_height: int) -> None:
        self.font = font
        self._metrics = QFontMetricsF(font)
        self._widths = {letter: self._metrics.horizontalAdvance(letter) for letter in _LETTERS}
        self._narrowest = min(self._widths.values())
        self.baseline = round((row_height - self._metrics.height()) / 2 + self._metrics.ascent())  # pixels from the top of a row

    def width(self, text: str) -> float:
        """Return the width of a text in pixels."""
        return sum(map(self._widths.__getitem__, text)) if _KNOWN(text) else self._metrics.horizontalAdvance(text)

    def shortened(self, name: str, width: int) -> str:
        """Return a name, elided in the middle to a width: names often differ at their ends."""
        return name if self.width(name) <= width else self._metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, width)

    def fitted(self, text: str, width: int) -> str:
        """Return a text, elided to a width; only the part of it that may fit is measured.

        Args:
            text: one line.
            width: the room in pixels.
        """
        cut = text[: int(max(width, 0) // self._narrowest) + 1]
        if not _KNOWN(cut):
            elided = self._metrics.elidedText(cut, _ELIDE, width)
            is_enough = elided != cut or len(cut) == len(text)
            return elided if is_enough else self._metrics.elidedText(text, _ELIDE, width)
        ends = list(accumulate(map(self._widths.__getitem__, cut)))
        return text if ends[-1] <= width else cut[: bisect_right(ends, width - self._widths["…"])] + "…"
