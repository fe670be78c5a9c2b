"""The charts in the Timeline pane: tokens, cost, time and cache hits of each invocation."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip, QWidget

from inspector_app.presentation.turns import Turn, turn_text
from inspector_app.presentation.values import plain_tooltip
from inspector_app.timeline.turns_painter import Layout, paint_charts
from inspector_app.widgets import theme
from inspector_app.widgets.drawn_pane import DrawnPane
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.layouts import named
from inspector_app.widgets.pictures import PictureButton, tool_button


class TurnCharts(QAbstractScrollArea):
    """The charts. Left and Right, Home and End choose a turn; the scroll bar shows earlier ones.

    Attributes:
        turns: the displayed turns.
        selected: the number of the selected one, from 0; None for none.

    Signals:
        event_chosen (int): the user chose the turn that begins with the event at this position.
    """

    event_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        named(self, "turn_charts", "Charts over turns")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setProperty("card", "true")
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.turns: Sequence[Turn] = ()
        self.selected: int | None = None
        self.horizontalScrollBar().valueChanged.connect(self.viewport().update)

    def set_turns(self, turns: Sequence[Turn]) -> None:
        """Show turns; the newest ones are visible if the newest was."""
        bar = self.horizontalScrollBar()
        at_end = bar.value() == bar.maximum()
        self.turns = turns
        self._fit_bar()
        if at_end:
            bar.setValue(bar.maximum())
        self._tell()
        self.viewport().update()

    def select_event(self, index: int | None) -> None:
        """Mark the turn of an event."""
        firsts = [turn.first for turn in self.turns]
        found = bisect_right(firsts, index) - 1 if index is not None else -1
        self.selected = found if found >= 0 else None
        if self.selected is not None:
            bar, fitting = self.horizontalScrollBar(), self.layout_now.fitting
            if not bar.value() <= self.selected < bar.value() + fitting:
                bar.setValue(self.selected - fitting // 2)
        self._tell()
        self.viewport().update()

    def _tell(self) -> None:
        chosen = self.selected
        text = turn_text(chosen + 1, self.turns[chosen]) if chosen is not None and chosen < len(self.turns) else ""
        self.setAccessibleDescription(text)

    @property
    def layout_now(self) -> Layout:
        """Where the charts and bars are."""
        return Layout(self.viewport().width(), self.viewport().height(), self.horizontalScrollBar().value(), len(self.turns))

    @property
    def picture_size(self) -> QSize:
        """The size of a picture, in pixels."""
        return self.viewport().size().expandedTo(QSize(800, 160))

    def paint_picture(self, painter: QPainter) -> None:
        """Paint the visible turns into a picture."""
        size = self.picture_size
        paint_charts(painter, Layout(size.width(), size.height(), self.horizontalScrollBar().value(), len(self.turns)), self.turns, None)

    def describe(self, point: QPoint) -> str:
        """Return the description of the turn at a point; empty for none."""
        turn = self.layout_now.turn_at(point.x(), point.y())
        return turn_text(turn + 1, self.turns[turn]) if turn is not None else ""

    def centre_of(self, turn: int, chart: int = 0) -> QPoint:
        """Return the centre of a turn's place in a chart."""
        return self.layout_now.bar(chart, turn).center().toPoint()

    def minimumSizeHint(self) -> QSize:
        """Return the height of a row: the pane shares its place with panes that may be low."""
        return QSize(100, 40)

    def _fit_bar(self) -> None:
        fitting = Layout(self.viewport().width(), self.viewport().height(), 0, len(self.turns)).fitting
        self.horizontalScrollBar().setPageStep(fitting)
        self.horizontalScrollBar().setRange(0, max(0, len(self.turns) - fitting))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the scroll bar."""
        self._fit_bar()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the clicked turn."""
        turn = self.layout_now.turn_at(event.position().x(), event.position().y())
        if turn is not None and event.button() == Qt.MouseButton.LeftButton:
            self._choose(turn)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose another turn."""
        here, last = self.selected if self.selected is not None else -1, len(self.turns) - 1
        moves = {Qt.Key.Key_Left: here - 1, Qt.Key.Key_Right: here + 1, Qt.Key.Key_Home: 0, Qt.Key.Key_End: last}
        turn = moves.get(Qt.Key(event.key()))
        if turn is None or not self.turns:
            super().keyPressEvent(event)
        else:
            self._choose(max(0, min(turn, last)))

    def _choose(self, turn: int) -> None:
        self.select_event(self.turns[turn].first)
        self.event_chosen.emit(self.turns[turn].first)

    def viewportEvent(self, event: QEvent) -> bool:
        """Show a turn's description as its tooltip."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), plain_tooltip(self.describe(event.pos())), self)
            return True
        return super().viewportEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the charts."""
        with QPainter(self.viewport()) as painter:
            painter.fillRect(event.rect(), theme.color("pane"))
            paint_charts(painter, self.layout_now, self.turns, self.selected)


class TurnsView(DrawnPane):
    """The charts with a line about what they show, or a text that explains why there are none.

    Attributes:
        charts: the charts.
        axis_button: shows the time axis instead.

    Signals:
        event_chosen (int): the user chose the turn that begins with the event at this position.
    """

    event_chosen = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        self.charts = TurnCharts()
        super().__init__(
            "turns_view", "turns_note", self.charts, EmptyState("No turns", "Open a session to see what its invocations used."), parent
        )
        self.charts.event_chosen.connect(self.event_chosen)
        self.picture = PictureButton(self, "charts", lambda: self.charts.picture_size, self.charts.paint_picture)
        self.axis_button = tool_button("turns_timeline", "chart-gantt", "Show the time axis")
        self.axis_button.setText("Time axis")
        self.axis_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.lay_out(self.axis_button, (self._note, 1), self.picture, spacing=6)
        self.set_turns((), "")

    def set_turns(self, turns: Sequence[Turn], note: str) -> None:
        """Show turns.

        Args:
            turns: the turns; empty for none.
            note: a line about what is shown.
        """
        self.charts.set_turns(turns)
        self._note.setText(note)
        self.show_drawing(bool(turns))
