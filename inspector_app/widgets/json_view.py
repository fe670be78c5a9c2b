"""An event's raw JSON: highlighted, copyable, with long strings cut."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat, QTextDocument, QTextOption
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from inspector_app.presentation.values import counted
from inspector_app.widgets import theme
from inspector_app.widgets.clipboard import copy_text
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.text_dialog import MOST_WRAPPED, TextDialog, broken_lines

T = TypeVar("T")

MAX_STRING = 2000  # characters; longer strings are cut in the pane
_LINE = 8  # characters of indentation and punctuation of an item at least
MAX_SHOWN = 100_000  # characters shown in the pane


class JsonView(QWidget):
    """A pane that shows JSON. The whole text can be copied or opened in a dialog."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("json_view")
        self._text = ""
        self._shown = named(QPlainTextEdit(readOnly=True), "json_text", "Event as JSON")
        self._shown.setProperty("bare", "true")
        self._shown.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        theme.use_mono(self._shown)
        self._highlighter = JsonHighlighter(self._shown.document())
        self._facts = plain_label(role="secondary")
        self._full = push_button(
            "Open full",
            "open_full_json",
            self._on_open_full,
            icon=theme.icon("up-right-from-square"),
            does="Open the whole JSON in a window",
        )
        copy = push_button("Copy", "copy_json", self._on_copy, icon=theme.icon("copy"), does="Copy the event as JSON")
        bar = laid_out(QHBoxLayout(), (self._facts, 1), self._full, copy, margins=(8, 6, 6, 6))
        laid_out(QVBoxLayout(self), (self._shown, 1), bar, margins=0, spacing=0)

    def set_json(self, text: str) -> None:
        """Show a JSON document.

        Args:
            text: valid JSON; it is copied unchanged.
        """
        self._text = text
        cut = _Cut()
        shown = json.dumps(cut.value(json.loads(text)), ensure_ascii=False, indent=2)
        whole = len(shown) <= MAX_SHOWN and not cut.happened
        wraps = len(shown) <= MOST_WRAPPED
        self._shown.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth if wraps else QPlainTextEdit.LineWrapMode.NoWrap)
        self._shown.setPlainText(broken_lines(shown[:MAX_SHOWN]))
        self._facts.setText(counted(len(text), "character") + ("" if whole else ", long texts cut"))
        self._full.setVisible(not whole)

    @property
    def text(self) -> str:
        """The text in the pane."""
        return self._shown.toPlainText()

    def _on_copy(self) -> None:
        copy_text(self._text)

    def _on_open_full(self) -> None:
        TextDialog("Event as JSON", self._text, self).open()


class _Cut:
    """A copy of a value as far as the pane shows it, with long strings cut.

    Attributes:
        happened: whether anything was cut.
    """

    def __init__(self) -> None:
        self.happened = False
        self._left = MAX_SHOWN

    def value(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self._item(item, len(key)) for key, item in self._while_room(value.items())}
        if isinstance(value, list):
            return [self._item(item, 0) for item in self._while_room(value)]
        if isinstance(value, str) and len(value) > MAX_STRING:
            self.happened = True
            return f"{value[:MAX_STRING]}… ({len(value) - MAX_STRING:,} more characters)"
        return value

    def _while_room(self, items: Iterable[T]) -> Iterator[T]:
        for item in items:
            if self._left < 0:  # what has been copied fills the pane already
                self.happened = True
                return
            yield item

    def _item(self, item: Any, key: int) -> Any:
        copied = self.value(item)
        self._left -= key + _LINE + (len(copied) if isinstance(copied, str) else 1)
        return copied


class JsonHighlighter(QSyntaxHighlighter):
    """A highlighter for the keys, numbers and literals of indented JSON; strings keep the text colour."""

    _KEY = re.compile(r'^\s*("(?:[^"\\]|\\.)*")(?=\s*:)')
    _PLAIN = re.compile(r"(?::|^)\s*(-?\d[\d.eE+-]*|true|false|null),?$")

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self._key = QTextCharFormat()
        self._plain = QTextCharFormat()
        theme.current().changed.connect(self._on_theme_changed)
        self._take_colours()

    def _take_colours(self) -> None:
        self._key.setForeground(theme.color("accent"))
        self._plain.setForeground(theme.color("author1"))

    def _on_theme_changed(self) -> None:
        self._take_colours()
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        """Highlight one line of indented JSON."""
        key = self._KEY.match(text)
        if key:
            self.setFormat(key.start(1), len(key[1]), self._key)
        plain = self._PLAIN.search(text, key.end() if key else 0)
        if plain:
            self.setFormat(plain.start(1), len(plain[1]), self._plain)
