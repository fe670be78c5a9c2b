"""An editor for JSON that validates while the user types."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from inspector_app.presentation.json_text import parse_json
from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label
from inspector_app.widgets.json_view import JsonHighlighter
from inspector_app.widgets.layouts import laid_out, named

# The box asks for at least this many lines, and for at most this fraction (1/n) of the window's height.
LEAST_LINES, MOST_OF_WINDOW = 5, 5


class _Box(QPlainTextEdit):
    """A text box as high as its lines, so that short texts leave room for the other fields."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.blockCountChanged.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        """Return Qt's width and the height of the lines."""
        line, most = self.fontMetrics().lineSpacing(), self.window().height() // MOST_OF_WINDOW
        around = self.height() - self.viewport().height() + 2 * int(self.document().documentMargin())
        return QSize(super().sizeHint().width(), max(min(self.blockCount() * line, most), LEAST_LINES * line) + around)


class JsonEditor(QWidget):
    """A text box with an error message below it.

    Attributes:
        edit: the text box.
        value: the parsed value; only valid while `problem` is empty.
        problem: why the text is not valid; empty if it is.

    Signals:
        changed: the text or its reader changed.

    Args:
        name: object name of the text box.
        title: accessible name of the text box.
    """

    changed = Signal()

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._read: Callable[[str], Any] = parse_json
        self.edit = named(_Box(self), name, title)
        theme.use_mono(self.edit)
        self.edit.setTabChangesFocus(True)
        self.edit.textChanged.connect(self._on_text_changed)
        self._highlighter = JsonHighlighter(self.edit.document())
        self._problem = plain_label(name=f"{name}_problem", role="bad", wraps=True, parent=self)
        self._problem.hide()
        laid_out(QVBoxLayout(self), (self.edit, 1), self._problem, margins=0, spacing=4)
        self.value: Any = None
        self.problem = "Nothing is entered."

    @property
    def text(self) -> str:
        """The text as entered."""
        return self.edit.toPlainText()

    @property
    def is_empty(self) -> bool:
        """Whether the text is blank."""
        return not self.text.strip()

    def set_reader(self, read: Callable[[str], Any]) -> None:
        """Set the parser of the text.

        Args:
            read: parses the text; raises ValueError with a sentence if the text is not valid.
        """
        self._read = read
        self._on_text_changed()

    def set_value(self, value: Any) -> None:
        """Put a value into the box as indented JSON."""
        self.set_text(json.dumps(value, ensure_ascii=False, indent=2))

    def set_text(self, text: str) -> None:
        """Put a text into the box."""
        self.edit.setPlainText(text)

    def show_problem(self, text: str) -> None:
        """Show an error until the text changes."""
        self.problem = text
        self._problem.setText(visible(text))
        self._problem.setVisible(bool(text))
        self.edit.setProperty("state", "wrong" if text else "")
        theme.restyle(self.edit)

    def _on_text_changed(self) -> None:
        try:
            self.value = self._read(self.text)
            problem = ""
        except ValueError as error:
            problem = str(error)
        self.show_problem(problem if not self.is_empty else "")
        self.problem = problem
        self.changed.emit()
