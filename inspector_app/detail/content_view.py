"""An event's content: texts and pictures, calls and results as a tree, and its error."""

from __future__ import annotations

import math
from collections.abc import Iterator
from textwrap import indent
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from inspector_app.detail.artifact_buttons import ArtifactButtons
from inspector_app.detail.media_buttons import MediaButtons
from inspector_app.detail.pictures import Pictures
from inspector_app.presentation.event_details import details, texts
from inspector_app.presentation.event_summary import describe, failure_of, text_of
from inspector_app.presentation.value_filters import call_root
from inspector_app.presentation.values import visible_lines
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.safe_browser import SafeBrowser
from inspector_app.widgets.text_dialog import TextDialog
from inspector_app.widgets.value_tree import ValueTreeModel
from inspector_app.widgets.value_tree_view import ValueTreeView

if TYPE_CHECKING:
    from runtime.events import Event

MAX_MARKDOWN = 16_000  # characters laid out as Markdown; hostile Markdown takes time quadratic in its length

MAX_PLAIN = 100_000  # characters of plain text in the pane; *Open full* shows the rest

_CODE = ("Code", "Code output")  # titles of sections that are shown verbatim, also in Markdown

_UNTITLED = {"Answer", "Summary", "Transcript"}

_ONE_LINE = 36
_SHORT = 3_000  # characters; the height of longer documents is not computed, because that lays out the whole text


class ContentView(QWidget):
    """A view of an event's content.

    Attributes:
        browser: the texts.
        model, tree: calls, results and actions, and the view of them.
        pictures: inline pictures.
        media: buttons for inline sounds, films and documents.
        artifacts: buttons for the files that the event saved.

    Signals:
        artifact_requested (str, int): the user asked for this file in this version.
        media_requested (types.Blob): the user asked to open this sound, film or document.
    """

    artifact_requested = Signal(str, int)
    media_requested = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("content_view")
        self._sections: dict[str, str] = {}
        self._by_hand = False
        self._error = plain_label(name="content_error", role="bad", wraps=True)
        self._error.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._error.setContentsMargins(10, 10, 10, 4)
        self.browser = named(SafeBrowser(), "content_text", "Text of the event")
        self.browser.setMinimumHeight(_ONE_LINE)
        self.model = ValueTreeModel(self)
        self.tree = named(ValueTreeView(self.model, open_depth=2), "content_tree", "Calls, results and actions of the event")
        self.pictures = Pictures()
        self.media = MediaButtons()
        self.media.asked.connect(self.media_requested)
        self.artifacts = ArtifactButtons()
        self.artifacts.asked.connect(self.artifact_requested)
        self._split = QSplitter(Qt.Orientation.Vertical)
        self._split.addWidget(self.browser)
        self._split.addWidget(self.tree)
        self._split.setChildrenCollapsible(False)
        self._split.setStretchFactor(1, 1)
        self._split.splitterMoved.connect(self._on_split_moved)
        self.browser.document().documentLayout().documentSizeChanged.connect(self._share_out)
        self._bar = self._make_bar()
        laid_out(
            QVBoxLayout(self), self._error, self.pictures, self.media, self.artifacts, (self._split, 1), self._bar, margins=0, spacing=0
        )

    def _make_bar(self) -> QWidget:
        self._markdown = named(QCheckBox("Markdown"), "content_markdown", "Show the text as Markdown")
        self._markdown.setChecked(True)
        self._markdown.toggled.connect(self._show_text)
        self._full = push_button(
            "Open full",
            "open_full_content",
            self._on_open_full,
            icon=theme.icon("up-right-from-square"),
            does="Open the whole text in a window",
        )
        bar = QWidget()
        self._part = plain_label(name="content_part", role="secondary")
        laid_out(QHBoxLayout(bar), self._markdown, self._part, 1, self._full, margins=(10, 6, 6, 6))
        return bar

    def set_event(self, event: Event) -> None:
        """Show the content of an event.

        Args:
            event: a committed or a streaming event.
        """
        errors = [part for part in (event.error_code, event.error_message) if part]
        errors += [f"{call.name} failed: {text}" for call in event.get_function_responses() if (text := failure_of(call))]
        self._error.setText(visible_lines("\n".join(errors)[:2000]))
        self._error.setVisible(bool(errors))
        values, roots = _values(event)
        self.model.set_values(values, ("part", "value"), roots)
        self.tree.setVisible(bool(values))
        self.artifacts.set_artifacts(event.actions.artifact_delta)
        parts = (event.content.parts if event.content else None) or []
        blobs = [part.inline_data for part in parts if part.inline_data is not None]
        self.pictures.set_pictures(blobs)
        self.media.set_blobs(blobs)
        self._sections = _sections(event)
        said = bool(self._sections)
        if not (said or values or errors):
            self._sections = {"": describe(event).summary}
        self.browser.setVisible(bool(self._sections))
        self._bar.setVisible(said)
        self._show_text()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Distribute the new height."""
        super().resizeEvent(event)
        self._share_out()

    def _on_split_moved(self) -> None:
        self._by_hand = True

    def _share_out(self) -> None:
        """Give a short text the height it needs and a long one half, unless the user moved the splitter."""
        if self._by_hand or self.browser.isHidden() or self.tree.isHidden():
            return
        document, whole = self.browser.document(), self._split.height()
        wanted = math.ceil(document.size().height()) + 2 * self.browser.frameWidth() if document.characterCount() < _SHORT else whole
        text = max(min(wanted, whole // 2), self.browser.minimumHeight())
        self._split.setSizes([text, whole - text])

    def _show_text(self) -> None:
        markdown = self._markdown.isChecked()
        text = self._whole_text("**{}**\n\n" if markdown else "{}:\n", markdown=markdown)
        limit = MAX_MARKDOWN if markdown else MAX_PLAIN
        self._full.setVisible(len(text) > limit)
        self._part.setText(f"{limit:,} of {len(text):,} characters" if len(text) > limit else "")
        shown = text[:limit] + ("…" if len(text) > limit else "")
        if markdown:
            self.browser.set_markdown(shown)
        else:
            self.browser.set_plain(shown)
        self._share_out()

    def _whole_text(self, heading: str, *, markdown: bool = False) -> str:
        if len(self._sections) == 1 and _UNTITLED.issuperset(self._sections):
            return next(iter(self._sections.values()))
        texts = {title: indent(text, "    ") if markdown and title in _CODE else text for title, text in self._sections.items()}
        return "\n\n".join((heading.format(title) if title else "") + text for title, text in texts.items())

    def _on_open_full(self) -> None:
        TextDialog("Text of the event", self._whole_text("{}:\n"), self, prose=True).open()


def _sections(event: Event) -> dict[str, str]:
    """Return the texts of an event, title → text; the title of a single one of `_UNTITLED` is not shown."""
    parts = (event.content.parts if event.content else None) or []
    code = [part.executable_code.code or "" for part in parts if part.executable_code is not None]
    output = [part.code_execution_result.output or "" for part in parts if part.code_execution_result is not None]
    sections = {"Thought": text_of(event, thoughts=True).strip(), "Answer": text_of(event)}
    sections |= dict(zip(_CODE, ("\n\n".join(code), "\n\n".join(output)), strict=True))
    return {title: text for title, text in (sections | texts(event)).items() if text}


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
