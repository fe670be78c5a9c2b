"""What the agent wrote during the selected event."""

from __future__ import annotations

from PySide6.QtGui import QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QStackedLayout, QWidget

from inspector_app.widgets import theme
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.layouts import named
from inspector_app.widgets.text_dialog import MOST_WRAPPED

NOTHING = (
    "Nothing was written during this event",
    "What the agent prints, logs and raises is shown here. Tracebacks are kept; printed lines only while this window is open.",
)


class OutputView(QWidget):
    """A pane with lines of output and tracebacks."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("output_view")
        self._shown = named(QPlainTextEdit(), "output_text", "Output during the event")
        self._shown.setProperty("bare", "true")
        self._shown.setReadOnly(True)
        self._shown.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        theme.use_mono(self._shown)
        empty = EmptyState(*NOTHING)
        empty.setProperty("card", "false")
        self._stack = QStackedLayout(self)
        self._stack.addWidget(empty)
        self._stack.addWidget(self._shown)

    def set_text(self, text: str) -> None:
        """Show a text; an empty one says that nothing was written."""
        if text != self._shown.toPlainText():
            wraps = len(text) <= MOST_WRAPPED
            self._shown.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth if wraps else QPlainTextEdit.LineWrapMode.NoWrap)
            self._shown.setPlainText(text)
        self._stack.setCurrentIndex(1 if text else 0)

    @property
    def text(self) -> str:
        """The text in the pane."""
        return self._shown.toPlainText()
