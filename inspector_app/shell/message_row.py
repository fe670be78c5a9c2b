"""A message with its details and the buttons that copy and dismiss it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QToolButton, QVBoxLayout, QWidget

from inspector_app.presentation.message import Message
from inspector_app.presentation.values import visible_lines
from inspector_app.widgets import theme
from inspector_app.widgets.clipboard import copy_text
from inspector_app.widgets.controls import plain_label
from inspector_app.widgets.icon_label import IconLabel
from inspector_app.widgets.text_dialog import broken_lines

MAX_DETAILS = 100_000  # characters of the details that are displayed
LONGEST = 500  # characters of a message that are displayed; the details have the whole of a longer one

_DETAILS_HEIGHT = 160  # pixels at most
_DETAILS_MARGIN = 26  # pixels for the border and the horizontal scroll bar

_ICONS = {"info": "circle-info", "warning": "triangle-exclamation", "error": "circle-xmark"}
_CARDS = {"info": "said", "warning": "held", "error": "failed"}
_ROLES = {"info": "accent", "warning": "warn", "error": "bad"}


class MessageRow(QWidget):
    """A message in the message bar.

    Attributes:
        message: the displayed message.

    Signals:
        dismissed(MessageRow): the user dismissed the message, or its time is over.
        reload_requested: the user pressed Reload.
    """

    dismissed = Signal(object)
    reload_requested = Signal()

    def __init__(self, message: Message, parent: QWidget) -> None:
        super().__init__(parent)
        self.message = message
        self.setObjectName("message")
        self.setProperty("card", _CARDS[message.severity])
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(6, 6, 6, 6)
        rows.setSpacing(6)
        line = QHBoxLayout()
        line.setContentsMargins(6, 0, 0, 0)
        line.setSpacing(8)
        rows.addLayout(line)
        icon = IconLabel(16, self, name=_ICONS[message.severity], role=_ROLES[message.severity])
        line.addWidget(icon)
        cut = len(message.text) > LONGEST
        text = plain_label(visible_lines(message.text[:LONGEST]) + ("…" if cut else ""), "message_text", wraps=True, parent=self)
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard)
        line.addWidget(text, 1)
        if message.offers_reload:
            reload = _button("Reload", "message_reload", self)
            reload.setToolTip("Read the session again (Ctrl+R)")
            reload.clicked.connect(self._on_reload)
            line.addWidget(reload, 0, Qt.AlignmentFlag.AlignTop)
        details = "\n\n".join(filter(None, (message.text if cut else None, message.details)))
        if details:
            shown = _details(details, self)
            if message.details:
                shown.moveCursor(QTextCursor.MoveOperation.End)  # a traceback names its error last
            toggle = _button("Details", "message_details", self)
            toggle.setCheckable(True)
            toggle.toggled.connect(shown.setVisible)
            line.addWidget(toggle, 0, Qt.AlignmentFlag.AlignTop)
            rows.addWidget(shown)
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

    @property
    def passes(self) -> bool:
        """Whether the message is information, which disappears by itself."""
        return self.message.severity == "info"

    @property
    def first_button(self) -> QToolButton:
        """The button that gets the focus first."""
        return self.findChildren(QToolButton)[0]

    def _on_reload(self) -> None:
        self.reload_requested.emit()
        self.dismissed.emit(self)

    def _on_copy(self) -> None:
        copy_text("\n\n".join(filter(None, (self.message.text, self.message.details))))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Dismiss the message on Escape."""
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
    theme.use_mono(view)
    view.setFixedHeight(min(view.blockCount() * view.fontMetrics().lineSpacing() + _DETAILS_MARGIN, _DETAILS_HEIGHT))
    view.hide()
    return view


def _button(text: str, name: str, parent: QWidget) -> QToolButton:
    button = QToolButton(parent)
    button.setObjectName(name)
    button.setText(text)
    button.setAccessibleName(text)
    button.setProperty("button", "true")
    return button
