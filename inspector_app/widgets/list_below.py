"""Moves through a list while the keyboard is in the field above it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLineEdit

_KEYS = (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp)


class ListBelow(QObject):
    """Gives up and down, which mean nothing in a field of one line, to a list.

    Args:
        field: where is typed what is looked for.
        view: what was found.
    """

    def __init__(self, field: QLineEdit, view: QAbstractItemView) -> None:
        super().__init__(field)
        self._view = view
        field.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the list take these keys."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in _KEYS:
            QApplication.sendEvent(self._view, event)
            return True
        return False
