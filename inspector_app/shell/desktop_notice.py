"""A notification of the desktop."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget


class DesktopNotice(QObject):
    """Shows notifications while its window is in the background; a click on one activates the window.

    Where the desktop has no notifications, the window's entry in the task bar asks for attention.

    Args:
        window: the window that the notifications are about.
    """

    def __init__(self, window: QWidget, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._window = window
        self._tray: QSystemTrayIcon | None = None
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusWindowChanged.connect(self._on_focus_changed)

    def show_text(self, title: str, text: str) -> None:
        """Show a notification."""
        QApplication.alert(self._window)
        if not (QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()):
            return
        if self._tray is None:
            self._tray = QSystemTrayIcon(self._window.windowIcon(), self)
            self._tray.setToolTip(self._window.windowTitle())
            self._tray.messageClicked.connect(self._window.raise_)
            self._tray.messageClicked.connect(self._window.activateWindow)
        self._tray.show()
        self._tray.showMessage(title, text, self._window.windowIcon())

    def _on_focus_changed(self) -> None:
        if self._tray is not None and self._window.isActiveWindow():
            self._tray.hide()
