"""What the user must see now: what went wrong stays under the tool bar until it is dismissed, what was done passes over the status bar."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from inspector_app.messages import Message
from inspector_app.views.focus_home import FocusLoan
from inspector_app.views.message_row import MessageRow

MAX_SHOWN = 3
"""Of each kind; older ones are in the log."""

PASSING_MS = 8_000
"""How long a message stays that needs no answer; longer while it has the mouse or the keyboard."""


class MessageBar(QWidget):
    """The newest messages.

    Warnings and errors are rows of this widget, which takes its room from the page below: they hide nothing while they wait for an answer.
    What only says what was done must not move the page for that, once when it comes and again when it goes: it lies over the status bar.

    Args:
        window: over whose status bar these lie.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("message_bar")
        self.setAccessibleName("Messages")
        self._lasting = _Rows(self)
        self.passing = _Passing(window)
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
        passing = message.severity == "info"
        row = MessageRow(message, self.passing if passing else self)
        row.dismissed.connect(self._drop)
        rows = self.passing.rows if passing else self._lasting
        rows.addWidget(row)
        for old in rows.shown()[:-MAX_SHOWN]:
            self._drop(old)
        self._fit()
        if passing:
            _Passage(row)

    def focus(self) -> None:
        """Take the keyboard to the newest message: Tab goes through its buttons, Escape dismisses it and gives the keyboard back."""
        shown = self._shown()
        if shown:
            self._keyboard.take(shown[-1].first_button, (self, self.passing))

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
        return sorted([*self._lasting.shown(), *self.passing.rows.shown()], key=lambda row: row.message.time)

    def _drop(self, row: MessageRow) -> None:
        focused = QApplication.focusWidget()
        if focused is not None and row.isAncestorOf(focused):
            self._keyboard.give_back()
        for rows in (self._lasting, self.passing.rows):
            rows.removeWidget(row)
        row.hide()
        row.deleteLater()
        self._fit()

    def _fit(self) -> None:
        self.setVisible(bool(self._lasting.shown()))
        self.passing.fit()


class _Rows(QVBoxLayout):
    """Messages, the newest at the bottom."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(4)

    def shown(self) -> list[MessageRow]:
        """Return them, oldest first."""
        items = (self.itemAt(index) for index in range(self.count()))
        return [row for item in items if item is not None and isinstance(row := item.widget(), MessageRow)]


class _Passing(QWidget):
    """Messages that lie over the bottom edge of the window and take no room of anything.

    Attributes:
        rows: these.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("passing_messages")
        self.setAccessibleName("What was done")
        self.rows = _Rows(self)
        window.installEventFilter(self)
        self.hide()

    def fit(self) -> None:
        """Lie at the bottom, as wide as the window, as high as the texts need."""
        window = self.parentWidget()  # not kept: with the cycle that this makes, Python's exit crashes
        shown = bool(self.rows.shown())
        if shown and window is not None:
            width = window.width() - 8
            height = self.rows.totalHeightForWidth(width)
            self.setGeometry(4, window.height() - height - 2, width, height)
            self.raise_()
        self.setVisible(shown)

    def event(self, event: QEvent) -> bool:
        """Grow when the details of a message are opened."""
        if event.type() == QEvent.Type.LayoutRequest and self.isVisible():
            self.fit()
        return super().event(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay at the bottom when the window's size changes."""
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self.fit()
        return False


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
