"""The delegate of delta tables."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QWidget

from inspector_app.presentation.value_differences import MarkedText
from inspector_app.state.delta import DIFFERENCE_ROLE, DeltaModel, ground
from inspector_app.widgets import theme
from inspector_app.widgets.value_delegate import MARGIN, Index, ValueDelegate

DOTS = "…"


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
        x, right = rect.left() + MARGIN, rect.right() - MARGIN
        painter.setPen(theme.color("text"))
        for text, font in fitted(part, self._mono, self._different, right - x):
            painter.setFont(font)
            place = QRect(x, rect.top(), right - x, rect.height())
            painter.drawText(place, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), text)
            x += QFontMetrics(font).horizontalAdvance(text)


def fitted(part: MarkedText, font: QFont, different: QFont, room: int) -> list[tuple[str, QFont]]:
    """Return the pieces of a marked text and their fonts; a text that is too wide ends with dots, if there is room for them.

    Args:
        part: the text, of which one part differs.
        font, different: the fonts of the common pieces, and of the one that differs.
        room: the width, in pixels.
    """
    pieces = [(part.text[: part.start], font), (part.text[part.start : part.end], different), (part.text[part.end :], font)]
    widths = [QFontMetrics(each).horizontalAdvance(text) for text, each in pieces]
    found: list[tuple[str, QFont]] = []
    for number, (text, each) in enumerate(pieces):
        metrics = QFontMetrics(each)
        # A piece that fits has the dots itself if it leaves no room for those of the next one.
        if sum(widths[number:]) > room and widths[number] + metrics.horizontalAdvance(DOTS) > room:
            return [*found, (metrics.elidedText(text + DOTS, Qt.TextElideMode.ElideRight, room), each)]
        found.append((text, each))
        room -= widths[number]
    return found
