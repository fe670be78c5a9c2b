"""A bar that shows what fills a request, part by part, with a legend in words."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from inspector_app.detail.view_data import PromptPart
from inspector_app.presentation.values import plain_tooltip
from inspector_app.widgets import theme

_BAR = 12
_MARGIN = 10
_GAP = 5
_SWATCH = 9
_LEAST = 2.0  # width of a part that takes next to nothing, so that it is seen


class ContextBar(QWidget):
    """Painted segments above entries of colour and words; hidden if there are no parts.

    Attributes:
        parts: what is displayed.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("context_bar")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.parts: Sequence[PromptPart] = ()
        self._whole = ""
        theme.current().changed.connect(self.update)
        self.hide()

    def set_parts(self, parts: Sequence[PromptPart], whole: str = "") -> None:
        """Show the parts of a request.

        Args:
            parts: in the order of the bar.
            whole: the whole request in words, above the bar.
        """
        self.parts, self._whole = parts, whole
        self.setAccessibleName("What fills the request. " + "; ".join([whole, *(part.text for part in parts)]).strip("; "))
        self.setVisible(bool(parts))
        self.updateGeometry()
        self._fit()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size for the current width."""
        return QSize(200, self._height_for(max(self.width(), 120)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Give the legend the lines that it needs at this width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(self._height_for(max(self.width(), 120)))

    def _height_for(self, width: int) -> int:
        places = self._places(width)
        return places[-1].bottom() + _GAP + 1 if places else self._bar(width).bottom() + _GAP

    def _bar(self, width: int) -> QRect:
        top = _GAP + (QFontMetrics(theme.small_font()).height() + 3 if self._whole else 0)
        return QRect(_MARGIN, top, width - 2 * _MARGIN, _BAR)

    def _places(self, width: int) -> list[QRect]:
        """Return the place of each entry of the legend, wrapped at the width."""
        metrics = QFontMetrics(theme.small_font())
        left, top = _MARGIN, self._bar(width).bottom() + _GAP + 1
        places: list[QRect] = []
        for part in self.parts:
            wide = min(_SWATCH + 5 + metrics.horizontalAdvance(part.text), width - 2 * _MARGIN)
            if left > _MARGIN and left + wide > width - _MARGIN:
                left, top = _MARGIN, top + metrics.height() + 2
            places.append(QRect(left, top, wide, metrics.height()))
            left += wide + 14
        return places

    def segments(self) -> list[QRectF]:
        """Return the place of each part in the bar."""
        bar = QRectF(self._bar(self.width()))
        least = min(_LEAST, bar.width() / max(len(self.parts), 1))
        free = bar.width() - least * len(self.parts)
        left, found = bar.left(), []
        for part in self.parts:
            wide = least + free * part.share
            found.append(QRectF(left, bar.top(), wide, bar.height()))
            left += wide
        return found

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the words, the segments and the legend."""
        with QPainter(self) as painter:
            painter.setFont(theme.small_font())
            painter.setPen(theme.color("dim"))
            bar = self._bar(self.width())
            line = QRect(bar.left(), _GAP - 1, bar.width(), bar.top() - _GAP)
            _draw(painter, line, self._whole)
            for part, segment in zip(self.parts, self.segments(), strict=True):
                painter.fillRect(segment.adjusted(0, 0, -1, 0), theme.color(part.role))
            for part, place in zip(self.parts, self._places(self.width()), strict=True):
                self._paint_entry(painter, part, place)

    def _paint_entry(self, painter: QPainter, part: PromptPart, place: QRect) -> None:
        middle = place.center().y()
        painter.fillRect(QRectF(QPointF(place.left(), middle - _SWATCH / 2 + 1), QSize(_SWATCH, _SWATCH).toSizeF()), theme.color(part.role))
        painter.setPen(theme.color("text"))
        text = place.adjusted(_SWATCH + 5, 0, 0, 0)
        _draw(painter, text, part.text)

    def event(self, event: QEvent) -> bool:
        """Show what is under the mouse as a tooltip."""
        if isinstance(event, QHelpEvent):
            place = QPointF(event.pos())
            for part, segment in zip(self.parts, self.segments(), strict=True):
                if segment.contains(place):
                    QToolTip.showText(event.globalPos(), plain_tooltip(part.text), self)
                    return True
        return super().event(event)


def _draw(painter: QPainter, place: QRect, text: str) -> None:
    shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, place.width() + 2)
    painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, shown)
