"""The waterfall of the displayed invocation."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QScrollArea, QStackedLayout, QToolTip, QWidget

from inspector_app.detail.waterfall import Bar, Timeline, TimelineRow
from inspector_app.presentation.values import duration, plain_tooltip, visible
from inspector_app.widgets import theme
from inspector_app.widgets.empty_state import EmptyState

ROW_HEIGHT = 20
_AXIS_HEIGHT = 22
_NAMES_WIDTH = 150
_RIGHT = 90  # pixels after the last event, for open bars and their labels
_NARROWEST = 3
_LABEL_GAP = 12
_ROLES = {"model": "author3", "tool": "ok", "wait": "warn"}


class TimelineView(QWidget):
    """A view of a `Timeline`, or a text that explains why there is none.

    Attributes:
        chart: the waterfall.

    Signals:
        event_chosen (int): the user chose the event at this position.
        came_on_show: the view became visible.
    """

    event_chosen = Signal(int)
    came_on_show = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("timeline_view")
        self._selected: int | None = None
        self.chart = _Chart()
        self.chart.event_chosen.connect(self.event_chosen)
        self.chart.installEventFilter(self)
        self._scroll = QScrollArea()
        self._scroll.setObjectName("timeline_scroll")
        self._scroll.setWidgetResizable(True)
        self._scroll.setWidget(self.chart)
        self._scroll.setFocusProxy(self.chart)
        self._scroll.verticalScrollBar().valueChanged.connect(lambda _: self.chart.update())  # repaints the axis, which stays at the top
        self._empty = EmptyState("No timeline", "Select an event to see its invocation on a time axis.")
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._scroll)

    def showEvent(self, event: QShowEvent) -> None:
        """Emit `came_on_show`: a hidden timeline is not computed."""
        super().showEvent(event)
        self.came_on_show.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Repaint the focus frame around the chart, and keep the selected event's row visible when the rows change."""
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self._scroll.update()
        if event.type() == QEvent.Type.Resize:
            self._reveal()
        return False

    def set_timeline(self, shown: Timeline | None, roles: dict[str, str]) -> None:
        """Show a waterfall.

        Args:
            shown: the waterfall; None for none.
            roles: author → colour role.
        """
        self.chart.set_timeline(shown, roles)
        self._stack.setCurrentWidget(self._scroll if shown is not None and shown.rows else self._empty)

    def set_empty_text(self, title: str, hint: str) -> None:
        """Set the text shown without a waterfall."""
        self._empty.set_text(title, hint)

    def select_event(self, index: int | None, time: float | None) -> None:
        """Mark the selected event.

        Args:
            index: position of the event; None for none.
            time: its timestamp, epoch seconds.
        """
        is_other = index != self._selected
        self._selected = index
        self.chart.select_event(index, time)
        if is_other:
            self._reveal()

    def _reveal(self) -> None:
        row = self.chart.row_of(self._selected)
        if row is not None:
            self._scroll.ensureVisible(0, _AXIS_HEIGHT + row * ROW_HEIGHT + ROW_HEIGHT // 2, 0, _AXIS_HEIGHT + ROW_HEIGHT // 2)


class _Chart(QWidget):
    """The chart. It paints the visible rows; Left and Right move from bar to bar and choose its event."""

    event_chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("timeline_chart")
        self.setAccessibleName("Timeline of the invocation")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._shown: Timeline | None = None
        self._roles: dict[str, str] = {}
        self._selected: tuple[int | None, float | None] = (None, None)
        self._current: Bar | None = None
        self._small = theme.small_font()
        self._bold = QFont(self._small)
        self._bold.setBold(True)

    @property
    def shown(self) -> Timeline | None:
        """The displayed timeline."""
        return self._shown

    @property
    def selected_index(self) -> int | None:
        """The position of the selected event."""
        return self._selected[0]

    def set_timeline(self, shown: Timeline | None, roles: dict[str, str]) -> None:
        """See `TimelineView.set_timeline`."""
        self._shown, self._roles, self._current = shown, roles, None
        self.setMinimumHeight(_AXIS_HEIGHT + ROW_HEIGHT * (len(shown.rows) if shown else 0) + 6)
        self.updateGeometry()
        self.update()

    def select_event(self, index: int | None, time: float | None) -> None:
        """See `TimelineView.select_event`."""
        self._selected = (index, time)
        self.update()

    def sizeHint(self) -> QSize:
        """Return the height of all rows."""
        return QSize(600, self.minimumHeight())

    # geometry

    def _x(self, time: float) -> float:
        assert self._shown is not None
        return _NAMES_WIDTH + self._shown.scale.place(time) * max(self.width() - _NAMES_WIDTH - _RIGHT, 1)

    def _rect(self, row: int, bar: Bar) -> QRectF:
        left = self._x(bar.start)
        right = self._x(bar.end) if bar.end is not None else max(self.width() - _RIGHT, left) + 24
        height = ROW_HEIGHT - 8
        return QRectF(left, _AXIS_HEIGHT + row * ROW_HEIGHT + 4, max(right - left, _NARROWEST), height)

    def bar_at(self, point: QPoint) -> tuple[TimelineRow, Bar] | None:
        """Return the bar at a point with its row, or None."""
        row = (point.y() - _AXIS_HEIGHT) // ROW_HEIGHT
        if self._shown is None or not 0 <= row < len(self._shown.rows) or point.y() < self._axis_bottom:
            return None
        line = self._shown.rows[row]
        for bar in reversed(line.bars):
            if self._rect(row, bar).adjusted(-2, -4, 2, 4).contains(QPointF(point)):
                return line, bar
        return None

    def row_of(self, index: int | None) -> int | None:
        """Return the row of an event: that of its call, else of the agent that was running."""
        if self._shown is None or index is None:
            return None
        bars = [(row, bar) for row, line in enumerate(self._shown.rows) for bar in line.bars]
        calls = [row for row, bar in bars if bar.kind != "agent" and index in (bar.last, bar.index)]
        agents = [(bar.last - bar.index, row) for row, bar in bars if bar.kind == "agent" and bar.index <= index <= bar.last]
        return calls[0] if calls else min(agents)[1] if agents else None

    def centre_of(self, label: str, number: int = 0) -> QPoint:
        """Return the centre of a bar, given the label of its row and its number in the row."""
        assert self._shown is not None
        row, line = next((row, line) for row, line in enumerate(self._shown.rows) if line.label == label)
        return self._rect(row, line.bars[number]).center().toPoint()

    # input

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the event of the clicked bar."""
        found = self.bar_at(event.position().toPoint())
        if found is not None and event.button() == Qt.MouseButton.LeftButton:
            self._choose(found[1])

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose the previous or next bar by time with Left and Right."""
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if self._shown is None or step is None:
            super().keyPressEvent(event)
            return
        bars = sorted((bar for row in self._shown.rows for bar in row.bars if bar.kind != "agent"), key=lambda bar: (bar.start, bar.index))
        if not bars:
            return
        here = self._selected[0] if self._selected[0] is not None else -1
        if self._current in bars:
            number = bars.index(self._current) + step
        else:
            later = next((number for number, bar in enumerate(bars) if bar.index >= here), len(bars) - 1)
            number = later if step > 0 else later - 1
        self._choose(bars[max(0, min(number, len(bars) - 1))])

    def _choose(self, bar: Bar) -> None:
        self._current = bar
        self.update()
        self.event_chosen.emit(bar.index)

    def event(self, event: QEvent) -> bool:
        """Show a bar's description as its tooltip."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            found = self.bar_at(event.pos())
            QToolTip.showText(event.globalPos(), plain_tooltip(bar_text(*found)) if found else "", self)
            return True
        return super().event(event)

    # painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the axis and the rows in the exposed rectangle."""
        if self._shown is None:
            return
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_grid(painter, self._shown)
            first = max(0, (event.rect().top() - _AXIS_HEIGHT) // ROW_HEIGHT)
            last = min(len(self._shown.rows), (event.rect().bottom() - _AXIS_HEIGHT) // ROW_HEIGHT + 1)
            for row in range(first, last):
                self._paint_row(painter, row, self._shown.rows[row])
            self._paint_axis(painter, self._shown)
            time = self._selected[1]
            if time is not None and self._shown.start <= time <= self._shown.end:
                painter.setPen(QPen(theme.color("accent"), 1.5))
                painter.drawLine(QPointF(self._x(time), self._axis_bottom - 4), QPointF(self._x(time), self.height()))

    @property
    def _axis_bottom(self) -> int:
        """Bottom of the axis, which stays at the top of the visible part while the rows scroll."""
        return max(-self.y(), 0) + _AXIS_HEIGHT

    def _paint_grid(self, painter: QPainter, shown: Timeline) -> None:
        for pause in shown.scale.pauses:
            left, right = self._x(pause.start), self._x(pause.end)
            painter.fillRect(QRectF(left + 1, _AXIS_HEIGHT, right - left - 2, self.height()), theme.color("raised"))
        painter.setPen(theme.color("line"))
        for time in shown.scale.ticks(self._most_ticks):
            painter.drawLine(QPointF(self._x(time), _AXIS_HEIGHT - 4), QPointF(self._x(time), self.height()))

    def _paint_axis(self, painter: QPainter, shown: Timeline) -> None:
        painter.fillRect(QRect(0, self._axis_bottom - _AXIS_HEIGHT, self.width(), _AXIS_HEIGHT - 4), theme.color("pane"))
        painter.setFont(self._small)
        painter.setPen(theme.color("dim"))
        for left, _, text in self.axis_labels(shown):
            painter.drawText(QPointF(left, self._axis_bottom - 8), text)

    @property
    def _most_ticks(self) -> int:
        return max(2, (self.width() - _NAMES_WIDTH) // 110)

    def axis_labels(self, shown: Timeline) -> list[tuple[float, float, str]]:
        """Return the labels of the axis (left edge, right edge, text): lengths of pauses first, then times where they fit."""
        metrics = QFontMetrics(self._small)
        wanted: list[tuple[float, str]] = []
        for pause in shown.scale.pauses:
            text = f"… {duration(pause.end - pause.start)} …"
            middle = (self._x(pause.start) + self._x(pause.end)) / 2
            wanted.append((max(middle - metrics.horizontalAdvance(text) / 2, _NAMES_WIDTH + 4), text))
        for time in shown.scale.ticks(self._most_ticks):
            over = shown.scale.pause_before(time)
            if over is None or time > over.end:
                text = duration(time - shown.start) if over is None else f"+{duration(time - over.end)}"
                wanted.append((self._x(time) + 4, text))
        kept: list[tuple[float, float, str]] = []
        for left, text in wanted:
            right = left + metrics.horizontalAdvance(text)
            if all(right + _LABEL_GAP <= other_left or left >= other_right + _LABEL_GAP for other_left, other_right, _ in kept):
                kept.append((left, right, text))
        return kept

    def _paint_row(self, painter: QPainter, row: int, line: TimelineRow) -> None:
        is_agent = line.bars[0].kind == "agent" if line.bars else False
        painter.setFont(self._bold if is_agent else self._small)
        painter.setPen(theme.color(self._roles.get(line.author, "text") if is_agent else "dim"))
        left = 8 + 12 * min(line.indent, 5)
        name = QRect(left, _AXIS_HEIGHT + row * ROW_HEIGHT, _NAMES_WIDTH - 8 - left, ROW_HEIGHT)
        cut = QFontMetrics(painter.font()).elidedText(visible(line.label[:80]), Qt.TextElideMode.ElideMiddle, name.width())
        painter.drawText(name, int(Qt.AlignmentFlag.AlignVCenter), cut)
        for bar in line.bars:
            self._paint_bar(painter, self._rect(row, bar), bar, self._roles.get(line.author, "text"))

    def _paint_bar(self, painter: QPainter, rect: QRectF, bar: Bar, role: str) -> None:
        colour = QColor(theme.color("bad" if bar.failed else role if bar.kind == "agent" else _ROLES[bar.kind]))
        if bar.kind == "agent":
            colour.setAlphaF(0.4)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRoundedRect(rect, 2.5, 2.5)
        if bar.end is None:  # still running: open to the right
            painter.setBrush(Qt.BrushStyle.BDiagPattern)
            painter.drawRect(rect)
        if bar is self._current or (bar.kind != "agent" and self._selected[0] in (bar.index, bar.last)):
            painter.setPen(QPen(theme.color("text"), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(rect.adjusted(-1, -1, 1, 1), 3, 3)
        self._paint_label(painter, rect, bar)

    def _paint_label(self, painter: QPainter, rect: QRectF, bar: Bar) -> None:
        words = "failed" if bar.failed else bar.label
        painter.setFont(self._small)
        width = QFontMetrics(self._small).horizontalAdvance(words) + 10
        if not words:
            return
        if bar.end is None:
            painter.setPen(theme.color("warn"))
            painter.drawText(rect.adjusted(rect.width() + 6, -4, 200, 4), int(Qt.AlignmentFlag.AlignVCenter), words)
        elif width < rect.width():
            painter.setPen(theme.color("on_accent"))
            painter.drawText(rect.adjusted(5, -4, 0, 4), int(Qt.AlignmentFlag.AlignVCenter), words)


def bar_text(line: TimelineRow, bar: Bar) -> str:
    """Return the description of a bar, for its tooltip."""
    what = {"agent": "agent", "model": "model call of", "tool": "tool of", "wait": "waits for the user, called by"}[bar.kind]
    name = f"agent {line.author}" if bar.kind == "agent" else f"{line.label} · {what} {line.author}"
    lasted = "has not ended" if bar.end is None else duration(bar.end - bar.start)
    place = f"event {bar.index + 1:,}" if bar.index == bar.last else f"events {bar.index + 1:,} to {bar.last + 1:,}"
    return "\n".join(filter(None, (visible(name[:200]), f"{lasted} · {place}", bar.label, "failed" if bar.failed else "")))
