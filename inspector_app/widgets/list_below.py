"""Arrow keys in a search field that move the selection in the list below it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QApplication, QLineEdit

_KEYS = (Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp)


class ListBelow(QObject):
    """An event filter that passes Up, Down, Page Up and Page Down from a line edit to a view.

    Args:
        field: the field with the keyboard focus.
        view: the view that receives the keys.
    """

    def __init__(self, field: QLineEdit, view: QAbstractItemView) -> None:
        super().__init__(field)
        self._view = view
        field.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Send these keys to the view."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in _KEYS:
            QApplication.sendEvent(self._view, event)
            return True
        return False
