"""The delegate of delta tables."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QWidget

from inspector_app.presentation.value_differences import MarkedText
from inspector_app.state.delta import DIFFERENCE_ROLE, DeltaModel, ground
from inspector_app.widgets import theme
from inspector_app.widgets.value_delegate import MARGIN, Index, ValueDelegate


class DeltaDelegate(ValueDelegate):
    """A delegate for a `DeltaModel`: values on the background of their kind of change, differing parts bold."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._different = QFont(self._mono)
        self._different.setBold(True)
        self._different.setUnderline(True)

    def paint_content(self, painter: QPainter, rect: QRect, index: Index, selected: bool) -> None:
        """Paint a change: the scope's dot and key, or a value on the background of its kind of change."""
        model = index.model()
        if not isinstance(model, DeltaModel):
            return
        row = model.row(index.row())
        text = str(index.data() or "")
        if row.offers_all:
            self._text(painter, rect.adjusted(18, 0, 0, 0) if index.column() == 0 else rect, text, "accent", self._font)
            return
        if index.column() == 0:
            if row.place is not None:
                self._text(painter, rect.adjusted(30, 0, 0, 0), text, "dim", self._font, Qt.TextElideMode.ElideMiddle)
                return
            self._dot(painter, rect, row.change.scope)
            self._text(painter, rect.adjusted(18, 0, 0, 0), text, "text", self._font, Qt.TextElideMode.ElideMiddle)
            return
        colour = ground(row, index.column())
        if colour and not selected:
            painter.fillRect(rect, theme.color(colour))
        part = index.data(DIFFERENCE_ROLE)
        if part is not None:
            self._marked(painter, rect, part)
        else:
            self._text(painter, rect, text, "text" if colour else "dim", self._mono)

    def _marked(self, painter: QPainter, rect: QRect, part: MarkedText) -> None:
        """Paint a text with the part that differs in bold and underlined."""
        x = rect.left() + MARGIN
        pieces = ((part.text[: part.start], False), (part.text[part.start : part.end], True), (part.text[part.end :], False))
        painter.setPen(theme.color("text"))
        for text, different in pieces:
            font = self._different if different else self._mono
            painter.setFont(font)
            room = QRect(x, rect.top(), rect.right() - MARGIN - x, rect.height())
            cut = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), cut)
            if cut != text:
                break
            x += QFontMetrics(font).horizontalAdvance(text)
