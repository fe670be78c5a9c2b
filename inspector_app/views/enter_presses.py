"""Enter presses the button that has the keyboard, as Space does; Qt does so only in dialogs."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QPushButton, QToolButton, QWidget


class EnterPresses(QObject):
    """The rule for all buttons, whenever they are made: it goes along with the keyboard, and watches only what has it.

    A filter of the whole application would be asked about each of its events.

    Args:
        parent: as long as this lives.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._on_focus_changed)

    def _on_focus_changed(self, old: QWidget | None, now: QWidget | None) -> None:
        if old is not None:
            old.removeEventFilter(self)
        if isinstance(now, QPushButton | QToolButton):
            now.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Press the button."""
        if isinstance(watched, QPushButton | QToolButton) and isinstance(event, QKeyEvent) and _is_enter(event):
            watched.click()
            return True
        return False


def _is_enter(event: QKeyEvent) -> bool:
    bare = event.modifiers() in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier)
    enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and bare and not event.isAutoRepeat()
    return enter and event.type() == QEvent.Type.KeyPress
