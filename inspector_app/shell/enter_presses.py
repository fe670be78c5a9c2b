"""Pressing the focused button with Enter, as with Space; Qt does so only in dialogs."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget


def press_focused(window: QWidget, event: QKeyEvent) -> bool:
    """Press the focused button of a window if the key is Enter without modifiers.

    Args:
        window: the window, which receives the keys that its widgets ignore; buttons ignore Enter.
        event: the key event.

    Returns:
        Whether a button was pressed.
    """
    focused = window.focusWidget()
    bare = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
    enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and bare and not event.isAutoRepeat()
    if not enter or not isinstance(focused, QPushButton | QToolButton):
        return False
    focused.click()
    return True
