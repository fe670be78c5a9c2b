"""Painting of an agent graph: a card for each agent, lines to what belongs to it, arrows along a workflow's edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QBrush, QFont, QFontMetrics, QPainter, QPainterPath, QPen, QPolygonF

from inspector_app.presentation.agent_graph import GraphNode
from inspector_app.presentation.agent_sums import AgentSum
from inspector_app.presentation.values import duration, visible
from inspector_app.widgets import theme

GAP_X, GAP_Y = 54, 10  # pixels between cards
MARGIN = 12  # pixels around the graph
_LABELS = {"": "", "running": "runs", "held": "held"}


@dataclass(slots=True)
class GraphView:
    """A graph that is displayed.

    Attributes:
        root: the graph, laid out.
        columns, rows: its size.
        roles: agent → colour role.
        sums: agent → what it did.
        active: the agent that runs or is held, or None.
        state: `running`, `held`, or empty.
        selected: the selected node, or None.
    """

    root: GraphNode
    columns: int
    rows: float
    roles: Mapping[str, str] = field(default_factory=dict)
    sums: Mapping[str, AgentSum] = field(default_factory=dict)
    active: str | None = None
    state: str = ""
    selected: GraphNode | None = None

    @property
    def card_height(self) -> int:
        """The height of a card, in pixels."""
        return theme.px(58) + (theme.px(16) if any(node.tools for node in self.root.nodes()) else 0)

    @property
    def size(self) -> QSize:
        """The size of the picture, in pixels."""
        wide = self.columns * (_card_width() + GAP_X) - GAP_X
        high = self.rows * (self.card_height + GAP_Y) - GAP_Y
        return QSize(wide + 2 * MARGIN, round(high) + 2 * MARGIN)

    def card(self, node: GraphNode) -> QRectF:
        """Return the place of a node's card."""
        left = MARGIN + node.column * (_card_width() + GAP_X)
        top = MARGIN + node.row * (self.card_height + GAP_Y)
        return QRectF(left, top, _card_width(), self.card_height)

    def paint(self, painter: QPainter) -> None:
        """Paint the graph."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
        for node in self.root.nodes():
            self._paint_lines(painter, node)
        for node in self.root.nodes():
            self._paint_card(painter, node)

    def _paint_lines(self, painter: QPainter, node: GraphNode) -> None:
        followed = {end for _, end, _ in node.flow}
        reached = [number for number in range(len(node.below)) if number not in followed]
        for number in reached or ([0] if node.below else []):
            below = node.below[number]
            painter.setPen(QPen(theme.color("dim"), 1, Qt.PenStyle.DashLine if below.as_tool else Qt.PenStyle.SolidLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(_curve(_right(self.card(node)), _left(self.card(below))))
        for begin, end, label in node.flow:
            self._paint_arrow(painter, node.below[begin], node.below[end], label)

    def _paint_arrow(self, painter: QPainter, begin: GraphNode, end: GraphNode, label: str) -> None:
        painter.setPen(QPen(theme.color("accent"), 1.2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if end.column > begin.column:
            start, tip = _right(self.card(begin)), _left(self.card(end))
            painter.drawPath(_curve(start, tip))
            place = QPointF((start.x() + tip.x()) / 2, (start.y() + tip.y()) / 2)
        else:  # back to an earlier one, around the bottom
            one, other = self.card(begin), self.card(end)
            low = max(one.bottom(), other.bottom()) + GAP_Y / 2 - 1
            start, tip = QPointF(one.center().x(), one.bottom()), QPointF(other.center().x(), other.bottom())
            painter.drawPolyline(QPolygonF([start, QPointF(start.x(), low), QPointF(tip.x(), low), tip]))
            place = QPointF((start.x() + tip.x()) / 2, low)
        _paint_tip(painter, tip, from_below=end.column <= begin.column)
        if label:
            _paint_label(painter, place, label)

    def _paint_card(self, painter: QPainter, node: GraphNode) -> None:
        card, done = self.card(node), self.sums.get(node.name, AgentSum())
        is_active = bool(self.state) and node.name == self.active
        edge = "warn" if is_active and self.state == "held" else "accent" if is_active or node is self.selected else "line"
        painter.setPen(QPen(theme.color(edge), 2 if is_active or node is self.selected else 1))
        painter.setBrush(theme.color("selected" if is_active else "raised"))
        painter.drawRoundedRect(card, 6, 6)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QBrush(theme.color(self.roles.get(node.name, "dim"))))
        painter.drawRoundedRect(QRectF(card.left() + 8, card.top() + theme.px(8), 8, 8), 2, 2)
        small, bold = theme.small_font(), QFont(theme.small_font())
        bold.setBold(True)
        mark, role = _LABELS[self.state] if is_active else _kind(node), edge if is_active else "dim"
        if done.failures and not is_active:
            mark, role = f"{done.failures:,} failed", "bad"
        room = _card_width() - 34 - QFontMetrics(bold).horizontalAdvance(visible(node.name[:200]))
        if not (is_active or done.failures) and QFontMetrics(small).horizontalAdvance(mark) > room:
            mark = ""  # the name comes first; the tooltip has both
        wide = _paint_right(painter, small, role, card, mark)
        inside = QRect(int(card.left()) + 22, int(card.top()) + theme.px(4), _card_width() - 34 - wide, theme.px(16))
        _paint_line(painter, bold, "text" if done.events else "dim", inside, node.name)
        inside = QRect(int(card.left()) + 8, int(card.top()) + theme.px(21), _card_width() - 16, theme.px(16))
        tools = f"tools: {', '.join(node.tools)}" if node.tools else ""
        for line, line_role in ((done.counts, "text" if done.events else "dim"), (done.usage, "dim"), (tools, "dim")):
            if line:
                _paint_line(painter, small, line_role, inside, line)
                inside.translate(0, theme.px(17))


def node_text(node: GraphNode, done: AgentSum, place: str) -> str:
    """Return the description of a node, for its tooltip and screen readers.

    Args:
        node: the node.
        done: what it did.
        place: file and line of its code; empty if it is not known.
    """
    tools = [_tool_line(name, done) for name in dict.fromkeys((*node.tools, *done.tools))]
    lines = [
        " · ".join(filter(None, (node.name, node.kind, "called as a tool" if node.as_tool else ""))),
        done.counts + (f" · {done.failures:,} failed" if done.failures else ""),
        done.usage,
        *(["tools:", *tools] if tools else []),
        f"Double click: {place}" if place else "",
    ]
    return "\n".join(visible(line) for line in lines if line)


def _tool_line(name: str, done: AgentSum) -> str:
    called = done.tools.get(name)
    if called is None:
        return f"  {name}: not called"
    failed = f", {called.failures:,} failed" if called.failures else ""
    return f"  {name}: {called.calls:,} × · {duration(called.seconds)}{failed}"


def _card_width() -> int:
    """Return the width of a card in pixels."""
    return theme.px(196)


def _kind(node: GraphNode) -> str:
    return "tool" if node.as_tool else "" if node.kind in ("LlmAgent", "Agent") else node.kind[:16]


def _paint_right(painter: QPainter, font: QFont, role: str, card: QRectF, text: str) -> int:
    """Paint a word at the right end of a card's first line; return its width."""
    wide = QFontMetrics(font).horizontalAdvance(text)
    painter.setFont(font)
    painter.setPen(theme.color(role))
    painter.drawText(
        QRectF(card.right() - wide - 9, card.top() + theme.px(4), wide + 1, theme.px(16)), int(Qt.AlignmentFlag.AlignVCenter), text
    )
    return wide


def _paint_line(painter: QPainter, font: QFont, role: str, place: QRect, text: str) -> None:
    painter.setFont(font)
    painter.setPen(theme.color(role))
    cut = QFontMetrics(font).elidedText(visible(text[:200]), Qt.TextElideMode.ElideRight, place.width())
    painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter), cut)


def _paint_tip(painter: QPainter, tip: QPointF, *, from_below: bool) -> None:
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("accent"))
    corners = [QPointF(-4, 7), QPointF(4, 7)] if from_below else [QPointF(-7, -4), QPointF(-7, 4)]
    painter.drawPolygon(QPolygonF([tip, *(tip + corner for corner in corners)]))


def _paint_label(painter: QPainter, place: QPointF, label: str) -> None:
    font = theme.small_font()
    wide = min(QFontMetrics(font).horizontalAdvance(visible(label)), GAP_X - 8)
    ground = QRectF(place.x() - wide / 2 - 2, place.y() - theme.px(8), wide + 4, theme.px(14))
    painter.fillRect(ground, theme.color("pane"))
    _paint_line(painter, font, "accent", ground.adjusted(2, 0, 0, 0).toRect(), label)


def _left(card: QRectF) -> QPointF:
    return QPointF(card.left(), card.center().y())


def _right(card: QRectF) -> QPointF:
    return QPointF(card.right(), card.center().y())


def _curve(begin: QPointF, end: QPointF) -> QPainterPath:
    path, middle = QPainterPath(begin), (begin.x() + end.x()) / 2
    path.cubicTo(QPointF(middle, begin.y()), QPointF(middle, end.y()), end)
    return path
