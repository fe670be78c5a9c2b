"""Painting of a timeline: on the screen, into a picture, or into an SVG file."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontMetrics, QPainter, QPen

from inspector_app.presentation.lanes import CRITICAL, FAILED, SOME, Bars, Lane
from inspector_app.presentation.spans import Span
from inspector_app.presentation.time_scale import round_step
from inspector_app.presentation.timeline_rows import Timeline, TimelineRow
from inspector_app.presentation.values import duration, visible
from inspector_app.widgets import theme

WORLD = 1.08  # the last position of the axis; the part after 1 has open bars and their labels
_OPEN_END = 1.03  # where open bars end
AGENT_OPACITY = 0.7  # of an agent's bar, so that its calls are seen first; a contrast of 3 with the pane needs 0.66
_NARROWEST = 3  # pixels of a bar at least
_LABELLED = 24  # pixels of a bar that may have a label
_LABEL_GAP = 12
_ROLES = {"model": "author3", "tool": "ok", "wait": "warn"}


def row_height() -> int:
    """Return the height of a row in pixels."""
    return theme.px(20)


def axis_height() -> int:
    """Return the height of the axis, above the rows, in pixels."""
    return theme.px(22)


def names_width() -> int:
    """Return the width of the names, left of the axis, in pixels."""
    return theme.px(150)


@dataclass(slots=True)
class Viewport:
    """What of a timeline is painted, and where.

    Attributes:
        width, height: pixels.
        first: the position at the left end of the axis.
        extent: how much of the axis is visible; `WORLD` is all of it.
        top: pixels by which the rows are scrolled.
    """

    width: int
    height: int
    first: float = 0.0
    extent: float = WORLD
    top: int = 0

    @property
    def plot(self) -> int:
        """The width of the axis in pixels."""
        return max(self.width - names_width() - 4, 1)

    @property
    def pixel(self) -> float:
        """The part of the axis that a pixel shows."""
        return self.extent / self.plot

    def x(self, place: float) -> float:
        """Return where a position of the axis is, in pixels."""
        return names_width() + (place - self.first) / self.extent * self.plot

    def place(self, x: float) -> float:
        """Return the position of the axis at a pixel."""
        return self.first + (x - names_width()) * self.pixel

    def y(self, row: int) -> int:
        """Return the top of a row in pixels."""
        return axis_height() + row * row_height() - self.top

    def rows(self, count: int) -> range:
        """Return the visible ones of `count` rows."""
        first = max(0, self.top // row_height())
        return range(first, min(count, first + math.ceil(max(self.height - axis_height(), 0) / row_height()) + 1))


@dataclass(frozen=True, slots=True)
class _Prepared:
    """Bars as rectangles that are as wide as their part of the axis; of the failed and the critical ones also the numbers."""

    source: Bars
    all: list[QRectF]
    failed: tuple[list[int], list[QRectF]]
    critical: tuple[list[int], list[QRectF]]


def _prepare(bars: Bars, least: float) -> _Prepared:
    height = row_height() - 8
    rects = [QRectF(left, 0, max(right - left, least), height) for left, right in zip(bars.left, bars.right, strict=True)]
    failed = [number for number, flag in enumerate(bars.flags) if flag & FAILED]
    critical = [number for number, flag in enumerate(bars.flags) if flag & CRITICAL]
    below = [QRectF(rects[number].left(), height + 1, rects[number].width(), 2) for number in critical]
    return _Prepared(bars, rects, (failed, [rects[number] for number in failed]), (critical, below))


@dataclass(slots=True)
class TimelinePainter:
    """Paints a timeline.

    Attributes:
        shown: the timeline.
        roles: author → colour role.
        index: position of the selected event, or None.
        time: its timestamp, epoch seconds, or None.
        current: the span that was chosen last, or None.
    """

    shown: Timeline
    roles: dict[str, str] = field(default_factory=dict)
    index: int | None = None
    time: float | None = None
    current: Span | None = None
    _cache: dict[int, _Prepared] = field(default_factory=dict)

    def paint(self, painter: QPainter, view: Viewport) -> None:
        """Paint the rows and the axis."""
        small = theme.small_font()
        bold = QFont(small)
        bold.setBold(True)
        rows = [(number, self.shown.rows[number]) for number in view.rows(len(self.shown.rows))]
        self._paint_grid(painter, view)
        painter.save()
        painter.setClipRect(names_width(), axis_height(), max(view.width - names_width(), 0), max(view.height - axis_height(), 0))
        painter.setFont(small)
        for number, row in rows:
            self._paint_bars(painter, view, number, row)
        self._paint_selection(painter, view)
        painter.restore()
        for number, row in rows:
            self._paint_name(painter, view, number, row, bold if row.kind != "calls" else small)
        self._paint_axis(painter, view, small)

    # names and axis

    def _paint_name(self, painter: QPainter, view: Viewport, number: int, row: TimelineRow, font: QFont) -> None:
        top = view.y(number)
        left = 8 + 12 * min(row.indent, 5)
        painter.setFont(font)
        if row.kind == "section":
            painter.setPen(theme.color("line"))
            painter.drawLine(QPointF(0, top + 0.5), QPointF(view.width, top + 0.5))
            painter.setPen(theme.color("text"))
            painter.drawText(
                QRect(left, top, view.width - left, row_height()), int(Qt.AlignmentFlag.AlignVCenter), visible(row.label[:200])
            )
            return
        painter.setPen(theme.color(self.roles.get(row.author, "text") if row.kind == "agent" else "dim"))
        name = QRect(left, top, names_width() - 8 - left, row_height())
        text = QFontMetrics(font).elidedText(visible(row.label[:80]), Qt.TextElideMode.ElideMiddle, name.width())
        painter.drawText(name, int(Qt.AlignmentFlag.AlignVCenter), text)

    def _paint_grid(self, painter: QPainter, view: Viewport) -> None:
        scale = self.shown.scale
        for pause in scale.pauses:
            left, right = max(view.x(scale.place(pause.start)), names_width()), view.x(scale.place(pause.end))
            if right > left:
                painter.fillRect(QRectF(left + 1, axis_height(), right - left - 2, view.height), theme.color("raised"))
        painter.setPen(theme.color("line"))
        for time in self._ticks(view):
            x = view.x(scale.place(time))
            painter.drawLine(QPointF(x, axis_height() - 4), QPointF(x, view.height))

    def _paint_axis(self, painter: QPainter, view: Viewport, font: QFont) -> None:
        painter.fillRect(QRect(0, 0, view.width, axis_height() - 4), theme.color("pane"))
        painter.setFont(font)
        painter.setPen(theme.color("dim"))
        for left, _, text in self.axis_labels(view):
            painter.drawText(QPointF(left, axis_height() - 8), text)

    def _ticks(self, view: Viewport) -> list[float]:
        return self.shown.scale.ticks(_most_ticks(view), view.first, view.first + view.extent)

    def axis_labels(self, view: Viewport) -> list[tuple[float, float, str]]:
        """Return the labels of the axis (left edge, right edge, text): lengths of pauses first, then times where they fit."""
        scale, metrics = self.shown.scale, QFontMetrics(theme.small_font())
        wanted: list[tuple[float, str]] = []
        for pause in scale.pauses:
            text = f"… {duration(pause.end - pause.start)} …"
            middle = (view.x(scale.place(pause.start)) + view.x(scale.place(pause.end))) / 2
            if names_width() <= middle <= view.width:
                wanted.append((max(middle - metrics.horizontalAdvance(text) / 2, names_width() + 4), text))
        step = round_step((scale.time(view.first + view.extent) - scale.time(view.first)) / _most_ticks(view))
        for time in self._ticks(view):
            over = scale.pause_before(time)
            if over is None or time > over.end:
                text = _time_text(time - scale.start, step) if over is None else f"+{_time_text(time - over.end, step)}"
                wanted.append((view.x(scale.place(time)) + 4, text))
        kept: list[tuple[float, float, str]] = []
        for left, text in wanted:
            right = left + metrics.horizontalAdvance(text)
            if all(right + _LABEL_GAP <= other_left or left >= other_right + _LABEL_GAP for other_left, other_right, _ in kept):
                kept.append((left, right, text))
        return kept

    # bars

    def _paint_bars(self, painter: QPainter, view: Viewport, number: int, row: TimelineRow) -> None:
        bars, shown, least = row.lane.visible(view.first, view.first + view.extent, view.pixel)
        if not shown:
            return
        top = view.y(number) + 4
        base = QColor(theme.color(self._role(row)))
        if row.kind == "agent":
            base.setAlphaF(AGENT_OPACITY)
        if least:
            self._paint_many(painter, view, self._prepared(bars, least), shown, top, base, waits=self._waits(row))
        else:
            self._paint_each(painter, view, row, shown, top, base)

    def _paint_many(
        self, painter: QPainter, view: Viewport, bars: _Prepared, shown: range, top: int, colour: QColor, *, waits: bool
    ) -> None:
        """Paint bars that Qt moves and stretches to their place: nothing is computed for each of them."""
        factor = view.plot / view.extent
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.translate(names_width() - view.first * factor, top)
        painter.scale(factor, 1.0)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QBrush(colour, Qt.BrushStyle.Dense4Pattern if waits else Qt.BrushStyle.SolidPattern))
        painter.drawRects(bars.all[shown.start : shown.stop])
        for (numbers, rects), role in ((bars.failed, "bad"), (bars.critical, "accent")):
            painter.setBrush(theme.color(role))
            painter.drawRects(rects[bisect_left(numbers, shown.start) : bisect_left(numbers, shown.stop)])
        painter.restore()

    def _prepared(self, bars: Bars, least: float) -> _Prepared:
        if len(bars.left) <= SOME:  # merged for this painting
            return _prepare(bars, least)
        found = self._cache.get(id(bars))
        if found is None:
            found = self._cache[id(bars)] = _prepare(bars, least)
        return found

    def _paint_each(self, painter: QPainter, view: Viewport, row: TimelineRow, shown: range, top: int, base: QColor) -> None:
        """Paint bars with round corners and labels."""
        found = list(self.bars(view, row.lane, shown, top))
        self._fill(painter, [rect for rect, span in found if not span.failed], base, waits=self._waits(row))
        self._fill(painter, [rect for rect, span in found if span.failed], theme.color("bad"), waits=False)
        if row.kind == "agent":
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("accent"))
        painter.drawRects([QRectF(rect.left(), rect.bottom() + 1, rect.width(), 2) for rect, span in found if span.critical])
        for rect, span in found:
            if span.end is None:
                self._paint_open(painter, rect)
            self._paint_label(painter, view, rect, span)

    def _fill(self, painter: QPainter, rects: list[QRectF], colour: QColor, *, waits: bool) -> None:
        painter.setPen(QPen(colour, 1) if waits else Qt.PenStyle.NoPen)
        painter.setBrush(QBrush(colour, Qt.BrushStyle.BDiagPattern if waits else Qt.BrushStyle.SolidPattern))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        for rect in rects:
            painter.drawRoundedRect(rect, 2.5, 2.5)

    def _paint_open(self, painter: QPainter, rect: QRectF) -> None:
        """Paint the end of a bar that has not ended: a dashed line to the right."""
        painter.setPen(QPen(theme.color("warn"), 1.5, Qt.PenStyle.DashLine))
        painter.drawLine(rect.topRight(), rect.bottomRight())

    def _paint_label(self, painter: QPainter, view: Viewport, rect: QRectF, span: Span) -> None:
        words = "failed" if span.failed else span.label or ("waits" if span.kind == "wait" else "")
        if not words:
            return
        if span.end is None:
            painter.setPen(theme.color("warn"))
            painter.drawText(QPointF(rect.right() + 6, rect.bottom() - 2), words)
        elif rect.width() > _LABELLED:
            inside = rect.adjusted(max(names_width() - rect.left(), 0), 0, 0, 0)
            if painter.fontMetrics().horizontalAdvance(words) + 10 < min(inside.width(), view.width - inside.left()):
                self._paint_word(painter, inside, words, span)

    def _paint_word(self, painter: QPainter, rect: QRectF, words: str, span: Span) -> None:
        if span.kind == "wait":  # on the hatching a word needs a ground of its own
            width = painter.fontMetrics().horizontalAdvance(words)
            painter.fillRect(QRectF(rect.left() + 3, rect.top() + 1, width + 4, rect.height() - 2), theme.color("pane"))
        painter.setPen(theme.color("warn" if span.kind == "wait" and not span.failed else "on_accent"))
        painter.drawText(rect.adjusted(5, -4, 0, 4), int(Qt.AlignmentFlag.AlignVCenter), words)

    def bars(self, view: Viewport, lane: Lane, numbers: Iterable[int], top: int) -> Iterator[tuple[QRectF, Span]]:
        """Yield the rectangle of each of a lane's spans, none merged, as far as it is near the visible part."""
        left, right, edge = lane.bars.left, lane.bars.right, view.width + 8.0
        for number in numbers:
            span = lane.spans[number]
            begin = max(view.x(left[number]), names_width() - 8.0)
            end = min(view.x(right[number]), edge)
            if span.end is None:
                end = max(min(view.x(_OPEN_END), edge), begin + 24)
            yield QRectF(begin, top, max(end - begin, _NARROWEST), row_height() - 8), span

    def _paint_selection(self, painter: QPainter, view: Viewport) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        chosen = self.shown.bars_of(self.index)
        painter.setPen(QPen(theme.color("text"), 1.5))
        for row, number in chosen:
            for rect, _ in self.bars(view, self.shown.rows[row].lane, [number], view.y(row) + 4):
                painter.drawRoundedRect(rect.adjusted(-1, -1, 1, 1), 3, 3)
        if self.time is None:
            return
        own = self.shown.row_of(self.index)
        zero = self.shown.rows[own].zero if own is not None else None
        if own is not None and zero is not None and self.shown.scale.start <= self.time - zero <= self.shown.scale.end:
            painter.setPen(QPen(theme.color("accent"), 1.5))
            x = view.x(self.shown.scale.place(self.time - zero))
            first, last = self._section_of(own)
            painter.drawLine(QPointF(x, max(view.y(first), axis_height() - 4)), QPointF(x, min(view.y(last), view.height)))

    def _section_of(self, row: int) -> tuple[int, int]:
        """Return the first row of a row's section, and the row after its last; the last section reaches to the bottom."""
        titles = [number for number, one in enumerate(self.shown.rows) if one.kind == "section"]
        first = max((number for number in titles if number <= row), default=0)
        return first, min((number for number in titles if number > row), default=1_000_000)

    def _role(self, row: TimelineRow) -> str:
        if row.kind == "agent":
            return self.roles.get(row.author, "text")
        return _ROLES[row.bars[0].kind] if row.bars else "dim"

    @staticmethod
    def _waits(row: TimelineRow) -> bool:
        return bool(row.bars) and row.bars[0].kind == "wait"


def _most_ticks(view: Viewport) -> int:
    return max(2, (view.width - names_width()) // 110)


def _time_text(seconds: float, step: float) -> str:
    """Return a time on the axis, as exact as the distance of two ticks demands."""
    if step >= 0.1 or seconds == 0:
        return duration(seconds)
    if seconds < 1:
        return f"{seconds * 1000:,.{max(0, -3 - math.floor(math.log10(step)))}f} ms"
    return f"{seconds:,.{-math.floor(math.log10(step))}f} s"


def bar_text(row: TimelineRow, bar: Span) -> str:
    """Return the description of a bar, for its tooltip."""
    what = {"agent": "agent", "model": "model call of", "tool": "tool of", "wait": "waits for a person, called by"}[bar.kind]
    name = f"agent {row.author}" if bar.kind == "agent" else f"{bar.name} · {what} {row.author}"
    lasted = "has not ended" if bar.end is None else _length(bar.end - bar.start)
    source = "" if bar.kind == "agent" else " (as recorded)" if bar.exact else " (from events)"
    if bar.index is None or bar.last is None:
        place = "no event"
    else:
        place = f"event {bar.index + 1:,}" if bar.index == bar.last else f"events {bar.index + 1:,} to {bar.last + 1:,}"
    first = f"first piece after {_length(bar.first - bar.start)}" if bar.first is not None else ""
    marks = ", ".join(word for word, told in (("failed", bar.failed), ("on the critical path", bar.critical)) if told)
    return "\n".join(filter(None, (visible(name[:200]), f"{lasted}{source} · {place}", bar.label, first, marks)))


def _length(seconds: float) -> str:
    return f"{seconds * 1000:.2g} ms" if 0 < seconds < 0.001 else duration(seconds)
