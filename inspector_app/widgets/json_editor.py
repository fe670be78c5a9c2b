"""A box to write JSON in, checked while it is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from inspector_app.presentation.json_text import parse_json
from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.json_view import JsonHighlighter

LEAST_LINES, MOST_OF_WINDOW = 5, 5
"""Lines that a box asks room for, whatever stands in it; at most room for a fifth of the window."""


class _Box(QPlainTextEdit):
    """Asks room for its lines, so that a short text leaves room to what stands beside it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.blockCountChanged.connect(self.updateGeometry)

    def sizeHint(self) -> QSize:
        """Return Qt's own width, and the height of its lines."""
        line, most = self.fontMetrics().lineSpacing(), self.window().height() // MOST_OF_WINDOW
        around = self.height() - self.viewport().height() + 2 * int(self.document().documentMargin())
        return QSize(super().sizeHint().width(), max(min(self.blockCount() * line, most), LEAST_LINES * line) + around)


class JsonEditor(QWidget):
    """A text box, and below it what is wrong with the text.

    Signals:
        changed: the text is another one.

    Args:
        name: objectName of the box.
        title: its accessible name.
    """

    changed = Signal()

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._read: Callable[[str], Any] = parse_json
        self.edit = _Box(self)
        self.edit.setObjectName(name)
        self.edit.setAccessibleName(title)
        self.edit.setFont(theme.mono_font())
        self.edit.setTabChangesFocus(True)
        self.edit.textChanged.connect(self._on_text_changed)
        self._highlighter = JsonHighlighter(self.edit.document())
        self._problem = QLabel(self)
        self._problem.setObjectName(f"{name}_problem")
        self._problem.setTextFormat(Qt.TextFormat.PlainText)
        self._problem.setWordWrap(True)
        self._problem.setProperty("role", "bad")
        self._problem.hide()
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(4)
        rows.addWidget(self.edit, 1)
        rows.addWidget(self._problem)
        self.value: Any = None
        self.problem = "It is empty."

    @property
    def text(self) -> str:
        """What is written."""
        return self.edit.toPlainText()

    @property
    def is_empty(self) -> bool:
        """Whether nothing is written."""
        return not self.text.strip()

    def set_reader(self, read: Callable[[str], Any]) -> None:
        """Take another kind of text.

        Args:
            read: text → value; raises ValueError with a sentence if it is none.
        """
        self._read = read
        self._on_text_changed()

    def set_value(self, value: Any) -> None:
        """Put a JSON value into the box, written readably."""
        self.set_text(json.dumps(value, ensure_ascii=False, indent=2))

    def set_text(self, text: str) -> None:
        """Put a text into the box."""
        self.edit.setPlainText(text)

    def show_problem(self, text: str) -> None:
        """Say what is wrong, until something is changed."""
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
