"""A label that wraps into a few lines and elides what does not fit; the tooltip holds the whole text."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QTextLayout
from PySide6.QtWidgets import QLabel, QSizePolicy, QStyleOption, QWidget

from inspector_app.widgets.tooltips import set_tooltip


class LinesLabel(QLabel):
    """Plain text that never widens its pane.

    Args:
        text: the text.
        name: object name.
    """

    def __init__(self, text: str, name: str, parent: QWidget) -> None:
        super().__init__(text, parent)
        self._most = 1
        self.setObjectName(name)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        set_tooltip(self, text)

    def set_lines(self, most: int) -> None:
        """Set the largest number of lines; the label is as high as those that its width needs."""
        self._most = most
        self.setFixedHeight(self.fontMetrics().lineSpacing() * len(self._lines()) + 2)  # some fonts draw below their line

    def minimumSizeHint(self) -> QSize:
        """Return a width of zero."""
        return QSize(0, self.fontMetrics().lineSpacing())

    def _lines(self) -> list[str]:
        """Return the lines at the current width, the last one elided."""
        metrics, text = self.fontMetrics(), self.text()
        lines: list[str] = []
        layout = QTextLayout(text, self.font())
        layout.beginLayout()
        start = 0
        while start < len(text) and len(lines) < self._most - 1:
            line = layout.createLine()
            line.setLineWidth(max(self.width(), 1))
            lines.append(text[start : start + line.textLength()].rstrip())
            start += line.textLength()
        layout.endLayout()
        rest = text[start:]
        return [*lines, metrics.elidedText(rest, Qt.TextElideMode.ElideRight, self.width())] if rest or not lines else lines

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the lines."""
        with QPainter(self) as painter:
            option = QStyleOption()
            option.initFrom(self)
            flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
            shown = "\n".join(self._lines())
            self.style().drawItemText(painter, self.rect(), flags, option.palette, self.isEnabled(), shown, self.foregroundRole())
