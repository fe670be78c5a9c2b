"""The message box below the events."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QTextCursor
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QToolButton, QWidget

from inspector_app.widgets import theme
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.tooltips import set_tooltip

_MAX_LINES = 8
_FRAME = 6
_KEYS = "Enter sends, Shift+Enter begins a new line"


class Composer(QWidget):
    """A message box: Enter sends, Shift+Enter starts a new line.

    Signals:
        sent (str): the user sent this text. The box keeps it until `clear`, so that a failure to send does not lose it.
        refused (str): the user pressed Enter while sending is blocked, for this reason.
        draft_changed (bool): the text changed; whether it is not empty.
    """

    sent = Signal(str)
    refused = Signal(str)
    draft_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("composer")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._blocked: str | None = None
        self._edit = _MessageEdit(self)
        self._edit.submitted.connect(self.submit)
        self._edit.textChanged.connect(self._on_text_changed)
        self._send = named(QToolButton(self), "send_button", "Send")
        self._send.setIcon(theme.icon("paper-plane", "accent"))
        theme.keep_icon_size(self._send, 16)
        self._send.setAutoRaise(True)
        self._send.clicked.connect(self.submit)
        self._send.setFixedHeight(self._edit.one_line)  # the height of one line, to centre it there
        theme.current().changed.connect(self._on_theme_changed)
        laid_out(QHBoxLayout(self), (self._edit, 1), (self._send, 0, Qt.AlignmentFlag.AlignBottom), margins=(0, 0, 6, 0), spacing=6)
        self.set_blocked("Open an agent to talk to", "")

    def _on_theme_changed(self) -> None:
        self._send.setFixedHeight(self._edit.one_line)

    @property
    def draft(self) -> str:
        """The text as it was written."""
        return self._edit.toPlainText()

    @property
    def text(self) -> str:
        """The text without surrounding whitespace."""
        return self._edit.toPlainText().strip()

    def set_text(self, text: str) -> None:
        """Replace the text and move the cursor to its end."""
        self._edit.setPlainText(text)
        self._edit.moveCursor(QTextCursor.MoveOperation.End)

    def clear_unedited(self, text: str) -> None:
        """Empty the box if it still holds this text."""
        if self.text == text.strip():
            self.clear()

    def clear(self) -> None:
        """Empty the box."""
        self._edit.clear()

    def focus(self) -> None:
        """Focus the box."""
        self._edit.setFocus()

    def set_blocked(self, reason: str | None, to: str, effect: str = "") -> None:
        """Enable sending, or block it for a reason.

        Args:
            reason: why no message can be sent; None if it can.
            to: name of the agent; empty if there is none, and the reason is the placeholder.
            effect: what a message will do, if that is not to continue the session.
        """
        self._blocked = reason
        hint = f"Message {to}: {effect}" if effect else f"Message {to}"
        self._edit.show_hint(reason if reason and not to else hint, reason or _KEYS)
        self._show_sendable()

    def submit(self) -> None:
        """Emit `sent` with the text, or `refused` if sending is blocked."""
        if not self.text:
            return
        if self._blocked is None:
            self.sent.emit(self.text)
        else:
            self.refused.emit(self._blocked)

    def _on_text_changed(self) -> None:
        self._show_sendable()
        self.draft_changed.emit(bool(self.text))

    def _show_sendable(self) -> None:
        self._send.setEnabled(bool(self.text) and self._blocked is None)
        set_tooltip(self._send, self._blocked or ("Send (Enter)" if self.text else "Write a message first"))


class _MessageEdit(QPlainTextEdit):
    """A text box as high as its text.

    Signals:
        submitted: Enter was pressed.
    """

    submitted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._hint = self._tooltip = ""
        named(self, "composer_edit", "Message to the agent")
        self.setTabChangesFocus(True)
        self.document().setDocumentMargin(8)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        theme.current().changed.connect(self._fit)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Emit `submitted` for Enter without Shift."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.submitted.emit()
            return
        super().keyPressEvent(event)

    def show_hint(self, hint: str, tooltip: str) -> None:
        """Show a line in the empty box, elided to its width.

        Args:
            hint: the line.
            tooltip: the tooltip; empty for the line itself where it is elided.
        """
        self._hint, self._tooltip = hint, tooltip
        self._show_hint()

    def _show_hint(self) -> None:
        room = self.viewport().width() - int(2 * self.document().documentMargin()) - 2
        shown = self.fontMetrics().elidedText(self._hint, Qt.TextElideMode.ElideRight, max(room, 0)) if self.isVisible() else self._hint
        if shown != self.placeholderText():
            self.setPlaceholderText(shown)
            self.viewport().update()  # Qt repaints a placeholder only when its visibility changes
        set_tooltip(self, self._tooltip or (self._hint if shown != self._hint else ""))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Elide the hint to the new width."""
        super().resizeEvent(event)
        self._show_hint()

    def sizeHint(self) -> QSize:
        """Return Qt's width and the current height."""
        return QSize(super().sizeHint().width(), self.height())

    def _fit(self) -> None:
        wanted = max(int(self.document().size().height()), 1)
        lines = min(wanted, _MAX_LINES)
        always, never = Qt.ScrollBarPolicy.ScrollBarAsNeeded, Qt.ScrollBarPolicy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(always if wanted > lines else never)
        self.setFixedHeight((lines - 1) * self.fontMetrics().lineSpacing() + self.one_line)

    @property
    def one_line(self) -> int:
        """The height with one line of text, in pixels."""
        return self.fontMetrics().lineSpacing() + 2 * int(self.document().documentMargin()) + _FRAME
