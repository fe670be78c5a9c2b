"""The question whether to trust an agent's code before it first runs."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QListWidget, QPushButton, QWidget

from inspector_app.opening.page_card import PageCard
from inspector_app.presentation.trust_question import TrustQuestion
from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.icon_label import IconLabel
from inspector_app.widgets.layouts import named

_WIDTH = 760
_MAX_FILES = 200
_SHOWN_FILES = 10
_MAX_ENV = 600  # characters of the sentence about `.env`; a file may set thousands of names
_TITLES = {
    "new": "Do you trust the code in this folder?",
    "changed": "The code in this folder, or what .env sets, has changed since you trusted it. Do you still trust it?",
    "replaced": "This folder has been replaced since you trusted it. Do you trust its code?",
}
_ACCEPT = "Trust and load"
_RUNS = "Loading an agent runs its Python code, which can do everything your account can do."


class TrustPage(QWidget):
    """A page that asks whether a folder is trusted.

    Signals:
        trusted (TrustQuestion, bool): the user trusts the code; True: also after it changes.
        install_requested (TrustQuestion, bool): likewise, and wants to install google-adk for the agent first.
        declined: the user does not trust the folder.
    """

    trusted = Signal(object, bool)
    install_requested = Signal(object, bool)
    declined = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("trust_page")
        self._question: TrustQuestion | None = None
        column = PageCard(self, _WIDTH)
        rows = column.rows
        rows.addWidget(IconLabel(32, column, name="shield-halved", role="warn"))
        self._title = plain_label(name="trust_title", role="heading", wraps=True, parent=column)
        rows.addWidget(self._title)
        self._folder = plain_label(name="trust_folder", wraps=True, parent=column)
        theme.use_mono(self._folder)
        rows.addWidget(self._folder)
        self._text = plain_label(wraps=True, parent=column)
        rows.addWidget(self._text)
        self._engine = plain_label(name="trust_engine", wraps=True, parent=column)
        rows.addWidget(self._engine)
        self._env = plain_label(name="trust_env", wraps=True, parent=column)
        rows.addWidget(self._env)
        self._files = named(QListWidget(column), "trust_files", "Code files in this folder")
        theme.use_mono(self._files)
        rows.addWidget(self._files)
        self._changes = named(
            QCheckBox("Trust changes here: later versions of this code are loaded without a question", column), "trust_changes"
        )
        rows.addWidget(self._changes)
        rows.addLayout(self._buttons(column))

    def ask(self, question: TrustQuestion) -> None:
        """Ask about a folder."""
        self._question = question
        code = question.code
        self._title.setText(_TITLES[question.reason])
        remembered = (
            "The answer is remembered until the code changes, or what .env sets."
            if code.digest is not None
            else "There is too much code here to notice changes, so the answer is for this time."
        )
        self._text.setText(f"{_RUNS} {remembered}")
        self._engine.setText(visible(question.engine))
        self._engine.setVisible(bool(question.engine))
        self._folder.setText(visible(str(code.folder)))
        env = visible(code.env)
        self._env.setText(env if len(env) <= _MAX_ENV else env[:_MAX_ENV] + "…")
        self._env.setVisible(bool(env))
        self._changes.setChecked(False)
        files = [visible(name) for name in code.files]
        self._files.clear()
        self._files.addItems(files[:_MAX_FILES])
        if len(files) > _MAX_FILES:
            self._files.addItem(f"… and {len(files) - _MAX_FILES} more")
        lines = min(max(self._files.count(), 2), _SHOWN_FILES)
        self._files.setFixedHeight(lines * self._files.sizeHintForRow(0) + 12 if files else 0)
        self._say(_ACCEPT)
        self._install.setVisible(question.lacks_adk)
        self._decline.setFocus()  # so that Enter gives the safe answer

    def _buttons(self, parent: QWidget) -> QHBoxLayout:
        line = QHBoxLayout()
        self._accept = named(QPushButton(_ACCEPT, parent), "trust_accept")
        self._accept.setProperty("primary", True)
        self._accept.clicked.connect(self._on_accept)
        self._decline = named(QPushButton("Don't load", parent), "trust_decline")
        self._decline.clicked.connect(self.declined)
        self._install = push_button("Trust, and install google-adk…", "trust_install", self._on_install, parent=parent)
        for button in (self._accept, self._install, self._decline):
            button.setAccessibleName(button.text())
            line.addWidget(button)
        line.addStretch(1)
        return line

    def _on_accept(self) -> None:
        question, self._question = self._question, None  # a second click changes nothing
        if question is not None:
            self._say("Loading…")
            self.trusted.emit(question, self._changes.isChecked())

    def _on_install(self) -> None:
        if self._question is not None:
            self.install_requested.emit(self._question, self._changes.isChecked())

    def _say(self, words: str) -> None:
        self._accept.setText(words)
        self._accept.setAccessibleName(words)
