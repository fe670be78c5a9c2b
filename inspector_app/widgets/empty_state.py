"""The placeholder of an empty pane: why it is empty, and what to do."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from inspector_app.widgets.controls import plain_label
from inspector_app.widgets.layouts import laid_out


class EmptyState(QFrame):
    """Two centred lines of plain text. It has no keyboard focus of its own, but can receive it, so that the focus stays visible."""

    def __init__(self, title: str = "", hint: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("empty_state")
        self.setProperty("card", "true")
        self._title, self._hint = plain_label(wraps=True), plain_label(role="dim", wraps=True)
        for label in (self._title, self._hint):
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        laid_out(QVBoxLayout(self), 2, self._title, self._hint, 3, margins=(16, 8, 16, 8), spacing=4)
        self.set_text(title, hint)

    def set_text(self, title: str, hint: str = "") -> None:
        """Change the text.

        Args:
            title: why the pane is empty.
            hint: what to do next; may be empty.
        """
        self._title.setText(title)
        self._hint.setText(hint)
        self._hint.setVisible(bool(hint))
        self.setAccessibleName(" ".join(filter(None, [title, hint])))

    @property
    def text(self) -> tuple[str, str]:
        """The current title and hint."""
        return self._title.text(), self._hint.text()
