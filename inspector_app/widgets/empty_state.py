"""What a pane shows while it has nothing to show: why, and what to do."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QVBoxLayout, QWidget


class EmptyState(QFrame):
    """Two centred lines of plain text on a pane's ground. It takes no keyboard, but may be given it, so that one sees where one went."""

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
        """Say something else.

        Args:
            title: why there is nothing.
            hint: what to do next; may be empty.
        """
        self._title.setText(title)
        self._hint.setText(hint)
        self._hint.setVisible(bool(hint))
        self.setAccessibleName(" ".join(filter(None, [title, hint])))

    @property
    def text(self) -> tuple[str, str]:
        """Title and hint as they stand."""
        return self._title.text(), self._hint.text()
