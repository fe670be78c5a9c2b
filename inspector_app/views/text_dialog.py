"""A long text in full, in a window of its own."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from inspector_app import theme
from inspector_app.values import visible_lines
from inspector_app.views.copying import copy_text

LINE_LENGTH = 1000
"""Longer lines are broken for showing: a text widget takes half a minute for one line of a megabyte."""

MAX_SHOWN = 5_000_000
"""Most characters shown; Copy takes them all."""

MOST_WRAPPED = 60_000
"""Characters of prose that are broken between words; of more the lines stay as they are, which is quicker."""


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
        self.resize(760, 560)
        self._text = text
        shown = QPlainTextEdit(broken_lines(text[:MAX_SHOWN]))
        shown.setObjectName("full_text")
        shown.setAccessibleName(title)
        shown.setReadOnly(True)
        wraps = prose and len(text) <= MOST_WRAPPED
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


def broken_lines(text: str) -> str:
    """Return the text with invisible characters written out and lines broken after `LINE_LENGTH` characters."""
    lines = visible_lines(text).split("\n")
    return "\n".join(line[start : start + LINE_LENGTH] for line in lines for start in range(0, max(len(line), 1), LINE_LENGTH))


def _facts(text: str) -> str:
    facts = f"{len(text):,} characters"
    return facts if len(text) <= MAX_SHOWN else f"{facts}, the first {MAX_SHOWN:,} shown; Copy all takes everything"
