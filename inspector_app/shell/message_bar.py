"""What the user must see now, under the tool bar: what went wrong stays until it is dismissed, what was done goes by itself."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from inspector_app.presentation.message import Message
from inspector_app.shell.focus_home import FocusLoan
from inspector_app.shell.message_row import MessageRow

MAX_SHOWN = 3
"""Of those that stay, and of those that go by themselves; older ones are in the log."""

PASSING_MS = 8_000
"""How long a message stays that needs no answer; longer while it has the mouse or the keyboard."""


class MessageBar(QWidget):
    """The newest messages, the newest at the bottom. They take their room from the page below: they hide nothing.

    Signals:
        reload_asked: the session shall be read again, which a message offered.
    """

    reload_asked = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("message_bar")
        self.setAccessibleName("Messages")
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(4)
        self._keyboard = FocusLoan()
        self.hide()

    @property
    def messages(self) -> list[Message]:
        """What is shown, oldest first."""
        return [row.message for row in self._shown()]

    def show_message(self, message: Message) -> None:
        """Show a message, unless it is for the log only or stands there already."""
        if message.quiet or any((row.message.severity, row.message.text) == (message.severity, message.text) for row in self._shown()):
            return
        row = MessageRow(message, self)
        row.dismissed.connect(self._drop)
        row.reload_asked.connect(self.reload_asked)
        self._rows.addWidget(row)
        for old in [other for other in self._shown() if other.passes == row.passes][:-MAX_SHOWN]:
            self._drop(old)
        self.show()
        if row.passes:
            _Passage(row)

    def focus(self) -> None:
        """Take the keyboard to the newest message: Tab goes through its buttons, Escape dismisses it and gives the keyboard back."""
        shown = self._shown()
        if shown:
            self._keyboard.take(shown[-1].first_button, (self,))

    def withdraw(self, text: str) -> None:
        """Dismiss what this says: it is not so any more."""
        for row in self._shown():
            if row.message.text == text:
                self._drop(row)

    def clear(self) -> None:
        """Dismiss all."""
        for row in self._shown():
            self._drop(row)

    def _shown(self) -> list[MessageRow]:
        items = (self._rows.itemAt(index) for index in range(self._rows.count()))
        return [row for item in items if item is not None and isinstance(row := item.widget(), MessageRow)]

    def _drop(self, row: MessageRow) -> None:
        focused = QApplication.focusWidget()
        if focused is not None and row.isAncestorOf(focused):
            self._keyboard.give_back()
        self._rows.removeWidget(row)
        row.hide()
        row.deleteLater()
        self.setVisible(bool(self._shown()))


class _Passage(QTimer):
    """Lets a message go after a while, but not while somebody reads it."""

    def __init__(self, row: MessageRow) -> None:
        super().__init__(row)
        self.timeout.connect(self._on_timeout)
        self.start(PASSING_MS)

    def _on_timeout(self) -> None:
        row, focused = self.parent(), QApplication.focusWidget()
        assert isinstance(row, MessageRow)
        if not row.underMouse() and not (focused is not None and row.isAncestorOf(focused)):
            row.dismissed.emit(row)
