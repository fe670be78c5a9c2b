"""The model request that the selected event answers, as a document; and as a tree, for the JSON tab."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QScrollArea, QStackedLayout, QToolButton, QVBoxLayout, QWidget

from inspector_app.detail.card import Card, FoldedCard
from inspector_app.detail.context_bar import ContextBar
from inspector_app.detail.model_calls import CallPlace
from inspector_app.detail.prose import Prose
from inspector_app.detail.view_data import PromptPart, RequestDocument, Section
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.value_tree import ValueTreeModel
from inspector_app.widgets.value_tree_view import ValueTreeView

_TITLES = {"instruction": "Instruction", "tools": "Tools", "settings": "Settings", "conversation": "Conversation", "answer": "Answer"}


class RequestView(QWidget):
    """A page that scrolls as a whole: what fills the request, instruction, tools, conversation and answer.

    Attributes:
        bar: what fills the request.
        cards: the sections by their names.
        model, tree: the request as values, and their view; the JSON tab has it.

    Signals:
        send_again_requested: the user wants to send the request again.
        curl_requested: the user wants the request on the clipboard, as a command for the shell.
        call_requested (int): the user wants the call whose answer is at this position.
        link_chosen (str): the user followed a link.
    """

    send_again_requested = Signal()
    curl_requested = Signal()
    call_requested = Signal(int)
    link_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("request_view")
        self._document: RequestDocument | None = None
        self._place: CallPlace | None = None
        self.bar = ContextBar()
        self.model = ValueTreeModel(self)
        self.tree = named(ValueTreeView(self.model, open_depth=1), "request_tree", "Request to the model")
        self._note = plain_label(name="request_note", role="secondary", wraps=True)
        self._note.setContentsMargins(10, 4, 10, 2)
        self._empty = EmptyState("No model request", "Select an event that a model wrote.")
        self.cards: dict[str, Card] = {}
        for name, title in _TITLES.items():
            prose = Prose(f"request_{name}_text", title)
            prose.chosen.connect(self.link_chosen)
            kind = FoldedCard if name in ("tools", "settings") else Card
            self.cards[name] = kind(f"request_{name}", title, prose)
        for name in ("tools", "settings"):
            card = self.cards[name]
            assert isinstance(card, FoldedCard)
            card.fold.setChecked(name == "tools")
        self._same = plain_label("Nothing is new since that call.", "request_same", "dim")
        self._same.setContentsMargins(10, 0, 0, 0)
        self._scroll = named(QScrollArea(), "request_document", "Request to the model")
        self._scroll.setWidgetResizable(True)
        page = QWidget()
        parts = (self.bar, self._same, *self.cards.values(), self._make_send_bar())
        laid_out(QVBoxLayout(page), *parts, 1, margins=(0, 0, 4, 8), spacing=8)
        self._scroll.setWidget(page)
        shown = QWidget()
        laid_out(QVBoxLayout(shown), self._make_top(), self._note, (self._scroll, 1), margins=0, spacing=0)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(shown)

    def _make_top(self) -> QWidget:
        self._previous = self._step("request_previous", "chevron-left", "Previous model call", lambda place: place.before)
        self._next = self._step("request_next", "chevron-right", "Next model call", lambda place: place.after)
        self._call = plain_label(name="request_call")
        self._forms = QButtonGroup(self)
        for name, does in (
            ("request_whole", "Show the whole request"),
            ("request_since", "Show what is new since the agent's previous call"),
        ):
            button = named(QToolButton(), name, does)
            button.setProperty("small", "true")
            button.setCheckable(True)
            self._forms.addButton(button)
        self._whole, self._since = self._forms.buttons()
        self._whole.setText("Whole")
        self._whole.setChecked(True)
        self._forms.buttonClicked.connect(self._show_document)
        top = QWidget()
        row = QHBoxLayout(top)
        laid_out(row, self._previous, self._call, self._next, 1, self._whole, self._since, margins=(2, 6, 4, 2), spacing=2)
        return top

    def _step(self, name: str, icon: str, does: str, target: Any) -> QToolButton:
        made = named(QToolButton(), name, does)
        made.setToolTip(does)
        made.setProperty("small", "true")
        made.setIcon(theme.icon(icon, "dim"))
        theme.keep_icon_size(made, 12)
        made.clicked.connect(lambda: self.call_requested.emit(target(self._place)) if self._place is not None else None)
        return made

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
        row = laid_out(QHBoxLayout(), self._send, self._curl, 1)
        laid_out(QVBoxLayout(self._send_bar), self._why_not, row, margins=(0, 2, 0, 2))
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

    def set_place(self, place: CallPlace | None) -> None:
        """Show which call of the session it is, and lead to the calls beside it."""
        self._place = place
        self._call.setText(place.text if place is not None else "")
        self._previous.setEnabled(place is not None and place.before is not None)
        self._next.setEnabled(place is not None and place.after is not None)

    def set_request(
        self,
        values: dict[str, Any] | None,
        note: str = "",
        parts: Sequence[PromptPart] = (),
        whole: str = "",
        document: RequestDocument | None = None,
        since: int = 0,
    ) -> None:
        """Show a request.

        Args:
            values: title → value, in order; None if the event answers no request.
            note: explanation shown above the document; empty for none.
            parts: what fills the request; empty if it is not known.
            whole: the size of the whole request, in words.
            document: the request to read; None if it is not known.
            since: number of the agent's previous call; 0 if it has none.
        """
        self._stack.setCurrentIndex(0 if values is None else 1)
        self._note.setText(note)
        self._note.setVisible(bool(note))
        self.bar.set_parts(parts, whole)
        self.model.set_values(values or {}, ("Part", "Value"))
        self._document = document
        self._since.setText(f"Since call {since:,}" if since else "Since its last call")
        self._scroll.verticalScrollBar().setValue(0)
        self._show_document()

    def _show_document(self, *_: object) -> None:
        document = self._document
        since = document.since if document is not None else None
        for button in (self._whole, self._since):
            button.setVisible(since is not None)
        is_new = since is not None and self._since.isChecked()
        sections: Mapping[str, Section] = {} if document is None else since if is_new and since is not None else document.whole
        for name, card in self.cards.items():
            self._show_section(name, card, sections.get(name))
        self._same.setVisible(is_new and document is not None and document.is_same)

    @staticmethod
    def _show_section(name: str, card: Card, section: Section | None) -> None:
        prose = card.findChild(Prose)
        if section is not None and prose is not None:
            card.set_title(section.title, section.aside)
            prose.show_html(section.html)
        card.setVisible(section is not None)
