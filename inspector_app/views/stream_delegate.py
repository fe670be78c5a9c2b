"""Paints the rows of the event stream."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTableView

from inspector_app import theme
from inspector_app.hits import Hits
from inspector_app.qt_models.event_cells import Column
from inspector_app.qt_models.event_list import EventListModel
from inspector_app.qt_models.event_rows import StreamRow

ROW_HEIGHT = 27
ICON_SIZE = 14
_MARGIN = 6
_GAP = 14
_LANE = 8


# Put together once: Qt's enums are slow, and this is done for every cell.
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)


class StreamDelegate(QStyledItemDelegate):
    """Paints one cell; a header is painted across its row, each cell its own piece of it.

    Attributes:
        hits: events whose rows are marked; None: none are.
    """

    def __init__(self, view: QTableView) -> None:
        super().__init__(view)
        self.hits: Hits | None = None
        self._view = view
        self._font = QFont(QApplication.font())
        italic, underlined = QFont(self._font), QFont(self._font)
        italic.setItalic(True)
        underlined.setUnderline(True)
        self._author_fonts = (self._font, italic, underlined)
        self._metrics = QFontMetrics(self._font)
        self._small = theme.small_font()
        self._small_metrics = QFontMetrics(self._small)
        self._widest = self._metrics.maxWidth()

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        """Return the fixed height; widths are the view's business."""
        return QSize(10, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> None:
        """Paint a cell."""
        model = index.model()
        assert isinstance(model, EventListModel)
        row = model.stream_row(index.row())
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        rect = option.rect
        painter.save()
        if selected:
            painter.fillRect(rect, theme.color("selected"))
        elif row.kind == "invocation":
            painter.fillRect(rect, theme.color("raised"))
        if row.kind == "invocation":
            self._paint_header(painter, rect, row)
        else:
            if self.hits is not None and index.column() == Column.GUTTER and model.index_at(index.row()) in self.hits:
                painter.fillRect(QRect(rect.left(), rect.top() + 2, 3, rect.height() - 4), theme.color("accent"))
            self._paint_cell(painter, rect, row, index.column(), selected)
        painter.restore()

    def _paint_header(self, painter: QPainter, rect: QRect, row: StreamRow) -> None:
        painter.setClipRect(rect)
        left = -self._view.horizontalHeader().offset()
        painter.setPen(theme.color("line"))
        painter.drawLine(rect.left(), rect.bottom(), rect.right(), rect.bottom())
        self._icon(painter, QPoint(left + 12, rect.center().y() + 1), "chevron-right" if row.folded else "chevron-down", "dim", 9)
        painter.setFont(self._small)
        x = left + 24
        for text, role in ((row.summary, "dim"), (row.event_kind, row.role), (row.tokens, "dim")):
            if x > rect.right():
                break
            if text:
                width = self._small_metrics.horizontalAdvance(text)
                if x + width >= rect.left():  # else it stands in the cells before
                    painter.setPen(theme.color(role))
                    painter.drawText(QRect(x, rect.top(), 4000, rect.height()), _LEFT, text)
                x += width + _GAP

    def _paint_cell(self, painter: QPainter, rect: QRect, row: StreamRow, column: int, selected: bool) -> None:
        if column == Column.GUTTER:
            if row.held:
                self._icon(painter, rect.center(), "circle-arrow-right", "warn", ICON_SIZE)
            elif row.breakpoint:
                self._icon(painter, rect.center(), "circle", "bad" if row.breakpoint == "on" else "line", ICON_SIZE - 2)
        elif column == Column.NUMBER:
            self._text(painter, rect, row.number, "text" if selected or row.held else "dim", self._small, right=True)
        elif column == Column.TIME:
            self._text(painter, rect, row.time, "text" if selected or row.held else "dim", self._small)
        elif column == Column.AUTHOR:
            self._text(painter, rect, row.author, row.author_role, self._author_fonts[min(row.author_sign, 2)])
        elif column == Column.DELTA:
            self._text(painter, rect, row.delta, "accent", self._font)
        elif column == Column.TOKENS:
            self._text(painter, rect, row.tokens, "dim", self._small, right=True)
        elif row.kind == "inner":
            rect = self._lanes(painter, rect, row)
            self._icon(
                painter, QPoint(rect.left() + 13, rect.center().y() + 1), "chevron-right" if row.folded else "chevron-down", "dim", 9
            )
            self._text(painter, rect.adjusted(20, 0, 0, 0), row.summary, row.role, self._small)
        else:
            rect = self._lanes(painter, rect, row)
            loud = row.role in ("bad", "warn")
            self._icon(painter, QPoint(rect.left() + 13, rect.center().y() + 1), row.icon, row.role if loud else row.author_role, ICON_SIZE)
            if row.edited:
                self._icon(painter, QPoint(rect.right() - 12, rect.center().y() + 1), "pen", "warn", ICON_SIZE - 2)
                width = self._small_metrics.horizontalAdvance("edited") + 2 * _MARGIN
                self._text(painter, QRect(rect.right() - 22 - width, rect.top(), width, rect.height()), "edited", "warn", self._small)
                rect = rect.adjusted(0, 0, -24 - width, 0)
            self._text(painter, rect.adjusted(20, 0, 0, 0), row.summary, row.role, self._font)

    def _lanes(self, painter: QPainter, rect: QRect, row: StreamRow) -> QRect:
        """Draw a line for each level of the agent's branch, and return what is left."""
        for lane in range(row.lanes):
            colour = theme.color(row.author_role if lane == row.lanes - 1 else "line")
            painter.fillRect(QRect(rect.left() + 3 + lane * _LANE, rect.top(), 2, rect.height()), colour)
        return rect.adjusted(row.lanes * _LANE, 0, 0, 0)

    def _text(self, painter: QPainter, rect: QRect, text: str, role: str, font: QFont, *, right: bool = False) -> None:
        if not text:
            return
        inner = rect.adjusted(_MARGIN, 0, -_MARGIN, 0)
        painter.setFont(font)
        painter.setPen(theme.color(role))
        if font is not self._small and len(text) * self._widest > inner.width():  # what stands in the narrow columns always fits
            text = self._metrics.elidedText(text, Qt.TextElideMode.ElideRight, inner.width())
        painter.drawText(inner, _RIGHT if right else _LEFT, text)

    def _icon(self, painter: QPainter, centre: QPoint, name: str, role: str, size: int) -> None:
        drawn = theme.pixmap(name, role, size, self._view.devicePixelRatioF())
        painter.drawPixmap(QPoint(centre.x() - size // 2, centre.y() - size // 2), drawn)
