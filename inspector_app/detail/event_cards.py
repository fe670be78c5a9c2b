"""The selected event as one page of cards. What an event does not have is not drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from inspector_app.analysis.finding import Finding
from inspector_app.detail.artifact_buttons import MOST_SHOWN, ArtifactButtons
from inspector_app.detail.card import Card, FoldedCard
from inspector_app.detail.fields_html import Fields, text_html
from inspector_app.detail.media_buttons import MediaButtons
from inspector_app.detail.note_bar import NoteBar
from inspector_app.detail.pictures import Pictures
from inspector_app.detail.prose import Prose
from inspector_app.presentation.event_details import details, texts
from inspector_app.presentation.event_summary import describe, result_title, text_of
from inspector_app.presentation.value_filters import call_root
from inspector_app.presentation.values import counted, visible
from inspector_app.state.delta_view import DeltaView
from inspector_app.widgets.clipboard import copy_text
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.text_dialog import TextDialog
from inspector_app.widgets.value_tree import ValueTreeModel
from inspector_app.widgets.value_tree_view import ValueTreeView

if TYPE_CHECKING:
    from runtime.events import Event

MAX_MARKDOWN = 16_000  # characters laid out as Markdown; hostile Markdown takes time quadratic in its length
MAX_HEIGHT = 600  # lines laid out as Markdown; a table's row takes as long as `_ROW` lines
_ROW = 4
MAX_CODE = 8_000  # characters of code and its output
MAX_LINES = 60  # of output; the first and the last half
MOST_CALLS = 40  # whose fields are shown; the JSON has all


class EventCards(QScrollArea):
    """A page that scrolls as a whole.

    Attributes:
        error, thought, said, code: texts.
        calls, more, values: calls and results as fields, the other details, and all of these as a tree; `model`, `tree` are the tree's.
        files: pictures, and buttons for sounds, films, documents and saved files.
        changed, output, origin, findings: what changed, what was written, where the event came from, and what is wrong with it.

    Signals:
        artifact_requested (str, int): the user asked for this file in this version.
        media_requested (types.Blob): the user asked to open this sound, film or document.
        link_chosen (str): the user followed a link, `request` or `event/` and a position.

    Args:
        delta: what the event changed.
        note: the note on the event.
    """

    artifact_requested = Signal(str, int)
    media_requested = Signal(object)
    link_chosen = Signal(str)

    def __init__(self, delta: DeltaView, note: NoteBar) -> None:
        super().__init__()
        named(self, "event_cards", "The selected event")
        self.setWidgetResizable(True)
        self._event: Event | None = None
        self._said = ""
        self._output = ""
        self._as_tree = False
        self.delta, self.note = delta, note
        self.error = self._text_card("error", "Error")
        self._empty = Prose("event_empty", "The event")
        self._thought = Prose("thought_text", "Thought of the event")
        self.thought = FoldedCard("thought", "Thought", self._thought)
        self.thought.fold.toggled.connect(self._show_thought)
        self.browser = Prose("content_text", "Text of the event")
        self.said = Card("answer", "Answer", self.browser)
        self.said.action("copy", "copy_content", "Copy the text", lambda: copy_text(self._said))
        self.said.action("open", "open_full_content", "Open the whole text in a window", self._on_open_full)
        self.code = self._text_card("code", "Code")
        self._fields = {name: Prose(f"{name}_fields", title) for name, title in (("calls", "Calls and results"), ("more", "More"))}
        self.calls, self.more = (Card(name, prose.accessibleName(), prose) for name, prose in self._fields.items())
        self.model = ValueTreeModel(self)
        self.tree = named(ValueTreeView(self.model, open_depth=2), "content_tree", "Calls, results and actions of the event")
        self.values = Card("values", "As JSON", self.tree)
        for card in (self.calls, self.more):
            card.action("JSON", f"{card.objectName()}_as_json", "Show the values as JSON", lambda: self.show_tree(True))
        self.values.action("fields", "values_as_fields", "Show the values as fields", lambda: self.show_tree(False))
        for changing in (self.tree.expanded, self.tree.collapsed, self.model.modelReset, self.model.rowsInserted):
            changing.connect(self._fit_tree)
        self.pictures, self.media, self.artifacts = Pictures(), MediaButtons(), ArtifactButtons()
        self.media.asked.connect(self.media_requested)
        self.artifacts.asked.connect(self.artifact_requested)
        self.files = Card("files", "Files", self.pictures, self.media, self.artifacts)
        self.changed = Card("changed", "Changed", delta)
        self.output = self._text_card("output", "Output")
        self.output.action("open", "open_output", "Open all that was written in a window", self._on_open_output)
        self.origin = self._text_card("origin", "From")
        self.findings = self._text_card("event_findings", "Findings")
        self._cards = (
            self.error,
            self.thought,
            self.said,
            self.code,
            self.calls,
            self.values,
            self.files,
            self.changed,
            self.output,
            self.more,
            self.origin,
            self.findings,
        )
        page = QWidget()
        laid_out(QVBoxLayout(page), *self._cards, self._empty, note, 1, margins=(0, 8, 4, 8), spacing=8)
        self.setWidget(page)

    def _text_card(self, name: str, title: str) -> Card:
        prose = Prose(f"{name}_text", title)
        prose.chosen.connect(self.link_chosen)
        card = Card(name, title, prose)
        return card

    def _fill(self, card: Card, html: str) -> None:
        """Show our own HTML in a card; hide it if there is none."""
        prose = card.findChild(Prose)
        if html and prose is not None:
            prose.show_html(html)
        card.setVisible(bool(html))

    def set_event(self, event: Event) -> None:
        """Show an event.

        Args:
            event: a committed or a streaming event.
        """
        if self._event is None or event.id != self._event.id:
            self.verticalScrollBar().setValue(0)
        self._event = event
        errors = [part for part in (event.error_code, event.error_message) if part]
        problem = text_html(_cut("\n".join(errors), 2_000))
        self._fill(self.error, f'<div class="bad">{problem}</div>' if errors else "")
        thought = text_of(event, thoughts=True).strip()
        self.thought.setVisible(bool(thought))
        self.thought.set_title(f"Thought: {visible(' '.join(thought[:300].split()))}" if thought else "Thought")
        self._show_thought()
        said = self._show_said(event)
        code = self._show_code(event)
        files = self._show_files(event)
        values = self._show_values()
        is_empty = not (errors or thought or said or code or files or values or event.actions.state_delta)
        self._empty.setVisible(is_empty)
        if is_empty:
            self._empty.show_html(f'<p class="dim">{escape(describe(event).summary)}</p>')

    def _show_thought(self) -> None:
        if self._event is not None and self.thought.fold.isChecked():
            self._thought.show_markdown(_markdown_cut(text_of(self._event, thoughts=True).strip()))

    def _show_said(self, event: Event) -> bool:
        said = {"Message" if event.author == "user" else "Answer": text_of(event)} | texts(event)
        sections = {title: text for title, text in said.items() if text}
        whole = "\n\n".join(f"**{title}**\n\n{text}" for title, text in sections.items())
        self._said = next(iter(sections.values())) if len(sections) == 1 else whole
        self.said.setVisible(bool(sections))
        if sections:
            shown = _markdown_cut(self._said)
            aside = f"{len(shown):,} of {len(self._said):,} characters" if len(shown) < len(self._said) else ""
            self.said.set_title(next(iter(sections)) if len(sections) == 1 else "Texts", aside)
            self.browser.show_markdown(shown + ("…" if aside else ""))
        return bool(sections)

    def _show_code(self, event: Event) -> bool:
        pieces = []
        for part in (event.content.parts if event.content else None) or ():
            if part.executable_code is not None and part.executable_code.code:
                pieces.append(("", part.executable_code.code.rstrip()))
            if part.code_execution_result is not None and part.code_execution_result.output:
                pieces.append(('<p class="dim small">Output of the code</p>', part.code_execution_result.output.rstrip()))
        blocks = (f'{title}<div class="mono">{text_html(_cut(text, MAX_CODE))}</div>' for title, text in pieces)
        self._fill(self.code, "".join(blocks))
        return bool(pieces)

    def _show_files(self, event: Event) -> bool:
        parts = (event.content.parts if event.content else None) or []
        blobs = [part.inline_data for part in parts if part.inline_data is not None]
        self.artifacts.set_artifacts(event.actions.artifact_delta)
        self.pictures.set_pictures(blobs)
        self.media.set_blobs(blobs)
        self.files.setVisible(bool(blobs or event.actions.artifact_delta))
        return bool(blobs or event.actions.artifact_delta)

    def show_tree(self, as_tree: bool) -> None:
        """Show calls, results and details as a tree of JSON values, or as fields."""
        self._as_tree = as_tree
        self._show_values()

    def _show_values(self) -> bool:
        event = self._event
        if event is None:
            return False
        if self._as_tree:
            values, roots = _values(event)
            self.model.set_values(values, ("Part", "Value"), roots)
            self.values.setVisible(bool(values))
            self.calls.hide()
            self.more.hide()
            return bool(values)
        self.values.hide()
        title, calls = _calls_html(event)
        self.calls.set_title(title)
        self._fill(self.calls, calls)
        shown = {} if len(event.actions.artifact_delta) > MOST_SHOWN else {"saved artifacts"}
        more = {title: value for title, value, _ in details(event) if title not in shown and title != "node"}
        self._fill(self.more, Fields().html(more) if more else "")
        return bool(calls or more)

    def _fit_tree(self, *_: object) -> None:
        QTimer.singleShot(0, self.tree, self._set_tree_height)  # the view lays out its rows later

    def _set_tree_height(self) -> None:
        rows, index = 1, self.model.index(0, 0)
        while index.isValid() and rows <= MAX_LINES:
            rows, index = rows + 1, self.tree.indexBelow(index)
        self.tree.setFixedHeight(rows * max(self.tree.rowHeight(self.model.index(0, 0)), 16) + self.tree.header().height() + 6)

    def show_changes(self, title: str) -> None:
        """Show what changed, under a title; hide it without one."""
        self.changed.set_title(title)
        self.changed.setVisible(bool(title))

    def set_output(self, title: str, text: str) -> None:
        """Show what the agent wrote during the event.

        Args:
            title: of the card.
            text: the lines; empty if it wrote nothing.
        """
        self._output = text
        lines = text.rstrip().split("\n")
        half = MAX_LINES // 2
        if len(lines) > MAX_LINES:
            lines = [*lines[:half], f"… {len(lines) - 2 * half:,} more lines …", *lines[-half:]]
        self.output.set_title(title)
        shown = text_html(_cut("\n".join(lines), MAX_MARKDOWN))
        self._fill(self.output, f'<div class="mono">{shown}</div>' if text else "")

    @property
    def output_text(self) -> str:
        """What the agent wrote during the event."""
        return self._output

    def set_origin(self, html: str) -> None:
        """Show where the event came from; hide the card if that is not known."""
        self._fill(self.origin, html)

    def set_findings(self, found: Sequence[Finding]) -> None:
        """Show what is wrong with the event."""
        roles = {"error": "bad", "warning": "warn", "note": "text"}
        texts = (f'<p><span class="{roles[one.level]}">{text_html(one.what)}</span> {text_html(one.advice)}</p>' for one in found)
        self._fill(self.findings, "".join(texts))

    def _on_open_full(self) -> None:
        TextDialog("Text of the event", self._said, self, prose=True).open()

    def _on_open_output(self) -> None:
        TextDialog(self.output.title, self._output, self).open()


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit] + "…"


def _markdown_cut(text: str) -> str:
    """Return as much of a text as is laid out at once."""
    shown = text[:MAX_MARKDOWN]
    left, place = MAX_HEIGHT, 0
    while left > 0 and place >= 0:
        left -= _ROW if shown[place : place + 20].lstrip().startswith("|") else 1
        place = shown.find("\n", place) + 1 or -1
    return shown if place < 0 else shown[: place - 1]


def _calls_html(event: Event) -> tuple[str, str]:
    """Return the title and the fields of an event's calls and results."""
    functions: list[tuple[str, str, Any]] = [(f"Call {call.name}", "text", call.args or {}) for call in event.get_function_calls()]
    for response in event.get_function_responses():
        title, failed = result_title(event, response)
        functions.append((title, "bad" if failed else "text", response.response))
    for part in (event.content.parts if event.content else None) or ():
        if part.file_data is not None:
            functions.append((f"File {part.file_data.mime_type or ''}", "text", part.file_data.file_uri))
    fields = Fields()
    if len(functions) == 1 and functions[0][1] != "bad":
        title, _, value = functions[0]
        return visible(title[:200]), fields.html(value)
    pieces = []
    for title, role, value in functions[:MOST_CALLS]:
        if fields.is_full:
            break
        pieces.append(f'<p class="{role}"><b>{escape(visible(title[:200]))}</b></p>{fields.html(value)}')
    if len(functions) > len(pieces):
        pieces.append(f'<p class="dim">… {len(functions) - len(pieces):,} more, see JSON</p>')
    kinds = [counted(count, noun) for count, noun in _counts(event) if count]
    return ", ".join(kinds) or "Files", "<br>".join(pieces)


def _counts(event: Event) -> Iterator[tuple[int, str]]:
    yield len(event.get_function_calls()), "call"
    yield len(event.get_function_responses()), "result"


def _values(event: Event) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the tree's values, title → value, and their paths in filter expressions; duplicate titles are numbered."""
    titled: dict[str, Any] = {}
    roots: dict[str, str] = {}
    last: dict[str, int] = {}
    for title, value, root in [*_parts(event), *details(event)]:
        number = last.get(title, 0) + 1
        unique = title if number == 1 else f"{title} ({number})"
        while unique in titled:  # a tool may have such a name
            number += 1
            unique = f"{title} ({number})"
        last[title] = number
        titled[unique] = value
        roots[unique] = root
    return titled, roots


def _parts(event: Event) -> Iterator[tuple[str, Any, str]]:
    """Yield the parts other than text: title, value, and path in a filter expression, empty if it has none."""
    for part in (event.content.parts if event.content else None) or []:
        if part.function_call is not None:
            call = part.function_call
            yield f"call {call.name}", call.args or {}, call_root("call", call.name or "")
        elif part.function_response is not None:
            answer = part.function_response
            yield f"{answer.name} →", answer.response or {}, call_root("response", answer.name or "")
        elif part.inline_data is not None:
            yield part.inline_data.mime_type or "data", part.inline_data.data or b"", ""
        elif part.file_data is not None:
            yield part.file_data.mime_type or "file", part.file_data.file_uri, ""
