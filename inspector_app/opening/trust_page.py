"""The question whether to trust an agent's code before it first runs."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QListWidget, QPushButton, QWidget

from inspector_app.opening.page_card import PageCard
from inspector_app.widgets import theme
from inspector_app.widgets.icon_label import IconLabel

_WIDTH = 760
_MAX_FILES = 200
_SHOWN_FILES = 10


class TrustPage(QWidget):
    """A page that asks whether a folder is trusted.

    Signals:
        trusted (str): the user trusts the folder; this path may be loaded, now and later.
        declined: the user does not trust the folder.
    """

    trusted = Signal(str)
    declined = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("trust_page")
        self._path = ""
        column = PageCard(self, _WIDTH)
        rows = column.rows
        rows.addWidget(IconLabel(32, column, name="shield-halved", role="warn"))
        title = QLabel("Do you trust the code in this folder?", column)
        title.setProperty("role", "heading")
        rows.addWidget(title)
        self._folder = QLabel(column)
        self._folder.setObjectName("trust_folder")
        self._folder.setTextFormat(Qt.TextFormat.PlainText)
        self._folder.setWordWrap(True)
        self._folder.setFont(theme.mono_font())
        rows.addWidget(self._folder)
        text = QLabel(
            "Loading an agent runs its Python code, which can do everything your account can do. The answer is remembered for this folder.",
            column,
        )
        text.setWordWrap(True)
        rows.addWidget(text)
        self._files = QListWidget(column)
        self._files.setObjectName("trust_files")
        self._files.setAccessibleName("Python files in this folder")
        self._files.setFont(theme.mono_font())
        rows.addWidget(self._files)
        rows.addLayout(self._buttons(column))

    def ask(self, path: str, folder: Path, files: list[str]) -> None:
        """Ask about a folder.

        Args:
            path: the path to load.
            folder: the folder whose code would run.
            files: its Python files, relative to it.
        """
        self._path = path
        self._folder.setText(str(folder))
        self._files.clear()
        self._files.addItems(files[:_MAX_FILES])
        if len(files) > _MAX_FILES:
            self._files.addItem(f"… and {len(files) - _MAX_FILES} more")
        lines = min(max(self._files.count(), 2), _SHOWN_FILES)
        self._files.setFixedHeight(lines * self._files.sizeHintForRow(0) + 12 if files else 0)
        self._decline.setFocus()  # so that Enter gives the safe answer

    def _buttons(self, parent: QWidget) -> QHBoxLayout:
        line = QHBoxLayout()
        accept = QPushButton("Trust and load", parent)
        accept.setObjectName("trust_accept")
        accept.setProperty("primary", True)
        accept.clicked.connect(self._on_accept)
        self._decline = QPushButton("Don't load", parent)
        self._decline.setObjectName("trust_decline")
        self._decline.clicked.connect(self.declined)
        for button in (accept, self._decline):
            button.setAccessibleName(button.text())
            line.addWidget(button)
        line.addStretch(1)
        return line

    def _on_accept(self) -> None:
        self.trusted.emit(self._path)
