"""A long text in full, in a window of its own."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from inspector_app.presentation.values import visible_lines
from inspector_app.widgets import theme
from inspector_app.widgets.clipboard import copy_text

LINE_LENGTH = 1000
"""Longer lines are broken for showing: a text widget takes half a minute for one line of a megabyte."""

MAX_SHOWN = 5_000_000
"""Most characters shown; Copy takes them all."""

MOST_WRAPPED = 60_000
"""Characters of prose that are wrapped to the width of the window; more is broken after `PAGE_WIDTH` characters, which is quicker."""

PAGE_WIDTH = 84
_SHORT, _FEW_LINES = 300, 8


class TextDialog(QDialog):
    """Shows a text and copies it whole. Open it with `open()`.

    Args:
        title: what it is.
        text: as long as it may be.
        prose: its lines may be broken between words; else, as in code and JSON, they stay as they are.
    """

    def __init__(self, title: str, text: str, parent: QWidget | None = None, *, prose: bool = False) -> None:
        super().__init__(parent)
        self.setObjectName("text_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        is_short = len(text) < _SHORT and text.count("\n") < _FEW_LINES
        self.resize(520 if is_short else 760, 240 if is_short else 560)
        self._text = text
        wraps = prose and len(text) <= MOST_WRAPPED
        shown = QPlainTextEdit(broken_lines(text[:MAX_SHOWN], PAGE_WIDTH if prose and not wraps else LINE_LENGTH))
        shown.setObjectName("full_text")
        shown.setAccessibleName(title)
        shown.setReadOnly(True)
        shown.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth if wraps else QPlainTextEdit.LineWrapMode.NoWrap)
        shown.setFont(theme.mono_font())
        facts = QLabel(_facts(text))
        facts.setTextFormat(Qt.TextFormat.PlainText)
        facts.setProperty("role", "secondary")
        copy = QPushButton(theme.icon("copy"), "Copy all")
        copy.setObjectName("copy_full_text")
        copy.setAccessibleName("Copy the whole text")
        copy.clicked.connect(self._on_copy)
        close = QPushButton("Close")
        close.setObjectName("close_full_text")
        close.setAccessibleName("Close")
        close.setDefault(True)
        close.clicked.connect(self.accept)
        buttons = QHBoxLayout()
        buttons.addWidget(facts, 1)
        buttons.addWidget(copy)
        buttons.addWidget(close)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(10, 10, 10, 10)
        layout.addWidget(shown, 1)
        layout.addLayout(buttons)

    def _on_copy(self) -> None:
        copy_text(self._text)


def broken_lines(text: str, length: int = LINE_LENGTH) -> str:
    """Return the text with invisible characters written out and long lines broken, between words where there are any.

    Args:
        text: any.
        length: most characters of a line that has words; other lines are broken after `LINE_LENGTH`.
    """
    return "\n".join(piece for line in visible_lines(text).split("\n") for piece in _pieces(line, length))


def _pieces(line: str, length: int) -> Iterator[str]:
    start = 0
    while len(line) - start > length:
        end = line.rfind(" ", start, start + length) + 1 or start + LINE_LENGTH
        yield line[start:end]
        start = end
    yield line[start:]


def _facts(text: str) -> str:
    facts = f"{len(text):,} characters"
    return facts if len(text) <= MAX_SHOWN else f"{facts}, the first {MAX_SHOWN:,} shown; Copy all takes everything"
