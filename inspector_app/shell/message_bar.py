"""The strip of messages above the status bar. Warnings and errors stay until dismissed; information disappears by itself."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from inspector_app.presentation.message import Message
from inspector_app.shell.focus_home import FocusLoan
from inspector_app.shell.message_row import MessageRow
from inspector_app.widgets.announcements import announce
from inspector_app.widgets.layouts import laid_out, named

MAX_LINES = 2  # lines of text in the strip: two messages, or one that is long
MAX_KEPT = 100  # messages that are displayed when others are dismissed; the log has all
PASSING_MS = 8_000  # how long information is displayed; longer while it has the mouse or the focus
UNTOUCHABLE_MS = 600  # how long clicks pass through new messages: the user may be about to click what was there
_TOP, _BETWEEN, _SIDE = 4, 2, 8  # pixels above and between the rows, and beside the strip
_URGENCY = {"info": 0, "warning": 1, "error": 2}


class MessageBar(QWidget):
    """The most urgent messages, of these the latest, one a line; the others are counted. It covers nothing.

    Signals:
        remedy_requested (str): the user pressed the button of a message that helps; see `Message.remedy`.
        log_requested (Message): the user wants to see a message in the log; None: the log.
        height_changed (int): the strip is higher by this many pixels, or lower; nothing is painted yet.
    """

    remedy_requested = Signal(str)
    log_requested = Signal(object)
    height_changed = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        named(self, "message_bar", "Messages")
        self._kept: list[Message] = []
        self._lines = QVBoxLayout()
        self._lines.setSpacing(_BETWEEN)
        self._more = named(QToolButton(self), "message_more", "More messages in Log")
        self._more.setProperty("code", "true")
        self._more.clicked.connect(lambda: self.log_requested.emit(None))
        laid_out(QHBoxLayout(self), (self._lines, 1), (self._more, 0, Qt.AlignmentFlag.AlignBottom), margins=(0, _TOP, 0, 0), spacing=6)
        self._keyboard = FocusLoan()
        self._untouchable = QTimer(self, singleShot=True, interval=UNTOUCHABLE_MS)
        self._untouchable.timeout.connect(self._on_seen)
        self._height = 0
        self.hide()

    @property
    def messages(self) -> list[Message]:
        """The messages that are not dismissed, the oldest first."""
        return list(self._kept)

    @property
    def rows(self) -> list[MessageRow]:
        """The displayed messages, from the top."""
        items = (self._lines.itemAt(index) for index in range(self._lines.count()))
        return [row for item in items if item is not None and isinstance(row := item.widget(), MessageRow)]

    def show_message(self, message: Message) -> None:
        """Show a message, unless it is for the log only or already displayed."""
        if message.quiet or any((kept.severity, kept.text) == (message.severity, message.text) for kept in self._kept):
            return
        self._kept = [*self._kept, message][-MAX_KEPT:]
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, not self.underMouse())
        self._untouchable.start()
        self._show()
        announce(self, message.text, urgent=message.severity == "error")

    def focus(self) -> None:
        """Move the focus to the newest message. Tab moves through its buttons; Escape dismisses it and returns the focus."""
        if self.rows:
            self._keyboard.take(self.rows[0].first_button, (self,))

    def withdraw(self, text: str) -> None:
        """Dismiss the messages with this text, which no longer holds."""
        self._keep([kept for kept in self._kept if kept.text != text])

    def clear(self) -> None:
        """Dismiss all messages."""
        self._keep([])

    def _keep(self, messages: list[Message]) -> None:
        self._kept = messages
        self._show()

    def _show(self) -> None:
        """Show the most urgent messages; those that stay keep their places, and a new one is above them."""
        latest = sorted(self._kept, key=lambda kept: (_URGENCY[kept.severity], kept.time))[-MAX_LINES:]
        for row in self.rows:
            if row.message not in latest:
                self._drop(row)
        shown = [row.message for row in self.rows]
        for message in sorted((message for message in latest if message not in shown), key=lambda message: message.time):
            row = MessageRow(message, self)
            row.dismissed.connect(self._on_dismissed)
            row.remedy_requested.connect(self.remedy_requested)
            row.log_requested.connect(self.log_requested)
            self._lines.insertWidget(0, row)
            if row.passes:
                _Passage(row)
        more = len(self._kept) - len(self.rows)
        self._more.setText(f"{more} more in Log")
        self._more.setAccessibleName(self._more.text())
        self._more.setVisible(more > 0)
        self.setVisible(bool(self._kept))
        self._fit()

    def _fit(self) -> None:
        """Take the height of the rows, lay the window out with it, and report the change."""
        rows, around = self.rows, self.parentWidget()
        assert around is not None
        aside = self._more.sizeHint().width() + 6 if self._more.isVisibleTo(self) else 0
        width = around.contentsRect().width() - 2 * _SIDE - aside
        high = _TOP + sum(row.fit(width, MAX_LINES // len(rows)) for row in rows) + _BETWEEN * (len(rows) - 1) if rows else 0
        self.setFixedHeight(high)
        layout = around.layout()
        if layout is not None:
            layout.activate()
        change, self._height = high - self._height, high
        if change:
            self.height_changed.emit(change)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap the texts at the new width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width() and self._height:
            QTimer.singleShot(0, self, self._fit)

    def _on_seen(self) -> None:
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, False)

    def _on_dismissed(self, row: MessageRow) -> None:
        self._keep([kept for kept in self._kept if kept is not row.message])

    def _drop(self, row: MessageRow) -> None:
        focused = QApplication.focusWidget()
        if focused is not None and row.isAncestorOf(focused):
            self._keyboard.give_back()
        self._lines.removeWidget(row)
        row.hide()
        row.deleteLater()


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
