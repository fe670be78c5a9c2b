"""Paints the rows of the session tree: icon, name and details."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from inspector_app.sessions.session_node import TreeNode
from inspector_app.sessions.session_tree import SessionTreeModel
from inspector_app.widgets import theme

ROW_HEIGHT = 22  # pixels at a scale of 100 %
_ICON = 13
_GAP = 8
_LEAST_NAME = 60  # pixels left for a name beside its details


class SessionDelegate(QStyledItemDelegate):
    """A delegate that paints one row of a `SessionTreeModel`."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        theme.current().changed.connect(self._take_fonts)
        self._take_fonts()

    def _take_fonts(self) -> None:
        self._font = QFont(QApplication.font())
        self._small = theme.small_font()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Return the fixed height and a small width: names are elided to the available width."""
        return QSize(40, theme.row_px(ROW_HEIGHT))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Paint a row."""
        model = index.model()
        assert isinstance(model, SessionTreeModel)
        node = model.node(index)
        rect = option.rect
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.color("selected"))
        ratio = painter.device().devicePixelRatio()
        icon = theme.px(_ICON)
        drawn = theme.pixmap(node.icon, node.role, icon, ratio)
        painter.drawPixmap(QPoint(rect.left() + 3, rect.center().y() - icon // 2 + 1), drawn)
        inner = rect.adjusted(icon + 9, 0, -6, 0)
        small, normal = QFontMetrics(self._small), QFontMetrics(self._font)
        room = inner.width() - _GAP
        aside = self._aside(node, model.size_of(node), room)
        side = Qt.TextElideMode.ElideRight if _is_called_by_change(node) else Qt.TextElideMode.ElideMiddle
        name = normal.elidedText(node.name, side, room - small.horizontalAdvance(aside) if aside else inner.width())
        painter.setFont(self._font)
        self._text(painter, inner, name, "dim" if node.kind in ("app", "user") else "text", model.words)
        painter.setFont(self._small)
        inner.setLeft(inner.left() + normal.horizontalAdvance(name) + _GAP)
        self._text(painter, inner, aside, "dim", model.words if _is_called_by_change(node) else ())
        painter.restore()

    def _aside(self, node: TreeNode, takes_up: str, room: int) -> str:
        """Return the details that fit beside the name, in whole pieces; the tooltip has all of them."""
        small, wanted = QFontMetrics(self._small), QFontMetrics(self._font).horizontalAdvance(node.name)
        if node.kind == "database":
            parts = node.detail.split(" · ")
            choice = [parts[:number] for number in range(len(parts), 0, -1)]
        else:
            last = node.aside if _is_called_by_change(node) else node.detail
            choice = [[node.aside, takes_up, node.detail], [node.aside, node.detail], [last]]
        texts = [" · ".join(filter(None, parts)) for parts in choice]
        fitting = next((text for text in texts if wanted + small.horizontalAdvance(text) <= room), "")
        if fitting or node.kind in ("database", "page"):  # a page's detail must not be cut
            return fitting
        if _is_called_by_change(node):
            return small.elidedText(texts[-1], Qt.TextElideMode.ElideRight, room - min(wanted, _LEAST_NAME))
        return texts[-1] if room - small.horizontalAdvance(texts[-1]) >= _LEAST_NAME else ""

    @staticmethod
    def _text(painter: QPainter, rect: QRect, text: str, role: str, words: Sequence[str]) -> None:
        """Paint a text and underline the filter's words in it."""
        painter.setPen(theme.color(role))
        painter.drawText(rect, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), text)
        metrics, folded = painter.fontMetrics(), text.casefold()
        for word in words:
            if (start := folded.find(word)) >= 0:
                left = rect.left() + metrics.horizontalAdvance(text[:start])
                width = metrics.horizontalAdvance(text[start : start + len(word)])
                painter.fillRect(left, rect.bottom() - 3, width, 2, theme.color("accent"))


def _is_called_by_change(node: TreeNode) -> bool:
    """Return whether a node is a fork displayed below its parent, where the change is its name."""
    return node.parent is not None and node.parent.kind == "session"
