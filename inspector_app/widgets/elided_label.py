"""A label that gives way: what does not fit is cut with `…`, and the whole is in its tooltip."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSizePolicy, QStyleOption

from inspector_app.presentation.values import plain_tooltip


class ElidedLabel(QLabel):
    """One line of plain text that never asks its pane to be wider.

    Args:
        where: it is cut: of a path, the end is what tells it apart.
    """

    def __init__(self, where: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        super().__init__()
        self._where = where
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def setText(self, text: str) -> None:
        """Show another text."""
        super().setText(text)
        self.setToolTip(plain_tooltip(text))

    def minimumSizeHint(self) -> QSize:
        """Return no width at all."""
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint as much of the text as there is room for."""
        with QPainter(self) as painter:
            option = QStyleOption()
            option.initFrom(self)
            cut = self.fontMetrics().elidedText(self.text(), self._where, self.width())
            flags = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
            self.style().drawItemText(painter, self.rect(), flags, option.palette, self.isEnabled(), cut, self.foregroundRole())
