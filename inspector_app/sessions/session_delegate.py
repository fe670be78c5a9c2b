"""Paints the rows of the session tree: headings on one line, sessions on two."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from inspector_app.sessions.session_node import TreeNode
from inspector_app.sessions.session_tree import SessionTreeModel
from inspector_app.widgets import theme

ROW_HEIGHT, SESSION_HEIGHT = 22, 42  # pixels of a heading and of a session at a scale of 100 %
_ICON, _SIGN = 13, 11
_GAP = 8
_BAR = 3  # width of the mark of the selected row
_SILENT = ("finished", "")  # states without a sign


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
        """Return the height of a row and a small width: names are elided to the available width."""
        is_session = index.internalPointer().kind == "session"
        return QSize(40, theme.row_px(SESSION_HEIGHT if is_session else ROW_HEIGHT))

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Put the editor of a title over the whole row."""
        editor.setGeometry(option.rect)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Paint a row."""
        model = index.model()
        assert isinstance(model, SessionTreeModel)
        node, rect = model.node(index), option.rect
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.color("selected"))
            painter.fillRect(QRect(rect.left(), rect.top(), _BAR, rect.height()), theme.color("accent"))
        inner = rect.adjusted(_BAR + 4, 0, -6, 0)
        if node.kind == "session":
            self._paint_session(painter, inner, node, model.words)
        else:
            self._paint_heading(painter, inner, node, model.words)
        painter.restore()

    def _paint_session(self, painter: QPainter, rect: QRect, node: TreeNode, words: Sequence[str]) -> None:
        half = rect.height() // 2
        upper, lower = rect.adjusted(0, 3, 0, -half), rect.adjusted(0, half, 0, -3)
        painter.setFont(self._font)
        title = QFontMetrics(self._font).elidedText(node.name, Qt.TextElideMode.ElideRight, upper.width())
        self._text(painter, upper, title, "text", words)
        painter.setFont(self._small)
        state, *others = node.pieces
        if state not in _SILENT:
            self._icon(painter, lower, node, _SIGN)
            lower.setLeft(lower.left() + theme.px(_SIGN) + 4)
        metrics = QFontMetrics(self._small)
        shown = metrics.elidedText(state, Qt.TextElideMode.ElideRight, lower.width())
        self._text(painter, lower, shown, node.role if state not in _SILENT else "dim", ())
        lower.setLeft(lower.left() + metrics.horizontalAdvance(shown))
        self._text(painter, lower, self._fitting(state, others, lower.width()), "dim", words)

    def _fitting(self, state: str, others: Sequence[str], room: int) -> str:
        """Return the pieces that fit, in whole: the age first, then the change of a fork, the number of events and the cost."""
        change, events, cost, age = others
        choices = [(change, events, cost, age), (change, events, age), (change, age), (events, age), (age,)]
        texts = ["".join((" · " if state or number else "") + part for number, part in enumerate(filter(None, parts))) for parts in choices]
        return next((text for text in texts if QFontMetrics(self._small).horizontalAdvance(text) <= room), "")

    def _paint_heading(self, painter: QPainter, rect: QRect, node: TreeNode, words: Sequence[str]) -> None:
        self._icon(painter, rect, node, _ICON)
        inner = rect.adjusted(theme.px(_ICON) + 6, 0, 0, 0)
        small, normal = QFontMetrics(self._small), QFontMetrics(self._font)
        parts = node.detail.split(" · ")
        texts = [" · ".join(parts[:number]) for number in range(len(parts), 0, -1)]
        room, wanted = inner.width() - _GAP, normal.horizontalAdvance(node.name)
        beside = next((text for text in texts if wanted + small.horizontalAdvance(text) <= room), "")
        name = normal.elidedText(node.name, Qt.TextElideMode.ElideMiddle, inner.width())
        painter.setFont(self._font)
        self._text(painter, inner, name, "dim" if node.kind in ("app", "user") else "text", words)
        painter.setFont(self._small)
        inner.setLeft(inner.left() + normal.horizontalAdvance(name) + _GAP)
        self._text(painter, inner, beside, "dim", ())

    @staticmethod
    def _icon(painter: QPainter, rect: QRect, node: TreeNode, pixels: int) -> None:
        icon = theme.px(pixels)
        drawn = theme.pixmap(node.icon, node.role, icon, painter.device().devicePixelRatio())
        painter.drawPixmap(QPoint(rect.left(), rect.center().y() - icon // 2 + 1), drawn)

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
