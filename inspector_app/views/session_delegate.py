"""Paints the tree of databases and sessions: icon, name, and what is secondary beside it."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from inspector_app import theme
from inspector_app.qt_models.session_tree import SessionTreeModel

ROW_HEIGHT = 22
_ICON = 13
_LEAST_NAME = 60
"""Pixels that a name has beside what is secondary."""


class SessionDelegate(QStyledItemDelegate):
    """Paints one row of a `SessionTreeModel`."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._font = QFont(QApplication.font())
        self._small = theme.small_font()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Return the fixed height; the name is cut to whatever width there is."""
        return QSize(40, ROW_HEIGHT)

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
        drawn = theme.pixmap(node.icon, node.role, _ICON, ratio)
        painter.drawPixmap(QPoint(rect.left() + 3, rect.center().y() - _ICON // 2 + 1), drawn)
        inner = rect.adjusted(22, 0, -6, 0)
        small, normal = QFontMetrics(self._small), QFontMetrics(self._font)
        # A fork is called by what was changed, and that begins it; a page by its numbers, of which none may be missing.
        is_fork = node.parent is not None and node.parent.kind == "session"
        name_first = is_fork or node.kind in ("page", "database")
        takes_up = model.size_of(node)
        # In a narrow pane the name comes first; the tooltip tells all.
        room, wanted = inner.width() - 10, normal.horizontalAdvance(node.name)
        detail = small.elidedText(node.detail, Qt.TextElideMode.ElideRight, max(inner.width() // 2, room - wanted))
        if takes_up and wanted <= room - small.horizontalAdvance(both := f"{takes_up} · {detail}"):
            detail = both
        elif wanted > (room := room - small.horizontalAdvance(detail)) and (name_first or room < _LEAST_NAME):
            detail = ""
        width = small.horizontalAdvance(detail)
        side = Qt.TextElideMode.ElideMiddle if node.kind == "session" and not is_fork else Qt.TextElideMode.ElideRight
        name = normal.elidedText(node.name, side, inner.width() - width - (10 if detail else 0))
        painter.setFont(self._font)
        painter.setPen(theme.color("dim" if node.kind in ("app", "user") else "text"))
        painter.drawText(inner, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), name)
        painter.setFont(self._small)
        painter.setPen(theme.color("dim"))
        after = QRect(inner.left() + normal.horizontalAdvance(name) + 10, inner.top(), width + 4, inner.height())
        painter.drawText(after, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), detail)
        painter.restore()
