"""Enter presses the button that has the keyboard, as Space does; Qt does so only in dialogs."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget


def press_focused(window: QWidget, event: QKeyEvent) -> bool:
    """Press the button that has a window's keyboard, whenever it was made, if that is what a key means.

    Args:
        window: gets the keys that nothing in it took; a button takes no Enter.
        event: the key.

    Returns:
        Whether it was pressed.
    """
    focused = window.focusWidget()
    bare = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
    enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and bare and not event.isAutoRepeat()
    if not enter or not isinstance(focused, QPushButton | QToolButton):
        return False
    focused.click()
    return True
