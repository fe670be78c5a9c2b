"""What the user must see now: a few messages under the tool bar, each with its traceback to copy."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QToolButton, QVBoxLayout, QWidget

from inspector_app import theme
from inspector_app.messages import Message
from inspector_app.values import visible_lines
from inspector_app.views.copying import copy_text
from inspector_app.views.icon_label import IconLabel
from inspector_app.views.text_dialog import broken_lines

MAX_SHOWN = 3
MAX_DETAILS = 100_000
INFO_MS = 8_000
"""How long a message stays that needs no answer; it is in the log afterwards."""

LONGEST = 500
"""Characters of a message that are shown; the whole of a longer one is among its details."""

_ICONS = {"info": "circle-info", "warning": "triangle-exclamation", "error": "circle-xmark"}
_CARDS = {"info": True, "warning": "held", "error": "failed"}
_ROLES = {"info": "accent", "warning": "warn", "error": "bad"}


class MessageBar(QWidget):
    """The newest messages; older ones are in the log."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("message_bar")
        self.setAccessibleName("Messages")
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(4)
        self.hide()

    @property
    def messages(self) -> list[Message]:
        """What is shown, oldest first."""
        return [row.message for row in self._shown()]

    def show_message(self, message: Message) -> None:
        """Show a message, unless it is for the log only or stands there already."""
        if message.quiet or any((row.message.severity, row.message.text) == (message.severity, message.text) for row in self._shown()):
            return
        row = _MessageRow(message, self)
        row.dismissed.connect(self._on_dismissed)
        if message.severity == "info":
            QTimer.singleShot(INFO_MS, row, partial(self._on_dismissed, row))
        self._rows.addWidget(row)
        for old in self._shown()[:-MAX_SHOWN]:
            self._drop(old)
        self.show()

    def focus(self) -> None:
        """Take the keyboard to the newest message: Tab goes through its buttons, Escape dismisses it."""
        shown = self._shown()
        if shown:
            shown[-1].findChildren(QToolButton)[0].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def clear(self) -> None:
        """Dismiss all."""
        for row in self._shown():
            self._drop(row)
        self.hide()

    def _shown(self) -> list[_MessageRow]:
        items = (self._rows.itemAt(index) for index in range(self._rows.count()))
        return [row for item in items if item is not None and isinstance(row := item.widget(), _MessageRow)]

    def _drop(self, row: _MessageRow) -> None:
        self._rows.removeWidget(row)
        row.hide()
        row.deleteLater()

    def _on_dismissed(self, row: _MessageRow) -> None:
        self._drop(row)
        self.setVisible(bool(self._shown()))


class _MessageRow(QWidget):
    """One message.

    Signals:
        dismissed(_MessageRow): the user has read it.
    """

    dismissed = Signal(object)

    def __init__(self, message: Message, parent: QWidget) -> None:
        super().__init__(parent)
        self.message = message
        self.setObjectName("message")
        self.setProperty("card", _CARDS[message.severity])
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(12, 6, 6, 6)
        rows.setSpacing(4)
        line = QHBoxLayout()
        line.setSpacing(8)
        rows.addLayout(line)
        icon = IconLabel(16, self, name=_ICONS[message.severity], role=_ROLES[message.severity])
        line.addWidget(icon)
        cut = len(message.text) > LONGEST
        text = QLabel(visible_lines(message.text[:LONGEST]) + ("…" if cut else ""), self)
        text.setObjectName("message_text")
        text.setTextFormat(Qt.TextFormat.PlainText)
        text.setWordWrap(True)
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard)
        line.addWidget(text, 1)
        details = "\n\n".join(filter(None, (message.text if cut else None, message.details)))
        if details:
            self._details = _details(details, self)
            toggle = _button("Details", "message_details", self)
            toggle.setCheckable(True)
            toggle.toggled.connect(self._details.setVisible)
            line.addWidget(toggle, 0, Qt.AlignmentFlag.AlignTop)
            rows.addWidget(self._details)
        copy = _button("Copy", "message_copy", self)
        copy.setToolTip("Copy the message, with its traceback" if message.details else "Copy the message")
        copy.clicked.connect(self._on_copy)
        line.addWidget(copy, 0, Qt.AlignmentFlag.AlignTop)
        dismiss = _button("", "message_dismiss", self)
        dismiss.setIcon(theme.icon("xmark", "dim"))
        dismiss.setAccessibleName("Dismiss")
        dismiss.setToolTip("Dismiss (it stays in the log)")
        dismiss.clicked.connect(partial(self.dismissed.emit, self))
        line.addWidget(dismiss, 0, Qt.AlignmentFlag.AlignTop)

    def _on_copy(self) -> None:
        copy_text("\n\n".join(filter(None, (self.message.text, self.message.details))))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape dismisses the message."""
        if event.key() == Qt.Key.Key_Escape:
            self.dismissed.emit(self)
        else:
            super().keyPressEvent(event)


def _details(text: str, parent: QWidget) -> QPlainTextEdit:
    view = QPlainTextEdit(broken_lines(text[:MAX_DETAILS]), parent)
    view.setObjectName("message_traceback")
    view.setAccessibleName("Details")
    view.setReadOnly(True)
    view.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    view.setFont(theme.mono_font())
    view.setFixedHeight(160)
    view.hide()
    return view


def _button(text: str, name: str, parent: QWidget) -> QToolButton:
    button = QToolButton(parent)
    button.setObjectName(name)
    button.setText(text)
    button.setAccessibleName(text)
    button.setAutoRaise(True)
    return button
