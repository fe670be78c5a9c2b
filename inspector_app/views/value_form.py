"""A form made from a JSON value: a field for each key of a small flat object, else a JSON editor."""

from __future__ import annotations

import json
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QFormLayout, QLabel, QLineEdit, QStackedWidget, QVBoxLayout, QWidget

from inspector_app.values import visible
from inspector_app.views.json_editor import JsonEditor, parse_json

MAX_FIELDS = 8


class ValueForm(QWidget):
    """Lets a person change a value without leaving its types.

    Signals:
        changed: something else is filled in.
    """

    changed = Signal()

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._fields: dict[str, QCheckBox | QLineEdit] = {}
        self._given: Any = None
        self._editor = JsonEditor(f"{name}_json", title)
        self._editor.changed.connect(self.changed)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self._editor)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.addWidget(self._stack)

    @property
    def problem(self) -> str:
        """Why what is filled in is no value of its kind; empty if it is one."""
        if not self._fields:
            return self._editor.problem
        for key, field in self._fields.items():
            if isinstance(field, QLineEdit) and (problem := _problem(self._given[key], field.text())):
                return f"{visible(key)}: {problem}"
        return ""

    @property
    def value(self) -> Any:
        """What is filled in; to be asked for only without a problem."""
        if not self._fields:
            return self._editor.value
        return {key: _read(self._given[key], field) for key, field in self._fields.items()}

    def set_value(self, value: Any) -> None:
        """Make the form for a value, and fill it in."""
        self._given = value
        self._fields = {}
        while (old := self._stack.widget(1)) is not None:
            self._stack.removeWidget(old)
            old.deleteLater()
        if isinstance(value, dict) and 0 < len(value) <= MAX_FIELDS and all(_is_plain(item) for item in value.values()):
            self._stack.setCurrentIndex(self._stack.addWidget(self._make_fields(value)))
        else:
            self._stack.setCurrentIndex(0)
            self._editor.set_value(value)
        self.changed.emit()

    def _make_fields(self, value: dict[str, Any]) -> QWidget:
        page = QWidget(self)
        form = QFormLayout(page)
        form.setContentsMargins(0, 0, 0, 0)
        form.setVerticalSpacing(5)
        for key, item in value.items():
            label = QLabel(visible(key[:80]), page)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setProperty("role", "dim")
            field = QCheckBox(page) if isinstance(item, bool) else QLineEdit(_text(item), page)
            if isinstance(field, QCheckBox):
                field.setChecked(bool(item))
                field.toggled.connect(self.changed)
            else:
                field.textChanged.connect(self._on_text_changed)
            field.setObjectName(f"{self._name}_{key}")
            field.setAccessibleName(visible(key[:80]))
            self._fields[key] = field
            form.addRow(label, field)
        return page

    def _on_text_changed(self) -> None:
        for key, field in self._fields.items():
            if isinstance(field, QLineEdit):
                state = "wrong" if _problem(self._given[key], field.text()) else ""
                if field.property("state") != state:
                    field.setProperty("state", state)
                    field.style().unpolish(field)
                    field.style().polish(field)
        self.changed.emit()


def _is_plain(item: Any) -> bool:
    return item is None or isinstance(item, (bool, int, float)) or (isinstance(item, str) and "\n" not in item and len(item) <= 200)


def _text(item: Any) -> str:
    return item if isinstance(item, str) else json.dumps(item)


def _problem(given: Any, text: str) -> str:
    if isinstance(given, str):
        return ""
    try:
        value = parse_json(text)
    except ValueError:
        return "a number is expected." if given is not None else "a JSON value is expected; texts stand in double quotes."
    if given is not None and (isinstance(value, bool) or not isinstance(value, (int, float))):
        return "a number is expected."
    return "a whole number is expected." if isinstance(given, int) and not isinstance(value, int) else ""


def _read(given: Any, field: QCheckBox | QLineEdit) -> Any:
    if isinstance(field, QCheckBox):
        return field.isChecked()
    return field.text() if isinstance(given, str) else parse_json(field.text())
