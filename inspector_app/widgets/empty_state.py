"""The placeholder of an empty pane: why it is empty, and what to do."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget


class EmptyState(QFrame):
    """Two centred lines of plain text. It has no keyboard focus of its own, but can receive it, so that the focus stays visible."""

    def __init__(self, title: str = "", hint: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("empty_state")
        self.setProperty("card", "true")
        self._title = QLabel()
        self._hint = QLabel()
        self._hint.setProperty("role", "dim")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 8, 16, 8)
        layout.setSpacing(4)
        layout.addStretch(2)
        for label in (self._title, self._hint):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
            label.setWordWrap(True)
            layout.addWidget(label)
        layout.addStretch(3)
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
