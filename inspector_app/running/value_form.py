"""A form with one field per key for a small flat object, and a JSON editor for other values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from inspector_app.presentation.form_fields import FormField, fields_of_schema, fields_of_value, read, text_of
from inspector_app.presentation.json_text import parse_json
from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label
from inspector_app.widgets.elided_label import ElidedLabel
from inspector_app.widgets.json_editor import JsonEditor
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.tooltips import set_tooltip
from runtime.support.json_schema import misfit

Control = QCheckBox | QLineEdit | QComboBox
_TAKES_NO_ROOM = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)  # a hidden page adds to the height of a stack


class ValueForm(QWidget):
    """A form that edits a value.

    Signals:
        changed: the value or the form changed.

    Args:
        name: prefix of object names: `name_json` for the editor, `name_key` for a field.
        title: accessible name of the editor.
    """

    changed = Signal()

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self._fields: list[tuple[FormField, Control]] = []
        self._rules: list[ElidedLabel | None] = []
        self._check: Callable[[str, Any], str] = lambda key, value: ""
        self._editor = JsonEditor(f"{name}_json", title, self)
        self._editor.changed.connect(self.changed)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(self._editor)
        laid_out(QVBoxLayout(self), self._stack, margins=0)

    @property
    def problem(self) -> str:
        """Why the entered value is not valid; empty if it is."""
        if not self._fields:
            return self._editor.problem
        for field, control in self._fields:
            if problem := self._unreadable(field, control):
                return f"{visible(field.label or field.key)}: {problem}"
            if problem := self._unfit(field, control):
                return problem
        return ""

    @property
    def value(self) -> Any:
        """The entered value; valid only while `problem` is empty."""
        if not self._fields:
            return self._editor.value
        return {field.key: _value(field, control) for field, control in self._fields if field.required or not _is_empty(field, control)}

    @property
    def is_untouched(self) -> bool:
        """Whether nothing is entered."""
        return all(_is_empty(field, control) for field, control in self._fields) if self._fields else self._editor.is_empty

    def set_value(self, value: Any) -> None:
        """Build the form for a value and fill it in."""
        fields = fields_of_value(value)
        if fields is None:
            self._show_editor(parse_json)
            self._editor.set_value(value)
        else:
            self.set_fields(fields)

    def set_schema(self, schema: Mapping[str, Any]) -> None:
        """Build an empty form for a JSON schema."""

        def fitting(text: str) -> Any:
            value = parse_json(text)
            if problem := misfit(schema, value):
                raise ValueError(problem)
            return value

        fields = fields_of_schema(schema)
        if fields is None:
            self._show_editor(fitting)
            self._editor.set_text("")
        else:
            self.set_fields(fields)

    def set_fields(self, fields: Sequence[FormField], check: Callable[[str, Any], str] = lambda key, value: "") -> None:
        """Build a form of these fields.

        Args:
            fields: the fields.
            check: key and value → a sentence that names the key if the value is not valid, or an empty string.
        """
        self._clear()
        self._check = check
        self._editor.setSizePolicy(_TAKES_NO_ROOM)
        self._stack.setCurrentIndex(self._stack.addWidget(self._page(fields)))
        before: QWidget = self._editor.edit
        for _, control in self._fields:  # created after the widgets below, but Tab must reach them first
            QWidget.setTabOrder(before, control)
            before = control
        self.changed.emit()

    def clear(self) -> None:
        """Discard the entered value."""
        self._show_editor(parse_json)
        self._editor.set_text("")

    def focus(self) -> None:
        """Focus the first field that is not valid, else the first one."""
        wrong = (control for field, control in self._fields if self._unreadable(field, control) or self._unfit(field, control))
        (next(wrong, self._fields[0][1]) if self._fields else self._editor.edit).setFocus()

    def _show_editor(self, reader: Callable[[str], Any]) -> None:
        self._clear()
        self._editor.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self._editor.set_reader(reader)
        self.changed.emit()

    def _clear(self) -> None:
        self._fields, self._rules = [], []
        while (old := self._stack.widget(1)) is not None:
            self._stack.removeWidget(old)
            old.setParent(None)  # removed now, so that nothing finds it before it is deleted
            old.deleteLater()
        self._stack.setCurrentIndex(0)

    def _page(self, fields: Sequence[FormField]) -> QWidget:
        """Return a page with the fields in a column, which scrolls if it does not fit."""
        page = QWidget()
        form = QFormLayout(page)
        form.setContentsMargins(0, 0, 4, 0)
        form.setVerticalSpacing(5)
        for field in fields:
            title = visible((field.label or field.key)[:80])
            label = plain_label(title.replace("&", "&&"), role="dim", parent=page)
            set_tooltip(label, field.hint)
            control = named(self._control(field, page), f"{self._name}_{field.key}", title)
            set_tooltip(control, field.hint)
            self._fields.append((field, control))
            label.setBuddy(control)
            self._rules.append(self._add_row(form, label, control, field))
            control.ensurePolished()
            label.setMinimumHeight(control.sizeHint().height())  # centres the label in its row
        shown = _FieldsArea(self, widgetResizable=True)
        shown.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        shown.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        shown.setWidget(page)
        return shown

    def _add_row(self, form: QFormLayout, label: QLabel, control: Control, field: FormField) -> ElidedLabel | None:
        """Add a row to a form; return the line below its field, if it has one."""
        if not field.rule:
            form.addRow(label, control)
            return None
        rule = named(ElidedLabel(), f"{control.objectName()}_rule")
        rule.setProperty("role", "secondary")
        rule.setText(visible(field.rule))
        form.addRow(label, laid_out(QVBoxLayout(), control, rule, spacing=1))
        return rule

    def _control(self, field: FormField, page: QWidget) -> Control:
        if field.kind == "yes or no":
            box = QCheckBox(page)
            box.setChecked(bool(field.value))
            box.toggled.connect(self._on_edited)
            return box
        if field.kind == "choice":
            choices = QComboBox(page)
            choices.addItems(["", *field.choices] if field.value is None else list(field.choices))
            choices.setCurrentText(str(field.value or ""))
            choices.view().setObjectName(f"{self._name}_{field.key}_choices")
            choices.view().setAccessibleName(visible(field.key[:80]))
            choices.currentTextChanged.connect(self._on_edited)
            return choices
        line = QLineEdit(text_of(field), page, placeholderText=visible(field.hint[:80]))
        if field.kind == "secret":
            line.setEchoMode(QLineEdit.EchoMode.Password)
        line.textChanged.connect(self._on_edited)
        return line

    def _on_edited(self) -> None:
        for (field, control), rule in zip(self._fields, self._rules, strict=True):
            problem = self._unreadable(field, control) or self._unfit(field, control)
            if isinstance(control, QLineEdit):
                _restyle(control, "state", "wrong" if problem and (rule is not None or not _is_empty(field, control)) else "")
            if rule is not None:
                _restyle(rule, "role", "bad" if problem else "secondary")
                rule.setText(visible(problem or field.rule))
        self.changed.emit()

    def _unreadable(self, field: FormField, control: Control) -> str:
        """Return why a field's text is not of its kind; empty if it is."""
        try:
            if field.required or not _is_empty(field, control):
                _value(field, control)
        except ValueError as error:
            return str(error)
        return ""

    def _unfit(self, field: FormField, control: Control) -> str:
        """Return why a field's value is rejected; empty if it is not, or if the field is left out."""
        return self._check(field.key, _value(field, control)) if field.required or not _is_empty(field, control) else ""


class _FieldsArea(QScrollArea):
    """Scrolls fields; asks for their height, at most a third of the window's."""

    def sizeHint(self) -> QSize:
        """Return Qt's width and the height of the fields."""
        fields = self.widget()
        inside = fields.sizeHint().height() if fields is not None else 0
        return QSize(super().sizeHint().width(), min(inside, self.window().height() // 3))


def _restyle(widget: QWidget, name: str, value: str) -> None:
    if widget.property(name) != value:
        widget.setProperty(name, value)
        theme.restyle(widget)


def _filled_in(control: Control) -> str:
    return control.currentText() if isinstance(control, QComboBox) else control.text()


def _is_empty(field: FormField, control: Control) -> bool:
    return not isinstance(control, QCheckBox) and not _filled_in(control)


def _value(field: FormField, control: Control) -> Any:
    return control.isChecked() if isinstance(control, QCheckBox) else read(field, _filled_in(control))
