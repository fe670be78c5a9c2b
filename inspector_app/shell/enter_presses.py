"""Pressing the focused button with Enter, as with Space; Qt does so only in dialogs."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget


class EnterPresses(QObject):
    """Presses the focused button of a window when Enter is pressed without modifiers.

    Args:
        window: the window, which receives the keys that its widgets ignore; buttons ignore Enter.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        window.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        """Press the button, or leave the event to the window."""
        if event.type() != QEvent.Type.KeyPress:
            return False
        key, focused = cast(QKeyEvent, event), self._window.focusWidget()
        bare = key.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
        enter = key.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and bare and not key.isAutoRepeat()
        if not enter or not isinstance(focused, QPushButton | QToolButton):
            return False
        focused.click()
        return True
