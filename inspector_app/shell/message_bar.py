"""Messages above the lower right corner. Warnings and errors stay until dismissed; information disappears by itself."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from inspector_app.presentation.message import Message
from inspector_app.shell.focus_home import FocusLoan
from inspector_app.shell.message_row import MessageRow
from inspector_app.widgets.announcements import announce

MAX_SHOWN = 3  # messages that stay, and as many that disappear by themselves; the log has the older ones
PASSING_MS = 8_000  # how long information is displayed; longer while it has the mouse or the focus
UNTOUCHABLE_MS = 600  # how long clicks pass through new messages: the user may be about to click what they cover
_WIDEST = 640  # pixels of a message
_MARGIN = 12  # pixels between the messages and the edges of the page


class MessageBar(QWidget):
    """The latest messages, the newest at the top. They lie over the page, so that nothing in it moves.

    Signals:
        reload_requested: the user pressed Reload in a message.

    Args:
        page: the widget that the messages lie over, in its lower right corner.
    """

    reload_requested = Signal()

    def __init__(self, page: QWidget) -> None:
        super().__init__(page)
        self._page = page
        self.setObjectName("message_bar")
        self.setAccessibleName("Messages")
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(4)
        self._keyboard = FocusLoan()
        self._untouchable = QTimer(self)
        self._untouchable.setSingleShot(True)
        self._untouchable.setInterval(UNTOUCHABLE_MS)
        self._untouchable.timeout.connect(self._on_seen)
        page.installEventFilter(self)
        self.hide()

    @property
    def messages(self) -> list[Message]:
        """The displayed messages, the oldest first."""
        return [row.message for row in self._shown()]

    def show_message(self, message: Message) -> None:
        """Show a message, unless it is for the log only or already displayed."""
        if message.quiet or any((row.message.severity, row.message.text) == (message.severity, message.text) for row in self._shown()):
            return
        row = MessageRow(message, self)
        row.dismissed.connect(self._drop)
        row.reload_requested.connect(self.reload_requested)
        self._rows.insertWidget(0, row)
        for old in [other for other in self._shown() if other.passes == row.passes][:-MAX_SHOWN]:
            self._drop(old)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, not self.underMouse())
        self._untouchable.start()
        self.show()
        self.raise_()
        self._place()
        announce(self, message.text, urgent=message.severity == "error")
        if row.passes:
            _Passage(row)

    def focus(self) -> None:
        """Move the focus to the newest message. Tab moves through its buttons; Escape dismisses it and returns the focus."""
        shown = self._shown()
        if shown:
            self._keyboard.take(shown[-1].first_button, (self,))

    def withdraw(self, text: str) -> None:
        """Dismiss the messages with this text, which no longer holds."""
        for row in self._shown():
            if row.message.text == text:
                self._drop(row)

    def clear(self) -> None:
        """Dismiss all messages."""
        for row in self._shown():
            self._drop(row)

    def _shown(self) -> list[MessageRow]:
        items = (self._rows.itemAt(index) for index in range(self._rows.count()))
        return [row for item in items if item is not None and isinstance(row := item.widget(), MessageRow)][::-1]

    def _place(self) -> None:
        """Put the messages into the page's corner, as wide as a line of text allows."""
        page = self._page.rect().adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)
        width = min(page.width(), _WIDEST)
        height = min(max(self._rows.totalHeightForWidth(width), self._rows.totalMinimumSize().height()), page.height())
        self.setGeometry(page.right() + 1 - width, page.bottom() + 1 - height, width, height)

    def eventFilter(self, _page: QObject, event: QEvent) -> bool:
        """Stay in the corner of the page."""
        if event.type() == QEvent.Type.Resize and not self.isHidden():
            self._place()
        return False

    def event(self, event: QEvent) -> bool:
        """Take the new height when a message shows its details."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._place()
        return super().event(event)

    def _on_seen(self) -> None:
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, False)

    def _drop(self, row: MessageRow) -> None:
        focused = QApplication.focusWidget()
        if focused is not None and row.isAncestorOf(focused):
            self._keyboard.give_back()
        self._rows.removeWidget(row)
        row.hide()
        row.deleteLater()
        self.setVisible(bool(self._shown()))
        self._place()


class _Passage(QTimer):
    """Dismisses a message after `PASSING_MS`, but not while the messages, which would move, have the mouse or it has the focus."""

    def __init__(self, row: MessageRow) -> None:
        super().__init__(row)
        self.timeout.connect(self._on_timeout)
        self.start(PASSING_MS)

    def _on_timeout(self) -> None:
        row, focused = self.parent(), QApplication.focusWidget()
        assert isinstance(row, MessageRow)
        bar = row.parentWidget()
        if not (bar is not None and bar.underMouse()) and not (focused is not None and row.isAncestorOf(focused)):
            row.dismissed.emit(row)
