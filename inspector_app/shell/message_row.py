"""A message with its way out, and the buttons that copy and dismiss it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from inspector_app.presentation.message import Message
from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.clipboard import copy_text
from inspector_app.widgets.icon_label import IconLabel
from inspector_app.widgets.layouts import laid_out
from inspector_app.widgets.lines_label import LinesLabel

LONGEST = 500  # characters of a message that are displayed; the log has the whole of a longer one
REMEDIES = {
    "reload": ("Reload", "Read the session again (Ctrl+R)"),
    "keys": ("Set the key…", "Store the key in the system's keyring, for all agents"),
}

_ICONS = {"info": "circle-info", "warning": "triangle-exclamation", "error": "circle-xmark"}
_CARDS = {"info": "said", "warning": "held", "error": "failed"}
_ROLES = {"info": "accent", "warning": "warn", "error": "bad"}


class MessageRow(QWidget):
    """A message in the strip.

    Attributes:
        message: the displayed message.

    Signals:
        dismissed(MessageRow): the user dismissed the message, or its time is over.
        remedy_requested(str): the user pressed the button that helps.
        log_requested(Message): the user wants to see the whole message.
    """

    dismissed = Signal(object)
    remedy_requested = Signal(str)
    log_requested = Signal(object)

    def __init__(self, message: Message, parent: QWidget) -> None:
        super().__init__(parent)
        self.message = message
        self.setObjectName("message")
        self.setProperty("card", _CARDS[message.severity])
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        icon = IconLabel(14, self, name=_ICONS[message.severity], role=_ROLES[message.severity])
        words = " ".join(message.text[:LONGEST].split()) + ("…" if len(message.text) > LONGEST else "")
        self._text = LinesLabel(visible(words), "message_text", self)
        self._line = line = laid_out(QHBoxLayout(self), icon, (self._text, 1), margins=(8, 1, 2, 1), spacing=6)
        if message.remedy:
            self._add_button(line, *REMEDIES[message.remedy], "message_remedy", self._on_remedy)
        if message.severity != "info" or message.details or len(message.text) > LONGEST:
            does = "Show it with its traceback" if message.details else "Show it among the other messages"
            self._add_button(line, "Show the log", does, "message_log", partial(self.log_requested.emit, message))
        does = "Copy the message, with its traceback" if message.details else "Copy the message"
        self._add_button(line, "Copy", does, "message_copy", self._on_copy)
        self._add_button(line, "", "Dismiss (it stays in the log)", "message_dismiss", partial(self.dismissed.emit, self))

    @property
    def passes(self) -> bool:
        """Whether the message is information, which disappears by itself."""
        return self.message.severity == "info"

    @property
    def first_button(self) -> QToolButton:
        """The button that gets the focus first."""
        return self.findChildren(QToolButton)[0]

    def fit(self, width: int, most: int) -> int:
        """Take the height, in pixels, of at most some lines of text at a width in pixels; return it."""
        self.ensurePolished()
        self.resize(width, self.height())
        self._line.activate()
        self._text.set_lines(most)
        buttons = max(button.sizeHint().height() for button in self.findChildren(QToolButton))
        self.setFixedHeight(max(self._text.height(), buttons) + 2)
        return self.height()

    def _add_button(self, line: QHBoxLayout, text: str, does: str, name: str, slot: Callable[[], object]) -> None:
        button = QToolButton(self)
        button.setObjectName(name)
        button.setText(text)
        if not text:
            button.setIcon(theme.icon("xmark", "dim"))
            theme.keep_icon_size(button, 16)
        button.setAccessibleName(text or "Dismiss")
        button.setToolTip(does)
        button.setProperty("button", "true")
        button.clicked.connect(slot)
        line.addWidget(button)

    def _on_remedy(self) -> None:
        self.remedy_requested.emit(self.message.remedy)
        self.dismissed.emit(self)

    def _on_copy(self) -> None:
        copy_text("\n\n".join(filter(None, (self.message.text, self.message.details))))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Dismiss the message on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.dismissed.emit(self)
        else:
            super().keyPressEvent(event)
