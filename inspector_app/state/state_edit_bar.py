"""The bar below the state that edits, adds or clears a key, and undoes such an edit."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QStackedLayout, QVBoxLayout, QWidget

from inspector_app.widgets import theme
from inspector_app.widgets.controls import push_button
from inspector_app.widgets.elided_label import ElidedLabel
from inspector_app.widgets.json_editor import JsonEditor
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.tooltips import set_tooltip

PREFIXES = {"session": "", "user:": "user:", "app:": "app:"}
FORM_HEIGHT = 156


class StateEditBar(QWidget):
    """A row of buttons, or the form for one key in its place.

    Signals:
        edit_requested (dict): the user set a key: key with prefix → JSON value; None clears it.
        undo_requested: the user asked to undo the selected event, which is an edit.
    """

    edit_requested = Signal(dict)
    undo_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("state_edit_bar")
        self._blocked: str | None = "No session is selected."
        self._selected: tuple[str, Any] | None = None
        self._buttons = self._make_buttons()
        self._form = self._make_form()
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self._buttons)
        self._stack.addWidget(self._form)
        self._show_form(False)
        theme.current().changed.connect(self._fit)
        self.set_undo(False)
        self._show()

    def select(self, key: str | None, value: Any = None) -> None:
        """Set the selected key.

        Args:
            key: key with prefix; None if no editable key is selected.
            value: its current value.
        """
        self._selected = (key, value) if key is not None else None
        self._show()

    def set_blocked(self, reason: str | None) -> None:
        """Disable editing for a reason; None enables it."""
        self._blocked = reason
        if reason is not None:
            self._show_form(False)
        self._show()

    def set_undo(self, offered: bool) -> None:
        """Show or hide *Undo*; it is offered if the selected event is an edit."""
        self._undo.setVisible(offered)

    def start_edit(self) -> None:
        """Open the form for the selected key."""
        if self._blocked is None and self._selected is not None:
            self._open(*self._selected)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close the form with Esc; set the value with Ctrl+Enter."""
        if event.key() == Qt.Key.Key_Escape and self._stack.currentIndex() == 1:
            self._on_cancel()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self._on_set()
        else:
            super().keyPressEvent(event)

    def _open(self, key: str, value: Any) -> None:
        prefix = next((name for name, text in PREFIXES.items() if text and key.startswith(text)), "session")
        self._scope.setCurrentText(prefix)
        self._key.setText(key.removeprefix(PREFIXES[prefix]))
        self._editor.set_value(value)
        self._show_form(True)
        (self._editor.edit if key else self._key).setFocus()

    def _show_form(self, shown: bool) -> None:
        self._stack.setCurrentIndex(1 if shown else 0)
        self._fit()

    def _fit(self) -> None:
        self.setFixedHeight(theme.px(FORM_HEIGHT) if self._stack.currentIndex() == 1 else self._buttons.sizeHint().height())

    def _show(self) -> None:
        chosen = None if self._selected else "Select a key first. temp: keys, which exist only during an invocation, cannot be edited."
        for button, needs, does in (
            (self._edit, chosen, "Change the value (F2)"),
            (self._clear, chosen, "Set the key to null; keys cannot be removed from the state"),
            (self._add, None, "Add a new key"),
            (self._undo, None, "Commit another event that restores the values before this one"),
        ):
            blocked = self._blocked or needs
            button.setEnabled(blocked is None)
            set_tooltip(button, blocked or does)

    def _show_set(self) -> None:
        problem = self._editor.problem or ("" if self._key.text().strip() else "Enter a key.")
        self._set.setEnabled(not problem)
        set_tooltip(self._set, problem or "Commit the value (Ctrl+Enter)")

    def _on_edit(self) -> None:
        self.start_edit()

    def _on_add(self) -> None:
        self._open("", None)
        self._editor.edit.selectAll()  # typing replaces null

    def _on_clear(self) -> None:
        if self._selected is not None:
            self.edit_requested.emit({self._selected[0]: None})

    def _on_set(self) -> None:
        if self._set.isEnabled():
            key = PREFIXES[self._scope.currentText()] + self._key.text().strip()
            self._show_form(False)
            self.edit_requested.emit({key: self._editor.value})

    def _on_cancel(self) -> None:
        self._show_form(False)

    def _make_buttons(self) -> QWidget:
        bar = QWidget(self)
        self._edit = push_button("Edit…", "state_edit", self._on_edit, icon=theme.icon("pen", "text"), parent=self)
        self._add = push_button("Add…", "state_add", self._on_add, icon=theme.icon("plus", "text"), parent=self)
        self._clear = push_button("Clear", "state_clear", self._on_clear, icon=theme.icon("eraser", "text"), parent=self)
        self._undo = push_button("Undo", "state_undo", self.undo_requested.emit, icon=theme.icon("rotate-left", "text"), parent=self)
        laid_out(QHBoxLayout(bar), self._edit, self._add, self._clear, self._undo, 1, margins=(8, 4, 8, 6), spacing=6)
        return bar

    def _make_form(self) -> QWidget:
        form = QWidget(self)
        self._scope = named(QComboBox(form), "state_scope", "Scope")
        set_tooltip(self._scope, "Scope of the key")  # Qt names a box without a label by its choice
        self._scope.addItems(list(PREFIXES))
        self._scope.view().setObjectName("state_scopes")
        self._scope.view().setAccessibleName("Scopes")
        self._key = named(QLineEdit(form, placeholderText="key"), "state_key", "Key")
        self._editor = JsonEditor("state_value", "Value as JSON", form)
        self._set = push_button("Set", "state_set", self._on_set, icon=theme.icon("check", "text"), primary=True, parent=self)
        self._set.setIcon(theme.icon("check", "on_accent"))
        cancel = push_button("Cancel", "state_cancel", self._on_cancel, icon=theme.icon("xmark", "text"), parent=self)
        self._key.textChanged.connect(self._show_set)
        self._editor.changed.connect(self._show_set)
        self._note = ElidedLabel()
        self._note.setText("Committed as a system event")
        self._note.setToolTip("Committed after the last event, as an event by system")
        self._note.setProperty("role", "secondary")
        head = laid_out(QHBoxLayout(), self._scope, (self._key, 1))
        foot = laid_out(QHBoxLayout(), (self._note, 1), self._set, cancel)
        laid_out(QVBoxLayout(form), head, (self._editor, 1), foot, margins=(8, 4, 8, 6), spacing=6)
        return form
