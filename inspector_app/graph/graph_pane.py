"""The Graph pane: the agents, what each did, and which one runs."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QComboBox, QToolTip, QWidget

from inspector_app.graph.graph_painter import GraphView, node_text
from inspector_app.presentation.agent_graph import GraphNode
from inspector_app.presentation.agent_sums import AgentSum
from inspector_app.presentation.values import plain_tooltip
from inspector_app.widgets import theme
from inspector_app.widgets.drawn_pane import DrawnPane
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.layouts import named
from inspector_app.widgets.pictures import PictureButton
from inspector_app.widgets.tooltips import set_tooltip

_ZOOM = 1.2  # of one step of a key or the wheel
_SMALLEST, _LARGEST = 0.4, 2.5


class AgentGraph(QAbstractScrollArea):
    """The graph. Arrow keys go to the node in that direction, Enter or a double click opens its code, plus and minus zoom.

    Signals:
        event_chosen (int): the user chose an agent whose newest event is at this position.
        code_requested (str, int): the user wants to see a file, from this line on.
    """

    event_chosen = Signal(int)
    code_requested = Signal(str, int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        named(self, "agent_graph", "Agent graph")
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setProperty("card", "true")
        self.setProperty("own_wheel", True)  # Ctrl and the wheel zoom here, and do not change the size of text
        self._shown: GraphView | None = None
        self._places: Mapping[str, tuple[str, int]] = {}
        self._factor = 1.0
        for bar in (self.horizontalScrollBar(), self.verticalScrollBar()):
            bar.valueChanged.connect(self.viewport().update)

    @property
    def shown(self) -> GraphView | None:
        """What is displayed."""
        return self._shown

    def set_graph(self, shown: GraphView | None, places: Mapping[str, tuple[str, int]]) -> None:
        """Show a graph; the node of the same name stays selected.

        Args:
            shown: the graph; None for none.
            places: agent → file and line of its code.
        """
        before = self._shown.selected.name if self._shown is not None and self._shown.selected is not None else None
        self._shown, self._places = shown, places
        if shown is not None and before is not None:
            shown.selected = next((node for node in shown.root.nodes() if node.name == before), None)
        self._fit_bars()
        self._tell()
        self.viewport().update()

    def set_active(self, name: str | None, state: str) -> None:
        """Light the agent that runs or is held.

        Args:
            name: the agent; None for none.
            state: `running`, `held`, or empty.
        """
        if self._shown is None or (self._shown.active, self._shown.state) == (name, state):
            return
        self._shown.active, self._shown.state = name, state
        node = next((node for node in self._shown.root.nodes() if node.name == name), None)
        if node is not None and state:
            self._reveal(node)
        self.viewport().update()

    def select_agent(self, name: str) -> None:
        """Select the node of a name, if there is one, without choosing its event."""
        node = next((node for node in self._shown.root.nodes() if node.name == name), None) if self._shown is not None else None
        if node is not None and self._shown is not None and node is not self._shown.selected:
            self._shown.selected = node
            self._reveal(node)
            self._tell()
            self.viewport().update()

    @property
    def picture_size(self) -> QSize:
        """The size of a picture, in pixels."""
        return self._shown.size if self._shown is not None else QSize(1, 1)

    def paint_picture(self, painter: QPainter) -> None:
        """Paint the whole graph into a picture."""
        if self._shown is not None:
            self._shown.paint(painter)

    def minimumSizeHint(self) -> QSize:
        """Return the height of a row: the pane shares its place with panes that may be low."""
        return QSize(100, 40)

    def describe(self, node: GraphNode) -> str:
        """Return the description of a node."""
        place = self._places.get(node.name)
        done = self._shown.sums.get(node.name, AgentSum()) if self._shown is not None else AgentSum()
        return node_text(node, done, f"{place[0]}, line {place[1]}" if place else "")

    def node_at(self, point: QPointF) -> GraphNode | None:
        """Return the node at a point of the viewport, or None."""
        if self._shown is None:
            return None
        shown, place = self._shown, (point + self._offset) / self._factor
        return next((node for node in shown.root.nodes() if shown.card(node).contains(place)), None)

    def centre_of(self, name: str) -> QPoint:
        """Return the centre of an agent's card in the viewport."""
        assert self._shown is not None
        node = next(node for node in self._shown.root.nodes() if node.name == name)
        return (self._shown.card(node).center() * self._factor - self._offset).toPoint()

    @property
    def _offset(self) -> QPointF:
        return QPointF(self.horizontalScrollBar().value(), self.verticalScrollBar().value())

    def _fit_bars(self) -> None:
        size, room = self.picture_size * self._factor, self.viewport().size()
        for bar, needed, there in (
            (self.horizontalScrollBar(), size.width(), room.width()),
            (self.verticalScrollBar(), size.height(), room.height()),
        ):
            bar.setPageStep(there)
            bar.setSingleStep(20)
            bar.setRange(0, max(0, needed - there))

    def _reveal(self, node: GraphNode) -> None:
        assert self._shown is not None
        card = self._shown.card(node)
        for bar, low, high in (
            (self.horizontalScrollBar(), card.left(), card.right()),
            (self.verticalScrollBar(), card.top(), card.bottom()),
        ):
            low, high = low * self._factor - 8, high * self._factor + 8
            if low < bar.value() or high - low > bar.pageStep():
                bar.setValue(round(low))
            elif high > bar.value() + bar.pageStep():
                bar.setValue(round(high - bar.pageStep()))

    def _tell(self) -> None:
        selected = self._shown.selected if self._shown is not None else None
        self.setAccessibleDescription(self.describe(selected) if selected is not None else "")

    def _zoom(self, factor: float) -> None:
        self._factor = min(max(self._factor * factor, _SMALLEST), _LARGEST)
        self._fit_bars()
        self.viewport().update()

    def _choose(self, node: GraphNode) -> None:
        assert self._shown is not None
        self._shown.selected = node
        self._reveal(node)
        self._tell()
        self.viewport().update()
        done = self._shown.sums.get(node.name)
        if done is not None and done.newest is not None:
            self.event_chosen.emit(done.newest)

    def _open(self, node: GraphNode) -> None:
        place = self._places.get(node.name)
        if place is not None:
            self.code_requested.emit(*place)

    # input

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the scroll bars."""
        self._fit_bars()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose the clicked agent."""
        node = self.node_at(event.position())
        if node is not None and event.button() == Qt.MouseButton.LeftButton:
            self._choose(node)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Open the code of an agent."""
        node = self.node_at(event.position())
        if node is not None:
            self._open(node)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom with Ctrl, else scroll."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._zoom(_ZOOM ** (event.angleDelta().y() / 120))
            event.accept()
        else:
            super().wheelEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to another node, open code, or zoom."""
        key = Qt.Key(event.key())
        if self._shown is None:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._choose(self._next(key))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._shown.selected is not None:
            self._open(self._shown.selected)
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self._zoom(_ZOOM)
        elif key == Qt.Key.Key_Minus:
            self._zoom(1 / _ZOOM)
        elif key == Qt.Key.Key_0:
            self._zoom(1 / self._factor)
        else:
            super().keyPressEvent(event)

    def _next(self, key: Qt.Key) -> GraphNode:
        """Return the closest node in a direction, or the selected one; the root if none is selected."""
        assert self._shown is not None
        here = self._shown.selected
        if here is None:
            return self._shown.root
        across = key in (Qt.Key.Key_Left, Qt.Key.Key_Right)
        sign = 1 if key in (Qt.Key.Key_Right, Qt.Key.Key_Down) else -1
        ahead = []
        for node in self._shown.root.nodes():
            along = node.column - here.column if across else node.row - here.row
            beside = node.row - here.row if across else node.column - here.column
            if along * sign > 0:
                ahead.append((abs(beside) * 3 + abs(along), node.row, node.column, node))
        return min(ahead, key=lambda one: one[:3], default=(0, 0, 0, here))[3]

    def viewportEvent(self, event: QEvent) -> bool:
        """Show a node's description as its tooltip."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            node = self.node_at(QPointF(event.pos()))
            QToolTip.showText(event.globalPos(), plain_tooltip(self.describe(node)) if node is not None else "", self)
            return True
        return super().viewportEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the graph."""
        with QPainter(self.viewport()) as painter:
            painter.fillRect(event.rect(), theme.color("pane"))
            if self._shown is not None:
                painter.translate(-self._offset)
                painter.scale(self._factor, self._factor)
                self._shown.paint(painter)


class GraphPane(DrawnPane):
    """The graph with its range, or a text that explains why there is none.

    Attributes:
        graph: the graph.

    Signals:
        range_chosen: the user chose another range.
    """

    range_chosen = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        self.graph = AgentGraph()
        super().__init__("graph_pane", "graph_note", self.graph, EmptyState("No agents", "Open an agent, or a session."), parent)
        self.picture = PictureButton(self, "agents", lambda: self.graph.picture_size, self.graph.paint_picture)
        self._range = named(QComboBox(), "graph_range", "Range of the counts")
        set_tooltip(self._range, "Range of the counts")  # Qt names a box without a label by its choice
        self._range.setProperty("small", "true")
        for name, text in (("invocation", "This invocation"), ("session", "Whole session")):
            self._range.addItem(text, name)
        self._range.currentIndexChanged.connect(lambda _: self.range_chosen.emit())
        self.lay_out(self._range, (self._note, 1), self.picture, spacing=6)
        self.set_graph(None, {}, "")

    @property
    def range(self) -> str:
        """The chosen range: `invocation` or `session`."""
        return str(self._range.currentData())

    def set_graph(self, shown: GraphView | None, places: Mapping[str, tuple[str, int]], note: str) -> None:
        """Show a graph.

        Args:
            shown: the graph; None for none.
            places: agent → file and line of its code.
            note: a line about what is shown.
        """
        self.graph.set_graph(shown, places)
        self._note.setText(note)
        self.show_drawing(shown is not None)
