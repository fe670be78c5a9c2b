"""The card that replaces a recorded answer or result, for a fork that continues from there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.icon_label import IconLabel
from inspector_app.widgets.json_editor import JsonEditor
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.tooltips import set_tooltip

_EDITOR_HEIGHT = 120


class OverrideCard(QWidget):
    """A card with an editor: Ctrl+Enter submits, Esc cancels.

    Signals:
        submitted (str): the user submitted this text, which is valid.
        cancelled: the user cancelled.
    """

    submitted = Signal(str)
    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        named(self, "override_card", "Replacement answer or result")
        self.setProperty("card", True)
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._before = ""
        icon = IconLabel(16, self, name="pen", role="accent")
        self._title = plain_label(name="override_title", wraps=True, parent=self)
        self._hint = plain_label(name="override_hint", role="dim", wraps=True, parent=self)
        self._editor = JsonEditor("override_editor", "Replacement", self)
        self._editor.setMaximumHeight(_EDITOR_HEIGHT)
        self._editor.changed.connect(self._show_buttons)
        self._submit = push_button(
            "Fork and continue from here",
            "override_submit",
            self._on_submit,
            icon=theme.icon("check", "on_accent"),
            primary=True,
            parent=self,
        )
        cancel = push_button("Cancel", "override_cancel", self._on_cancel, icon=theme.icon("xmark", "text"), parent=self)
        cancel.setToolTip("Change nothing (Esc)")
        head = laid_out(QHBoxLayout(), (icon, 0, Qt.AlignmentFlag.AlignTop), (self._title, 1), spacing=9)
        buttons = laid_out(QHBoxLayout(), self._submit, cancel, 1, spacing=6)
        laid_out(QVBoxLayout(self), head, self._hint, self._editor, buttons, margins=(12, 8, 8, 8), spacing=6)
        self.hide()

    @property
    def title(self) -> str:
        """The title; empty while the card is hidden."""
        return "" if self.isHidden() else self._title.text()

    def ask(self, title: str, hint: str, before: str, read: Callable[[str], Any]) -> None:
        """Show the recorded text for editing.

        Args:
            title: what is replaced.
            hint: what the fork does with it.
            before: the recorded text.
            read: parses the text; raises ValueError with a sentence if it is not valid.
        """
        self._title.setText(visible(title))
        self._hint.setText(visible(hint))
        self._before = before
        self._editor.set_reader(read)
        self._editor.set_text(before)
        self.show()
        self._show_buttons()
        self._editor.edit.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Submit with Ctrl+Enter; cancel with Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self._on_cancel()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._on_submit()
        else:
            super().keyPressEvent(event)

    def _show_buttons(self) -> None:
        same = self._editor.text == self._before
        problem = self._editor.problem or ("Nothing is changed yet. Edit the text first." if same else "")
        self._submit.setEnabled(not problem)
        set_tooltip(self._submit, problem or "Answered from the recording up to here, then live (Ctrl+Enter)")

    def _on_submit(self) -> None:
        if self._submit.isEnabled():
            self.hide()
            self.submitted.emit(self._editor.text)

    def _on_cancel(self) -> None:
        self.hide()
        self.cancelled.emit()
