"""Painting of the charts over turns: small charts beside each other, or one above the other in a high pane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QFont, QFontMetrics, QPainter, QPen

from inspector_app.presentation.turns import Turn
from inspector_app.presentation.values import duration
from inspector_app.widgets import theme

SIDE = 14  # pixels left of a chart, and twice that between two
_WIDEST, _NARROWEST = 28.0, 5.0  # pixels of a turn


def _head() -> int:
    """Return the height of a chart's title in pixels."""
    return theme.px(20)


def _foot() -> int:
    """Return the height of the numbers of the turns in pixels."""
    return theme.px(16)


def _lowest() -> int:
    """Return the least height of a chart in pixels; lower panes have the charts beside each other."""
    return theme.px(84)


@dataclass(frozen=True, slots=True)
class Series:
    """A part of the bars of a chart.

    Attributes:
        name: what it is; empty if the chart's title says it.
        role: its colour.
        value: returns a turn's value; None if it is unknown.
        lines: drawn over its colour, so that the colour is not the only sign.
    """

    name: str
    role: str
    value: Callable[[Turn], float | None]
    lines: Qt.BrushStyle = Qt.BrushStyle.NoBrush


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart.

    Attributes:
        title: what it shows.
        series: from the bottom of a bar to its top.
        text: returns a value as text.
    """

    title: str
    series: Sequence[Series]
    text: Callable[[float], str]


def _cost(turn: Turn) -> float | None:
    return None if turn.used.unpriced else float(turn.used.cost)


def _dollars(value: float) -> str:
    return "$0" if value == 0 else f"${value:,.2f}" if value >= 1 else f"${value:.2g}"


CHARTS = (
    Chart(
        "Tokens",
        (
            Series("new in", "author3", lambda turn: turn.used.tokens.input - turn.used.tokens.cached),
            Series("cached", "author0", lambda turn: turn.used.tokens.cached, Qt.BrushStyle.BDiagPattern),
            Series("out", "author1", lambda turn: turn.used.tokens.output, Qt.BrushStyle.HorPattern),
        ),
        lambda value: f"{value:,.0f}",
    ),
    Chart("Cost", (Series("", "author2", _cost),), _dollars),
    Chart(
        "Time of calls",
        (
            Series("model", "author3", lambda turn: turn.model_seconds),
            Series("tools", "ok", lambda turn: turn.tool_seconds, Qt.BrushStyle.BDiagPattern),
        ),
        duration,
    ),
    Chart("Input from the cache", (Series("", "author0", lambda turn: turn.cache_share),), lambda value: f"{value:.0%}"),
)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the charts and the bars are.

    Attributes:
        width, height: pixels.
        first: number of the first visible turn.
        count: number of turns.
    """

    width: int
    height: int
    first: int
    count: int

    @property
    def columns(self) -> int:
        """Number of charts beside each other."""
        if self.height >= len(CHARTS) * _lowest() + 10:
            return 1
        return 2 if self.height >= 2 * _lowest() + 40 and self.width < theme.px(1000) else len(CHARTS)

    @property
    def fitting(self) -> int:
        """Number of turns that a chart has room for."""
        return max(1, int(self.place(0).width() // _NARROWEST))

    @property
    def step(self) -> float:
        """Pixels from a turn to the next."""
        shown = max(1, min(self.count - self.first, self.fitting))
        return min(self.place(0).width() / shown, _WIDEST)

    def place(self, number: int) -> QRectF:
        """Return where the bars of a chart are."""
        rows = (len(CHARTS) + self.columns - 1) // self.columns
        width, height = (self.width - SIDE) / self.columns, self.height / rows
        column, row = number % self.columns, number // self.columns
        return QRectF(SIDE + column * width, row * height + _head(), width - 2 * SIDE, height - _head() - _foot())

    def bar(self, chart: int, turn: int) -> QRectF:
        """Return the place of a turn's bar, as high as the chart."""
        place, step = self.place(chart), self.step
        gap = 1.0 if step < 8 else 3.0
        return QRectF(place.left() + (turn - self.first) * step, place.top(), step - gap, place.height())

    def turn_at(self, x: float, y: float) -> int | None:
        """Return the number of the turn at a point, or None."""
        for chart in range(len(CHARTS)):
            place = self.place(chart)
            if place.left() <= x <= place.right() and place.top() - _head() <= y <= place.bottom() + _foot():
                turn = self.first + int((x - place.left()) // self.step)
                return turn if turn < self.count else None
        return None


def paint_charts(painter: QPainter, layout: Layout, turns: Sequence[Turn], selected: int | None) -> None:
    """Paint the charts.

    Args:
        painter: the painter.
        layout: where.
        turns: all turns.
        selected: number of the selected turn, or None.
    """
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    shown = range(layout.first, min(layout.first + layout.fitting, len(turns)))
    for number, chart in enumerate(CHARTS):
        _paint_chart(painter, layout, number, chart, turns, shown, selected)


def _paint_chart(
    painter: QPainter, layout: Layout, number: int, chart: Chart, turns: Sequence[Turn], shown: range, selected: int | None
) -> None:
    place = layout.place(number)
    values = {turn: [series.value(turns[turn]) for series in chart.series] for turn in shown}
    most = max((sum(value or 0.0 for value in found) for found in values.values()), default=0.0)
    unknown = sum(None in found for found in values.values() if found)
    _paint_head(painter, place, chart, most, unknown)
    painter.setPen(theme.color("line"))
    painter.drawLine(place.bottomLeft(), place.bottomRight())
    for turn, found in values.items():
        bar = layout.bar(number, turn)
        if turn == selected:
            painter.fillRect(bar.adjusted(-1, 0, 1, _foot()), theme.color("selected"))
        bottom = bar.bottom()
        painter.setPen(Qt.PenStyle.NoPen)
        for series, value in zip(chart.series, found, strict=True):
            high = (value or 0.0) / most * (bar.height() - 2) if most else 0.0
            if high > 0:
                _fill(painter, QRectF(bar.left(), bottom - high, bar.width(), high), series)
                bottom -= high
        if None in found and turns[turn].used.calls:
            _paint_unknown(painter, bar)
    _paint_numbers(painter, layout, number, shown)


def _fill(painter: QPainter, place: QRectF, series: Series) -> None:
    painter.fillRect(place, theme.color(series.role))
    painter.fillRect(place, QBrush(theme.color("pane"), series.lines))


def _paint_head(painter: QPainter, place: QRectF, chart: Chart, most: float, unknown: int) -> None:
    bold = QFont(theme.small_font())
    bold.setBold(True)
    x, base = place.left(), place.top() - theme.px(7)
    painter.setFont(bold)
    painter.setPen(theme.color("text"))
    painter.drawText(QPointF(x, base), chart.title)
    x += QFontMetrics(bold).horizontalAdvance(chart.title) + 12
    painter.setFont(theme.small_font())
    metrics = QFontMetrics(theme.small_font())
    edge = f"up to {chart.text(most)}" if most else ""
    edge = f"{edge} · {unknown} unknown" if unknown and chart.title == "Cost" and edge else "unknown" if unknown and not edge else edge
    for series in (series for series in chart.series if series.name):
        if x + 12 + metrics.horizontalAdvance(series.name) > place.right():
            break  # the tooltip names all parts
        _fill(painter, QRectF(x, base - 8, 8, 8), series)
        painter.setPen(theme.color("dim"))
        painter.drawText(QPointF(x + 12, base), series.name)
        x += 12 + metrics.horizontalAdvance(series.name) + 10
    wide = metrics.horizontalAdvance(edge)
    if x + wide < place.right():
        painter.setPen(theme.color("dim"))
        painter.drawText(QPointF(place.right() - wide, base), edge)


def _paint_unknown(painter: QPainter, bar: QRectF) -> None:
    """Paint an open bar for a value that is not known, which is not 0."""
    painter.setPen(QPen(theme.color("dim"), 1, Qt.PenStyle.DotLine))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(QRectF(bar.left(), bar.bottom() - 14, bar.width(), 14))


def _paint_numbers(painter: QPainter, layout: Layout, number: int, shown: range) -> None:
    painter.setFont(theme.small_font())
    painter.setPen(theme.color("dim"))
    metrics = QFontMetrics(theme.small_font())
    free = -1.0
    for turn in shown:
        bar, text = layout.bar(number, turn), f"{turn + 1:,}"
        wide = metrics.horizontalAdvance(text)
        left = max(bar.center().x() - wide / 2, layout.place(number).left())
        if left >= free and left + wide <= layout.place(number).right():
            painter.drawText(QRect(int(left), int(bar.bottom()) + 1, wide + 2, _foot()), int(Qt.AlignmentFlag.AlignVCenter), text)
            free = left + wide + 8
