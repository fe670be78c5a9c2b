"""How one thing that waits for a person is answered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from inspector_app import theme
from inspector_app.presentation import short_id
from inspector_app.values import plain_tooltip, preview, visible
from inspector_app.views.value_form import ValueForm

if TYPE_CHECKING:
    from runtime.history.invocations import PendingItem


class PendingForm(QWidget):
    """The question, what was asked with it, and the buttons that answer.

    Signals:
        answered(PendingItem, dict): the call's response was given.
        resume_asked(PendingItem): the invocation shall go on as it is.
    """

    answered = Signal(object, object)
    resume_asked = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._item: PendingItem | None = None
        self._answering: str | None = None
        self._resuming: str | None = None
        self._has_payload = False
        rows = QVBoxLayout(self)
        rows.setContentsMargins(10, 6, 6, 6)
        rows.setSpacing(6)
        self._question = QLabel(self)
        self._question.setObjectName("pending_question")
        self._question.setTextFormat(Qt.TextFormat.PlainText)
        self._question.setWordWrap(True)
        rows.addWidget(self._question)
        self._args = QLabel(self)
        self._args.setObjectName("pending_args")
        self._args.setTextFormat(Qt.TextFormat.PlainText)
        self._args.setFont(theme.mono_font())
        self._args.setWordWrap(True)
        rows.addWidget(self._args)
        self._edit = QPlainTextEdit(self)
        self._edit.setObjectName("pending_answer")
        self._edit.setAccessibleName("Answer")
        self._edit.setFont(theme.mono_font())
        self._edit.setTabChangesFocus(True)
        self._edit.textChanged.connect(self._show_answer)
        rows.addWidget(self._edit, 1)
        self._payload = ValueForm("pending_payload", "What the confirmation lets you fill in", self)
        self._payload.changed.connect(self._show_answer)
        rows.addWidget(self._payload, 1)
        for field in (self._edit, self._payload):
            field.hide()  # until an item needs it: a window that has once grown for it stays so
        rows.addLayout(self._buttons())
        rows.addStretch(0)

    def show_item(self, item: PendingItem | None) -> None:
        """Show the form for an item."""
        if item is not None and item == self._item:
            return
        self._item = item
        if item is None:
            return
        kind = item.kind
        self._question.setText(visible(_question(item)))
        self._args.setText(visible(preview(item.args, 400)) if item.args else "")
        self._args.setVisible(bool(item.args) and kind != "credential")
        self._edit.setVisible(kind in ("long_running", "credential"))
        self._has_payload = kind == "confirmation" and item.payload is not None
        self._payload.setVisible(self._has_payload)
        if self._has_payload:
            self._payload.set_value(item.payload)
        self._edit.setPlainText("")
        self._edit.setPlaceholderText('The call\'s result: JSON such as {"status": "approved"}, or plain text')
        for button in (self._approve, self._reject):
            button.setVisible(kind == "confirmation")
        self._resume.setVisible(True)
        self._respond.setVisible(kind in ("long_running", "credential"))
        self._show_answer()

    def focus(self) -> None:
        """Put the focus where the answer is given."""
        for widget in (self._edit, self._approve, self._resume):
            if widget.isVisibleTo(self):
                widget.setFocus()
                return

    def accept(self) -> None:
        """Approve, respond or resume: whichever the item asks for."""
        for button in (self._approve, self._respond, self._resume):
            if button.isVisibleTo(self):
                button.click()
                return

    def reject(self) -> None:
        """Reject, where that can be done."""
        if self._reject.isVisibleTo(self):
            self._reject.click()

    def set_blocked(self, answering: str | None, resuming: str | None) -> None:
        """See `PendingPane.set_blocked`."""
        self._answering, self._resuming = answering, resuming
        self._show_answer()

    def _buttons(self) -> QHBoxLayout:
        line = QHBoxLayout()
        line.setSpacing(6)
        self._approve = self._button("Approve", "check", "pending_approve", self._on_approve)
        self._reject = self._button("Reject", "xmark", "pending_reject", self._on_reject)
        self._respond = self._button("Respond", "reply", "pending_respond", self._on_respond)
        self._resume = self._button("Resume…", "clock-rotate-left", "pending_resume", self._on_resume)
        for button in (self._approve, self._reject, self._respond, self._resume):
            line.addWidget(button)
        self._hint = QLabel(self)
        self._hint.setObjectName("pending_hint")
        self._hint.setProperty("role", "secondary")
        self._hint.setTextFormat(Qt.TextFormat.PlainText)
        line.addWidget(self._hint, 1)
        return line

    def _button(self, text: str, icon: str, name: str, slot: Any) -> QPushButton:
        button = QPushButton(theme.icon(icon, "text"), text, self)
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.clicked.connect(slot)
        button.hide()
        return button

    def _show_answer(self) -> None:
        answer = parse_answer(self._edit.toPlainText())
        problem = self._payload.problem if self._has_payload else ""
        unwritten = "" if answer is not None else "Write an answer first"
        for button, needs, key in (
            (self._approve, problem, "Return"),
            (self._reject, "", "Backspace"),
            (self._respond, unwritten, "Return"),
        ):
            missing = self._answering or needs
            button.setEnabled(not missing)
            button.setToolTip(plain_tooltip(missing or f"{button.text()} (Ctrl+{key})"))
        self._resume.setEnabled(self._resuming is None)
        self._resume.setToolTip(plain_tooltip(self._resuming or "Say what resuming from the last checkpoint will do (Ctrl+Shift+R)"))
        blocked = self._resuming if self._item and self._item.kind == "interrupted" else self._answering
        sends = f"sends {preview(answer, 80)}" if answer and self._edit.isVisibleTo(self) else ""
        self._hint.setText(visible(blocked or problem or sends))

    def _on_approve(self) -> None:
        payload = {"payload": self._payload.value} if self._has_payload else {}
        self.answered.emit(self._item, {"confirmed": True, **payload})

    def _on_reject(self) -> None:
        self.answered.emit(self._item, {"confirmed": False})

    def _on_respond(self) -> None:
        self.answered.emit(self._item, parse_answer(self._edit.toPlainText()))

    def _on_resume(self) -> None:
        self.resume_asked.emit(self._item)


def parse_answer(text: str) -> dict[str, Any] | None:
    """Return what a written answer means as a function response.

    A JSON object is sent as it is; any other JSON value, or plain text, becomes `{"result": …}`. None: nothing is written yet.
    """
    text = text.strip()
    if not text:
        return None
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        value = text
    return value if isinstance(value, dict) else {"result": value}


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _question(item: PendingItem) -> str:
    if item.kind == "confirmation":
        return item.hint or f"{item.author or 'The agent'} asks: may {item.name} be called?"
    if item.kind == "long_running":
        return f"{item.name} runs on its own. {item.author or 'The agent'} waits for its result."
    if item.kind == "credential":
        return f"{item.name or 'A tool'} asks for a credential; send back the configuration with the credential filled in."
    return f"Invocation {short_id(item.invocation_id)} was interrupted: {item.reason}."
