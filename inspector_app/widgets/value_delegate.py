"""The delegate of value trees: keys in sans, values in monospace, changes on a coloured background, scopes with a dot."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPointF, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from inspector_app.widgets import theme
from inspector_app.widgets.value_tree import ValueNode, ValueTreeModel

ROW_HEIGHT = 22  # pixels at a scale of 100 %
MARGIN = 6  # pixels beside a text
_LANE_ROOM = 80
_GROUNDS = {"added": "added", "changed": "added", "cleared": "removed"}

Index = QModelIndex | QPersistentModelIndex


class ValueDelegate(QStyledItemDelegate):
    """A delegate for a `ValueTreeModel`."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        theme.current().changed.connect(self._take_fonts)
        self._take_fonts()

    def _take_fonts(self) -> None:
        self._font = QFont(QApplication.font())
        self._bold = QFont(self._font)
        self._bold.setBold(True)
        self._mono = theme.mono_font()
        self._small = theme.small_font()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Return the width of the text, up to a limit, and a fixed height."""
        is_writer = index.column() == 2 and isinstance(index.model(), ValueTreeModel)
        font = self._small if is_writer else self._mono if index.column() else self._font
        text = str(index.data() or "")
        return QSize(min(QFontMetrics(font).horizontalAdvance(text), 600) + 2 * MARGIN + 2, theme.row_px(ROW_HEIGHT))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Paint a cell."""
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.setClipRect(option.rect)
        if selected:
            painter.fillRect(option.rect, theme.color("selected"))
        self.paint_content(painter, option.rect, index, selected)
        painter.restore()

    def paint_content(self, painter: QPainter, rect: QRect, index: Index, selected: bool) -> None:
        """Paint a cell's text and marks over its background; subclasses for other models override this."""
        model = index.model()
        if isinstance(model, ValueTreeModel):
            self._paint_node(painter, rect, model.node(index), index.column(), selected)

    def _paint_node(self, painter: QPainter, rect: QRect, node: ValueNode, column: int, selected: bool) -> None:
        if node.lane:
            self._paint_lane(painter, rect, node, column)
            return
        if node.mark in _GROUNDS and not selected:
            painter.fillRect(rect, theme.color(_GROUNDS[node.mark]))
        if column == 2:
            self._text(painter, rect, node.writer, "dim", self._small)
            return
        text = node.shown_key if column == 0 else node.text
        quiet = column == 1 and node.mark in ("unknown", "null")
        role = "accent" if node.left else "dim" if quiet else "text"
        if column == 0:
            self._text(painter, rect, text, role, self._font, Qt.TextElideMode.ElideMiddle)
        else:
            self._text(painter, rect, text, role, self._font if quiet else self._mono)

    def _paint_lane(self, painter: QPainter, rect: QRect, node: ValueNode, column: int) -> None:
        if column != 0:
            return
        painter.setClipping(False)  # its other cells are empty
        rect = rect.adjusted(0, 0, _LANE_ROOM, 0)
        self._dot(painter, rect, node.lane)
        label = rect.adjusted(18, 0, 0, 0)
        self._text(painter, label, node.key, "text", self._bold)
        used = QFontMetrics(self._bold).horizontalAdvance(node.key) + 10
        self._text(painter, label.adjusted(used, 0, 0, 0), node.text, "dim", self._font)

    def _dot(self, painter: QPainter, rect: QRect, scope: str) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color(scope_role(scope)))
        painter.drawEllipse(QPointF(rect.left() + 11, rect.center().y() + 0.5), 4.5, 4.5)

    def _text(
        self,
        painter: QPainter,
        rect: QRect,
        text: str,
        role: str,
        font: QFont,
        side: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        inner = rect.adjusted(MARGIN, 0, -MARGIN, 0)
        painter.setFont(font)
        painter.setPen(theme.color(role))
        cut = QFontMetrics(font).elidedText(text, side, inner.width())
        painter.drawText(inner, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), cut)


def scope_role(scope: str) -> str:
    """Return the colour role of a scope; unknown scopes, such as uncommitted values, use `warn`."""
    return {"session": "accent", "user": "author0", "app": "author2", "temp": "author3", "pinned": "author1", "files": "author1"}.get(
        scope, "warn"
    )
