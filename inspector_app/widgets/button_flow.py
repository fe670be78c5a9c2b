"""Buttons side by side, in as many lines as the width makes necessary: many of them must not make the window wider."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

_GAP = 6


class ButtonFlow(QWidget):
    """Takes the width there is; as high as its lines."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._buttons: list[QPushButton] = []
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def set_buttons(self, buttons: Sequence[QPushButton]) -> None:
        """Show these buttons."""
        self._buttons = list(buttons)
        for button in self._buttons:
            button.setParent(self)
            button.show()
        self.setVisible(bool(self._buttons))
        self._place(self.width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Break the lines anew."""
        super().resizeEvent(event)
        self._place(event.size().width())

    def minimumSizeHint(self) -> QSize:
        """Return the width of the widest button."""
        return QSize(max((button.sizeHint().width() for button in self._buttons), default=0), self.height())

    def sizeHint(self) -> QSize:
        """Return the same: it takes more where there is more."""
        return self.minimumSizeHint()

    def _place(self, width: int) -> None:
        x = y = line = 0
        for button in self._buttons:
            button.ensurePolished()
            size = button.sizeHint()
            if x and x + size.width() > width:
                x, y, line = 0, y + line + _GAP, 0
            button.setGeometry(x, y, size.width(), size.height())
            x, line = x + size.width() + _GAP, max(line, size.height())
        self.setFixedHeight(y + line)
