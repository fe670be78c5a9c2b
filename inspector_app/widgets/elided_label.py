"""A label that elides its text with `…`; the tooltip holds the whole text."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QStyleOption

from inspector_app.widgets.tooltips import set_tooltip


class ElidedLabel(QLabel):
    """One line of plain text that never widens its pane.

    Args:
        where: the side that is elided; for a path, elide the left, because its end identifies it.
    """

    def __init__(self, where: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        super().__init__()
        self._where = where
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def setText(self, text: str) -> None:
        """Set the text and the tooltip."""
        super().setText(text)
        set_tooltip(self, text)

    def minimumSizeHint(self) -> QSize:
        """Return a width of zero."""
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the text, elided to the width."""
        with QPainter(self) as painter:
            option = QStyleOption()
            option.initFrom(self)
            cut = self.fontMetrics().elidedText(self.text(), self._where, self.width())
            flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
            self.style().drawItemText(painter, self.rect(), flags, option.palette, self.isEnabled(), cut, self.foregroundRole())
