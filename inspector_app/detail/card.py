"""A card of the inspector: a title with small actions at its right, above its content."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label
from inspector_app.widgets.elided_label import ElidedLabel
from inspector_app.widgets.layouts import laid_out, named


class Card(QFrame):
    """A titled card. Hidden until it is shown.

    Args:
        name: its object name.
        title: its title.
        content: what it holds, from top to bottom.
    """

    def __init__(self, name: str, title: str, *content: QWidget) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setProperty("card", "true")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._title = named(ElidedLabel(), f"{name}_title")
        self._title.setProperty("role", "title")
        self._title.setText(title)
        self.aside = plain_label(name=f"{name}_aside", role="secondary")
        self.head = laid_out(QHBoxLayout(), (self._title, 1), self.aside, spacing=4)
        laid_out(QVBoxLayout(self), self.head, *content, margins=(10, 7, 8, 8), spacing=5)
        self.hide()

    def set_title(self, title: str, aside: str = "") -> None:
        """Set the title, and the words at its right."""
        self._title.setText(title)
        self.aside.setText(aside)

    @property
    def title(self) -> str:
        """The title."""
        return self._title.text()

    def action(self, words: str, name: str, does: str, slot: Callable[[], object]) -> QToolButton:
        """Add a small button at the right of the title and return it.

        Args:
            words: its text.
            name: its object name.
            does: its accessible name.
            slot: called when it is pressed.
        """
        made = named(QToolButton(self), name, does)
        made.setText(words)
        made.setProperty("code", "true")
        made.clicked.connect(slot)
        self.head.addWidget(made)
        return made


class FoldedCard(Card):
    """A card whose content is hidden until its title, which has the content's beginning, is pressed."""

    def __init__(self, name: str, title: str, *content: QWidget) -> None:
        super().__init__(name, title, *content)
        self._content = content
        self._title.setProperty("role", "secondary")
        self.fold = named(QToolButton(self), f"{name}_fold", f"Show the {title.lower()}")
        self.fold.setCheckable(True)
        self.fold.setProperty("fold", "true")
        theme.keep_icon_size(self.fold, 10)
        self.head.insertWidget(0, self.fold)
        self.fold.toggled.connect(self._on_toggled)
        self._on_toggled(False)

    def _on_toggled(self, is_open: bool) -> None:
        self.fold.setIcon(theme.icon("chevron-down" if is_open else "chevron-right", "dim"))
        for widget in self._content:
            widget.setVisible(is_open)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Fold or unfold at a press on the title."""
        if event.button() == Qt.MouseButton.LeftButton and event.position().y() <= self._title.geometry().bottom() + 6:
            self.fold.toggle()
        super().mousePressEvent(event)
