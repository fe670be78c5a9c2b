"""A dialog that sends a recorded request once more, edited if wanted, and shows the new answer beside the original one."""

from __future__ import annotations

import json
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QPushButton, QSplitter, QVBoxLayout, QWidget

from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.json_editor import JsonEditor
from inspector_app.widgets.layouts import laid_out, named


class SendAgainDialog(QDialog):
    """The request as JSON on the left, both answers on the right.

    Args:
        request: `model`, `contents` and `config`, as JSON values.
        before: what sending costs, and what else to know before it, in sentences.
        original: the original answer.

    Signals:
        send_requested (dict): send this request.
    """

    send_requested = Signal(object)

    def __init__(self, request: dict[str, Any], before: str, original: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("send_again_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Send the request again")
        self._before = plain_label(before, "send_again_before", "text", wraps=True)
        self.editor = JsonEditor("send_again_request", "Request to send")
        self.editor.edit.setPlainText(json.dumps(request, indent=2, ensure_ascii=False))
        self.editor.changed.connect(self._show_state)
        self.original = _text("send_again_original", "Original answer", original)
        self.answer = _text("send_again_answer", "New answer", "")
        self.answer.setPlaceholderText("Not sent yet")
        self._facts = plain_label("", "send_again_facts", "secondary", wraps=True)
        self._is_busy = False
        self._send = named(QPushButton(theme.icon("paper-plane", "on_accent"), "Send"), "send_again_send")
        self._send.setProperty("primary", True)
        self._send.setAccessibleName("Send the request")
        self._send.clicked.connect(self._on_send)
        self._send.setDefault(True)
        close = push_button("Close", "send_again_close", self.reject)
        self._lay_out(close)
        self._show_state()
        self.resize(980, 620)

    def _lay_out(self, close: QPushButton) -> None:
        answers = QWidget()
        right = QVBoxLayout(answers)
        right.setContentsMargins(0, 0, 0, 0)
        for title, view in (("Original answer", self.original), ("New answer", self.answer)):
            right.addWidget(plain_label(title, "", "secondary", wraps=True))
            right.addWidget(view, 1)
        right.addWidget(self._facts)
        split = QSplitter(childrenCollapsible=False)
        split.addWidget(self.editor)
        split.addWidget(answers)
        split.setSizes([520, 440])
        buttons = laid_out(QHBoxLayout(), 1, close, self._send)
        laid_out(QVBoxLayout(self), self._before, (split, 1), buttons, spacing=8)

    def _show_state(self) -> None:
        is_request = not self.editor.problem and isinstance(self.editor.value, dict)
        self._send.setEnabled(is_request and not self._is_busy)

    def _on_send(self) -> None:
        self._is_busy = True
        self._show_state()
        self.answer.setPlainText("")
        self.answer.setPlaceholderText("Waiting for the model…")
        self._facts.setText("")
        self.send_requested.emit(self.editor.value)

    def show_answer(self, text: str, facts: str) -> None:
        """Show the model's answer.

        Args:
            text: the answer, or why there is none.
            facts: its tokens, cost and time, in words.
        """
        self._is_busy = False
        self._show_state()
        self.answer.setPlainText(text)
        self.answer.setPlaceholderText("The answer is empty")
        self._facts.setText(facts)


def _text(name: str, title: str, text: str) -> QPlainTextEdit:
    view = named(QPlainTextEdit(text, readOnly=True), name, title)
    return view
