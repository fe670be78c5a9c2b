"""A row of buttons that wraps, so that many buttons do not widen the window."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

_GAP = 6


class ButtonFlow(QWidget):
    """A widget whose buttons wrap at its width. Its height follows the number of lines."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._buttons: list[QPushButton] = []
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def set_buttons(self, buttons: Sequence[QPushButton]) -> None:
        """Replace the buttons; the widget is hidden if there are none."""
        self._buttons = list(buttons)
        for button in self._buttons:
            button.setParent(self)
            button.show()
        self.setVisible(bool(self._buttons))
        self._place(self.width())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap the buttons at the new width."""
        super().resizeEvent(event)
        self._place(event.size().width())

    def minimumSizeHint(self) -> QSize:
        """Return the width of the widest button."""
        return QSize(max((button.sizeHint().width() for button in self._buttons), default=0), self.height())

    def sizeHint(self) -> QSize:
        """Return the minimum size; the layout may give it more width."""
        return self.minimumSizeHint()

    def _place(self, width: int) -> None:
        x = y = line = 0
        for button in self._buttons:
            button.ensurePolished()
            size = button.sizeHint().expandedTo(button.minimumSize())
            if x and x + size.width() > width:
                x, y, line = 0, y + line + _GAP, 0
            button.setGeometry(x, y, size.width(), size.height())
            x, line = x + size.width() + _GAP, max(line, size.height())
        self.setFixedHeight(y + line)
