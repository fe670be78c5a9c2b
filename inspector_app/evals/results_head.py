"""The top of a page of results: what was run, how far it is, and the buttons."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.elided_label import ElidedLabel
from inspector_app.widgets.layouts import laid_out, named


class ResultsHead(QWidget):
    """Two lines of text with buttons at the right, and the progress below while something runs.

    Attributes:
        cancel: ends what runs; visible only then.
        close_button: leaves the page.

    Signals:
        cancelled: the user wants to end what runs.
        left: the user wants to leave the page.

    Args:
        name: begins the parts' object names.
    """

    cancelled = Signal()
    left = Signal()

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._title, self._facts = ElidedLabel(), ElidedLabel()
        for label, what, role in ((self._title, "title", "name"), (self._facts, "facts", "secondary")):
            label.setObjectName(f"{name}_{what}")
            label.setProperty("role", role)
        self._state = plain_label(name=f"{name}_state", parent=self)
        self._progress = named(QProgressBar(self, textVisible=False), f"{name}_progress", "Progress")
        self.cancel = self.button("cancel", "stop", "Cancel", "bad")
        self.cancel.clicked.connect(self.cancelled)
        self.close_button = self.button("close", "xmark", "Back to the sessions", text="")
        self.close_button.setToolTip("Back to the sessions (Esc)")
        self.close_button.clicked.connect(self.left)
        self._buttons = QHBoxLayout()
        self._buttons.setSpacing(6)
        self._lay_out()
        self.show_progress("", 0, 0)

    @property
    def state(self) -> str:
        """How far it is, or how it ended."""
        return self._state.text()

    @property
    def facts(self) -> str:
        """The second line."""
        return self._facts.text()

    def button(self, name: str, icon: str, accessible: str, role: str = "text", text: str | None = None) -> QPushButton:
        """Return a new button; see `add`.

        Args:
            name: ends its object name.
            icon, role: a theme icon, and the role of its colour.
            accessible: what it does.
            text: its text; None: what it does.
        """
        return push_button(
            accessible if text is None else text, f"{self._name}_{name}", icon=theme.icon(icon, role), does=accessible, parent=self
        )

    def add(self, *buttons: QPushButton) -> None:
        """Add buttons before the one that leaves the page."""
        for button in buttons:
            self._buttons.insertWidget(self._buttons.count() - 1, button)
        for before, after in pairwise((*buttons, self.close_button)):  # as they are laid out, not as they were made
            self.setTabOrder(before, after)

    def leave_with_escape(self, page: QWidget) -> None:
        """Let Escape leave a page."""
        shortcut = QShortcut(QKeySequence(Qt.Key.Key_Escape), page, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self.left)

    def set_title(self, title: str, facts: str) -> None:
        """Set the two lines."""
        for label, text in ((self._title, title), (self._facts, facts)):
            label.setText(visible(text))

    def show_progress(self, state: str, done: int, of: int) -> None:
        """Show how far it is.

        Args:
            state: a sentence.
            done, of: what is done, and the whole; the same if nothing runs.
        """
        is_running = done < of
        self._state.setText(visible(state))
        self._state.setVisible(bool(state))
        self._progress.setRange(0, max(of, 1))
        self._progress.setValue(done)
        for part in (self._progress, self.cancel):
            part.setVisible(is_running)

    def _lay_out(self) -> None:
        words = laid_out(QVBoxLayout(), self._title, self._facts, spacing=0)
        self._buttons.addWidget(self.close_button)
        line = laid_out(QHBoxLayout(), (words, 1), self._buttons, spacing=8)
        below = laid_out(QHBoxLayout(), self._state, (self._progress, 1), self.cancel, spacing=10)
        laid_out(QVBoxLayout(self), line, below, margins=(8, 0, 0, 0), spacing=6)
