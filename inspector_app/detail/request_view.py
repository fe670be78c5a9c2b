"""The model request that the selected event answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from inspector_app.detail.context_bar import ContextBar
from inspector_app.detail.view_data import PromptPart
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.value_tree import ValueTreeModel
from inspector_app.widgets.value_tree_view import ValueTreeView


class RequestView(QWidget):
    """A tree of a model request. Double-click or *Open full* opens a long text.

    Attributes:
        bar: what fills the request.
        model: the values.
        tree: the view of the model.

    Signals:
        send_again_requested: the user wants to send the request again.
        curl_requested: the user wants the request on the clipboard, as a command for the shell.
    """

    send_again_requested = Signal()
    curl_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("request_view")
        self.bar = ContextBar()
        self.model = ValueTreeModel(self)
        self.tree = named(ValueTreeView(self.model, open_depth=1), "request_tree", "Request to the model")
        self._note = plain_label(name="request_note", role="secondary", wraps=True)
        self._note.setContentsMargins(10, 8, 10, 6)
        self._empty = EmptyState("No model request", "Select an event that a model wrote.")
        self._empty.setProperty("card", "false")
        shown = QWidget()
        laid_out(QVBoxLayout(shown), self._note, self.bar, (self.tree, 1), self._make_send_bar(), margins=0, spacing=0)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(shown)

    def _make_send_bar(self) -> QWidget:
        self._send = push_button(
            "Send again…",
            "send_again",
            self.send_again_requested,
            icon=theme.icon("paper-plane"),
            does="Send the request to the model again",
        )
        self._curl = push_button("Copy as cURL", "copy_curl", icon=theme.icon("copy"), does="Copy the request as a cURL command")
        self._curl.setToolTip("A command for the shell; $GEMINI_API_KEY stands in for the key.")
        self._curl.clicked.connect(self.curl_requested)
        self._why_not = plain_label(name="send_again_blocked", role="secondary", parent=self)
        self._send_bar = QWidget()
        self._why_not.setTextFormat(Qt.TextFormat.PlainText)
        self._why_not.setWordWrap(True)
        row = laid_out(QHBoxLayout(), 1, self._curl, self._send)
        laid_out(QVBoxLayout(self._send_bar), self._why_not, row, margins=(10, 6, 6, 6))
        return self._send_bar

    def set_send_again(self, blocked: str | None) -> None:
        """Offer to send the request again, or say why that is impossible.

        Args:
            blocked: why not; None if it is possible, an empty text if no request is displayed.
        """
        self._send_bar.setVisible(blocked != "")
        self._send.setEnabled(blocked is None)
        self._why_not.setText(blocked or "")
        self._why_not.setVisible(bool(blocked))

    def set_request(self, values: dict[str, Any] | None, note: str = "", parts: Sequence[PromptPart] = (), whole: str = "") -> None:
        """Show a request.

        Args:
            values: title → value, in order; None if the event answers no request.
            note: explanation shown above the tree; empty for none.
            parts: what fills the request; empty if it is not known.
            whole: the size of the whole request, in words.
        """
        self._stack.setCurrentIndex(0 if values is None else 1)
        self._note.setText(note)
        self._note.setVisible(bool(note))
        self.bar.set_parts(parts, whole)
        self.model.set_values(values or {}, ("part", "value"))
