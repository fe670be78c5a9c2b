"""The chart of a timeline: zoom, pan, hover, and choosing an event."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip, QWidget

from inspector_app.presentation.spans import Span
from inspector_app.presentation.timeline_rows import Timeline, TimelineRow
from inspector_app.presentation.values import plain_tooltip
from inspector_app.timeline.timeline_painter import WORLD, TimelinePainter, Viewport, axis_height, bar_text, names_width, row_height
from inspector_app.widgets import theme
from inspector_app.widgets.layouts import named

ZOOM = 1.5  # of one step of a key, a button or the wheel
_SHORTEST = 2e-5  # seconds that are visible at least
_BAR_STEPS = 100_000  # positions of the horizontal scroll bar
_REACH = 3  # pixels around the pointer in which a bar is found


class TimelineChart(QAbstractScrollArea):
    """The chart. Left and Right go from call to call; plus, minus and 0 zoom; Shift with an arrow, or the mouse, pans.

    Signals:
        event_chosen (int): the user chose the event at this position.
        zoomed: another part of the axis is visible.
    """

    event_chosen = Signal(int)
    zoomed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        named(self, "timeline_chart", "Timeline")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setProperty("card", "true")
        self.setProperty("own_wheel", True)  # Ctrl and the wheel zoom here, and do not change the size of text
        self._painter: TimelinePainter | None = None
        self._view = Viewport(1, 1)
        self._pressed: tuple[QPointF, float, int] | None = None  # where the mouse was pressed, and what was visible then
        self._panned = False
        self.horizontalScrollBar().valueChanged.connect(self._on_panned)
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)

    @property
    def shown(self) -> Timeline | None:
        """The displayed timeline."""
        return self._painter.shown if self._painter is not None else None

    @property
    def selected_index(self) -> int | None:
        """The position of the selected event."""
        return self._painter.index if self._painter is not None else None

    @property
    def visible_part(self) -> tuple[float, float]:
        """The visible positions of the axis, from 0 to `WORLD`."""
        return self._view.first, self._view.first + self._view.extent

    def set_timeline(self, shown: Timeline | None, roles: dict[str, str], *, keep_zoom: bool = False) -> None:
        """Show a timeline.

        Args:
            shown: the timeline; None for none.
            roles: author → colour role.
            keep_zoom: show the same part of the axis; the timeline has only grown.
        """
        self._painter = TimelinePainter(shown, roles) if shown is not None else None
        if not keep_zoom:
            self._view.first, self._view.extent = 0.0, WORLD
        self._fit_bars()
        self.viewport().update()

    def select_event(self, index: int | None, time: float | None) -> None:
        """Mark the selected event.

        Args:
            index: position of the event; None for none.
            time: its timestamp, epoch seconds.
        """
        if self._painter is None:
            return
        is_other = index != self._painter.index
        self._painter.index, self._painter.time = index, time
        if is_other:
            self._reveal(index)
        self.viewport().update()

    def zoom(self, factor: float, x: float | None = None) -> None:
        """Zoom in or out.

        Args:
            factor: above 1 zooms in.
            x: the pixel that stays where it is; None for the middle.
        """
        view, shown = self._view, self.shown
        if shown is None:
            return
        x = names_width() + view.plot / 2 if x is None else max(x, names_width())
        place = view.place(x)
        seconds = max(shown.scale.end - shown.scale.start, 1e-9)
        view.extent = min(max(view.extent / factor, min(_SHORTEST / seconds, WORLD)), WORLD)
        self._show_from(place - (x - names_width()) * view.pixel)

    def fit(self) -> None:
        """Show the whole axis."""
        self._view.extent = WORLD
        self._show_from(0.0)

    def pan(self, share: float) -> None:
        """Move the visible part by a share of its width."""
        self._show_from(self._view.first + share * self._view.extent)

    def paint_whole(self, painter: QPainter) -> None:
        """Paint the visible part of the axis with all rows, for a picture of `picture_size`."""
        if self._painter is not None:
            size = self.picture_size
            self._painter.paint(painter, Viewport(size.width(), size.height(), self._view.first, self._view.extent))

    @property
    def picture_size(self) -> QSize:
        """The size of a picture with all rows, in pixels."""
        return QSize(max(self.viewport().width(), 600), axis_height() + row_height() * self._count + 6)

    def minimumSizeHint(self) -> QSize:
        """Return the height of the axis and a row: the pane shares its place with panes that may be low."""
        return QSize(names_width(), axis_height() + row_height())

    # geometry

    @property
    def _count(self) -> int:
        return len(self._painter.shown.rows) if self._painter is not None else 0

    def _show_from(self, first: float) -> None:
        self._view.first = max(0.0, min(first, WORLD - self._view.extent))
        self._fit_bars()
        self.viewport().update()
        self.zoomed.emit()

    def _fit_bars(self) -> None:
        """Fit the scroll bars to what is visible."""
        view = self._view
        view.width, view.height = self.viewport().width(), self.viewport().height()
        down, across = self.verticalScrollBar(), self.horizontalScrollBar()
        down.setPageStep(max(view.height - axis_height(), 1))
        down.setSingleStep(row_height())
        down.setRange(0, max(0, axis_height() + row_height() * self._count + 6 - view.height))
        visible = round(view.extent / WORLD * _BAR_STEPS)
        across.blockSignals(True)
        across.setPageStep(max(visible, 1))
        across.setSingleStep(max(visible // 20, 1))
        across.setRange(0, _BAR_STEPS - visible)
        across.setValue(round(view.first / WORLD * _BAR_STEPS))
        across.blockSignals(False)

    def _on_panned(self, value: int) -> None:
        self._view.first = max(0.0, min(value / _BAR_STEPS * WORLD, WORLD - self._view.extent))
        self.viewport().update()

    def _on_scrolled(self, value: int) -> None:
        self._view.top = value
        self.viewport().update()

    def _reveal(self, index: int | None) -> None:
        """Make the row and the time of an event visible."""
        assert self._painter is not None
        row = self._painter.shown.row_of(index)
        if row is None:
            return
        bar, top = self.verticalScrollBar(), row_height() * row
        room = max(self.viewport().height() - axis_height(), row_height())
        if not bar.value() <= top <= bar.value() + room - row_height():
            bar.setValue((top - (room - row_height()) // 2) // row_height() * row_height())
        time = self._painter.time
        if time is not None:
            place = self._painter.shown.scale.place(time - self._painter.shown.rows[row].zero)
            if not self._view.first <= place <= self._view.first + self._view.extent:
                self._show_from(place - self._view.extent / 2)

    def bar_at(self, point: QPoint) -> tuple[TimelineRow, Span, int] | None:
        """Return the bar at a point of the viewport with its row, and how many bars are there, or None."""
        row = (point.y() - axis_height() + self._view.top) // row_height()
        if self._painter is None or not 0 <= row < self._count or point.y() < axis_height() or point.x() < names_width():
            return None
        line = self._painter.shown.rows[row]
        number, count = line.lane.near(self._view.place(point.x()), _REACH * self._view.pixel)
        if number is None:  # the end of an open bar is drawn beyond its place
            opened = [number for number, span in enumerate(line.bars[-8:], max(len(line.bars) - 8, 0)) if span.end is None]
            rects = self._painter.bars(self._view, line.lane, opened, 0)
            found = next((span for rect, span in rects if rect.left() - 2 <= point.x() <= rect.right() + 2), None)
            return (line, found, 1) if found is not None else None
        return line, line.bars[number], count

    def row_of(self, index: int | None) -> int | None:
        """Return the row of an event; see `Timeline.row_of`."""
        return self._painter.shown.row_of(index) if self._painter is not None else None

    def axis_labels(self) -> list[tuple[float, float, str]]:
        """Return the labels of the axis (left edge, right edge, text)."""
        return self._painter.axis_labels(self._view) if self._painter is not None else []

    def centre_of(self, label: str, number: int = 0) -> QPoint:
        """Return the centre of a bar in the viewport, given the label of its row and its number in the row."""
        assert self._painter is not None
        row, line = next((row, line) for row, line in enumerate(self._painter.shown.rows) if line.label == label)
        rect, _ = next(self._painter.bars(self._view, line.lane, [number], self._view.y(row) + 4))
        return rect.center().toPoint()

    # input

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin to pan, or to choose a bar."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._pressed = event.position(), self._view.first, self._view.top
            self._panned = False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Pan while the button is held."""
        if self._pressed is None:
            return
        start, first, top = self._pressed
        moved = event.position() - start
        if not self._panned and moved.manhattanLength() < 6:
            return
        self._panned = True
        self.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)
        self._show_from(first - moved.x() * self._view.pixel)
        self.verticalScrollBar().setValue(round(top - moved.y()))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Choose the event of the clicked bar, unless the mouse panned."""
        pressed, self._pressed = self._pressed, None
        self.viewport().unsetCursor()
        if pressed is None or self._panned:
            return
        found = self.bar_at(event.position().toPoint())
        if found is not None:
            self._choose(found[1])

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom with Ctrl, pan with Shift, else scroll the rows."""
        turned = event.angleDelta()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(ZOOM ** (turned.y() / 120), event.position().x())
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier or abs(turned.x()) > abs(turned.y()):
            self.pan(-(turned.x() or turned.y()) / 120 * 0.15)
        else:
            super().wheelEvent(event)
            return
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Zoom, pan, or choose the previous or next call by time."""
        key, shift = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(key))
        if self.shown is None:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(ZOOM)
        elif key == Qt.Key.Key_Minus:
            self.zoom(1 / ZOOM)
        elif key == Qt.Key.Key_0:
            self.fit()
        elif step is not None and shift:
            self.pan(step * 0.15)
        elif step is not None:
            self._go(step)
        else:
            super().keyPressEvent(event)

    def _go(self, step: int) -> None:
        assert self._painter is not None
        rows = (row for row in self._painter.shown.rows if row.kind == "calls")
        bars = sorted(((bar.index, bar.start, bar) for row in rows for bar in row.bars if bar.index is not None), key=lambda bar: bar[:2])
        if not bars:
            return
        current, here = self._painter.current, self._painter.index
        number = next((number for number, (_, _, bar) in enumerate(bars) if bar is current), None)
        if number is None or here not in (bars[number][0], bars[number][2].last):
            later = next((number for number, (index, _, _) in enumerate(bars) if index >= (here or 0)), len(bars) - 1)
            number = later if step > 0 else later - 1
        else:
            number += step
        self._choose(bars[max(0, min(number, len(bars) - 1))][2])

    def _choose(self, bar: Span) -> None:
        assert self._painter is not None
        self._painter.current = bar
        self.viewport().update()
        if bar.index is not None:
            self._painter.index = bar.index
            self.event_chosen.emit(bar.index)

    def describe(self, point: QPoint) -> str:
        """Return the description of what is at a point of the viewport; empty for nothing."""
        found = self.bar_at(point)
        if found is None:
            return ""
        row, bar, count = found
        more = f"\nOne of {count:,} here: zoom in to tell them apart" if count > 1 and row.kind == "calls" else ""
        return bar_text(row, bar) + more

    def viewportEvent(self, event: QEvent) -> bool:
        """Show a bar's description as its tooltip."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), plain_tooltip(self.describe(event.pos())), self)
            return True
        return super().viewportEvent(event)

    # painting

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the scroll bars."""
        self._fit_bars()
        if self._painter is not None:
            self._reveal(self._painter.index)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the visible rows."""
        if self._painter is None:
            return
        with QPainter(self.viewport()) as painter:
            painter.fillRect(event.rect(), theme.color("pane"))
            self._painter.paint(painter, self._view)
