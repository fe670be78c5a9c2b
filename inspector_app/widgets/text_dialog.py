"""A long text in a dialog of its own."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtWidgets import QDialog, QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from inspector_app.presentation.values import counted, visible_lines
from inspector_app.widgets import theme
from inspector_app.widgets.clipboard import copy_text
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.layouts import laid_out, named, set_up_dialog

LINE_LENGTH = 1000  # characters; longer lines are broken, because a text widget lays out a line of a megabyte very slowly
MAX_SHOWN = 5_000_000  # characters shown; Copy all copies the whole text
MOST_WRAPPED = 60_000  # characters of prose wrapped to the window's width; longer prose is broken at `PAGE_WIDTH`, which is faster
PAGE_WIDTH = 84
_SHORT, _FEW_LINES = 300, 8


class TextDialog(QDialog):
    """A dialog that shows a text and copies all of it. Open it with `open()`.

    Args:
        title: title of the dialog.
        text: a text of any length.
        prose: whether lines may be broken between words; lines of code and JSON stay whole.
    """

    def __init__(self, title: str, text: str, parent: QWidget | None = None, *, prose: bool = False) -> None:
        super().__init__(parent)
        is_short = len(text) < _SHORT and text.count("\n") < _FEW_LINES
        set_up_dialog(self, "text_dialog", title, *((520, 240) if is_short else (760, 560)))
        self._text = text
        wraps = prose and len(text) <= MOST_WRAPPED
        lines = broken_lines(text[:MAX_SHOWN], PAGE_WIDTH if prose and not wraps else LINE_LENGTH)
        shown = named(QPlainTextEdit(lines, readOnly=True), "full_text", title)
        shown.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth if wraps else QPlainTextEdit.LineWrapMode.NoWrap)
        theme.use_mono(shown)
        facts = plain_label(_facts(text), role="secondary")
        copy = push_button("Copy all", "copy_full_text", self._on_copy, icon=theme.icon("copy"), does="Copy the whole text")
        close = push_button("Close", "close_full_text", self.accept, default=True)
        buttons = laid_out(QHBoxLayout(), (facts, 1), copy, close)
        laid_out(QVBoxLayout(self), (shown, 1), buttons, margins=10)

    def _on_copy(self) -> None:
        copy_text(self._text)


def broken_lines(text: str, length: int = LINE_LENGTH) -> str:
    """Return the text with invisible characters made visible and long lines broken, between words where possible.

    Args:
        text: any text.
        length: maximum length of a line with spaces; other lines are broken at `LINE_LENGTH`.
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
    facts = counted(len(text), "character")
    return facts if len(text) <= MAX_SHOWN else f"{facts}, the first {MAX_SHOWN:,} shown; Copy all copies everything"
