"""The card of a held agent: where and why it is held, and what to do instead of its next call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from inspector_app.presentation.form_fields import fields_of_call
from inspector_app.presentation.json_text import parse_json_object
from inspector_app.presentation.values import visible
from inspector_app.running.value_form import ValueForm
from inspector_app.running.view_data import HoldText
from inspector_app.widgets import theme
from inspector_app.widgets.brief_pause import BriefPause
from inspector_app.widgets.button_flow import ButtonFlow
from inspector_app.widgets.code_button import CodeButton
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.elided_label import ElidedLabel
from inspector_app.widgets.json_editor import JsonEditor
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.tooltips import set_tooltip
from runtime.support.json_schema import misfit

CallKind = Literal["tool", "model", "failed tool", "failed model"]
Choice = Literal["call", "result", "raise", "answer"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with the held call when the agent continues.

    Attributes:
        choice: make the call, replace its result, make it raise, or answer for the model.
        value: for `call`, the changed arguments or request, or None; else the result, the error text, or the answer.
    """

    choice: Choice
    value: Any


_PLACEHOLDERS: dict[Choice, str] = {
    "call": "",
    "result": 'A result to use instead, such as {"status": "paid"}',
    "raise": "Message of the exception",
    "answer": "The model's answer: plain text, or a response with calls as JSON",
}
# Kind of call → the words and icons of its choices. The first is the text of the main button.
_WORDS: dict[CallKind, dict[Choice, tuple[str, str]]] = {
    "tool": {"call": ("Call it", "play"), "result": ("Give a result…", "pen"), "raise": ("Make it fail…", "bolt")},
    "model": {"call": ("Call the model", "play"), "answer": ("Give an answer…", "reply")},
    "failed tool": {"call": ("Let it fail", "play"), "result": ("Give a result…", "pen"), "raise": ("Make it fail…", "bolt")},
    "failed model": {"call": ("Let it fail", "play"), "answer": ("Give an answer…", "reply")},
}
# Choice → the text of the main button, short so that the buttons are beside each other, and its whole meaning.
_SUBMITS: dict[Choice, tuple[str, str]] = {
    "result": ("Use it", "Use this result"),
    "raise": ("Fail", "Fail with this message"),
    "answer": ("Use it", "Use this answer"),
}
_KEYS = "F5 continues, F10 steps to the next event"


class HeldCard(QWidget):
    """A card that describes a hold. Its decision applies however the agent continues: with its buttons, F5 or a step.

    The buttons are its last line and keep their places: the card grows above them.

    Attributes:
        code: opens the code behind the hold.

    Signals:
        continue_requested: the user pressed a button that continues.
        focus_given_up: the card had the keyboard focus when its hold ended.
    """

    continue_requested = Signal()
    focus_given_up = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        named(self, "held_card", "Held")
        self.setProperty("card", "held")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)  # leaves the rest to the state
        self.code = CodeButton("held_code", self)
        self._kind: CallKind | None = None
        self._choice: Choice = "call"
        self._before: dict[str, Any] = {}
        self._schema: Mapping[str, Any] | None = None
        self._drafts: dict[Choice, str] = {}
        self._pause = BriefPause(self)
        self._pause.changed.connect(self._show_buttons)
        self._title = plain_label(name="held_title", role="warn", parent=self)
        self._subject = named(ElidedLabel(), "held_subject")
        self._subject.setProperty("role", "name")
        self._why = plain_label(name="held_why", role="dim", wraps=True, parent=self)
        self._failure = plain_label(name="held_failure", role="bad", wraps=True, parent=self)
        self._problem = plain_label(name="held_problem", role="bad", wraps=True, parent=self)
        self._beside = plain_label(name="held_beside", role="dim", wraps=True, parent=self)
        self._form = ValueForm("held_field", "Arguments of the call", self)
        self._form.changed.connect(self._on_edited)
        self._editor = JsonEditor("held_editor", "Arguments of the call", self)
        self._editor.changed.connect(self._on_edited)
        self._as_json = self._link("As JSON", "held_json", "Edit the arguments as JSON")
        self._as_json.setCheckable(True)
        self._as_json.clicked.connect(self._on_as_json)
        self._undo = self._link("Undo", "held_undo", "Restore the original arguments (Ctrl+Z)")
        self._undo.clicked.connect(self._on_undo)
        head = laid_out(QHBoxLayout(), self._title, (self._subject, 1), self.code, spacing=5)
        laid_out(
            QVBoxLayout(self),
            head,
            laid_out(QHBoxLayout(), (self._why, 1), self._undo, self._as_json, spacing=2),
            self._failure,
            self._beside,
            (self._form, 1),
            (self._editor, 1),
            self._problem,
            self._make_buttons(),
            margins=(10, 9, 10, 9),
            spacing=6,
        )
        self.hide()

    @property
    def text(self) -> str:
        """The title, subject and reason; empty while the card is hidden."""
        return "" if self.isHidden() else " ".join((self._title.text(), self._subject.text(), self._why.text()))

    @property
    def beside(self) -> str:
        """The text about parallel branches."""
        return self._beside.text()

    @property
    def decision(self) -> Decision | None:
        """The user's decision; None if there is no call to decide about.

        Raises:
            ValueError: the text is not valid; the message says why.
        """
        if self._kind is None:
            return None
        if self._choice == "raise":
            return Decision("raise", self._editor.text.strip() or "raised manually")
        if not self._is_fixed and (problem := self._wrong):
            raise ValueError(problem)
        if self._choice == "call":
            return Decision("call", self._value if self._is_changed else None)
        return Decision(self._choice, self._editor.value)

    def show_hold(
        self, words: HoldText, kind: CallKind | None, before: dict[str, Any] | None, schema: Mapping[str, Any] | None = None
    ) -> None:
        """Show a hold.

        Args:
            words: its description.
            kind: kind of the held or failed call; None at other places.
            before: the arguments of the tool call, or the model request.
            schema: JSON schema of the tool's arguments; None if it is not known.
        """
        self._kind, self._before, self._drafts = kind, before or {}, {}
        self._schema = schema
        self._title.setText(words.title)
        self._subject.setText(words.subject)
        self._why.setText(f"{words.why} · {_KEYS}")
        set_tooltip(self._why, words.why)
        self._failure.setText(words.failure)
        self._failure.setVisible(bool(words.failure))
        self.show_beside(words.beside)
        fields = fields_of_call(schema, self._before) if kind == "tool" else None
        self._as_json.setVisible(fields is not None)
        self._as_json.setChecked(fields is None)
        self._form.clear()
        if fields is not None:
            self._form.set_fields(fields, self._misfit)
        self._name_buttons()
        self._choose("call")
        self.show()

    def give_up_focus(self) -> None:
        """Emit `focus_given_up` if the card has the focus; Qt would focus the next widget, where Ctrl+Enter may have another effect."""
        focus = self.window().focusWidget()
        if focus is not None and self.isAncestorOf(focus):
            self.focus_given_up.emit()

    def show_beside(self, text: str) -> None:
        """Show what parallel branches are doing; an empty text hides the line."""
        self._beside.setText(text)
        self._beside.setVisible(bool(text))

    def show_problem(self, text: str) -> None:
        """Show why the decision cannot be applied, and focus what is to be changed."""
        if self._form.isVisibleTo(self):
            self._say_wrong(text)
            self._form.focus()
        else:
            self._editor.show_problem(text)
            self._editor.edit.setFocus()

    def sizeHint(self) -> QSize:
        """Return Qt's width, and the height that the texts need at the present width; the card grows no higher than this."""
        hint, layout = super().sizeHint(), self.layout()
        height = layout.heightForWidth(self.width()) if layout is not None and self.width() else -1
        return QSize(hint.width(), max(height, hint.height()) if height >= 0 else hint.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for the height at the new width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Continue with Ctrl+Enter; return to the call with Esc; undo with Ctrl+Z where no text is being edited."""
        if event.key() == Qt.Key.Key_Escape and self._choice != "call":
            self._choose("call")
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.continue_requested.emit()
        elif event.matches(QKeySequence.StandardKey.Undo) and self._undo.isVisible():
            self._on_undo()
        else:
            super().keyPressEvent(event)

    @property
    def _is_fixed(self) -> bool:
        """Whether there is nothing to edit: the call has been made, and failed."""
        return self._choice == "call" and self._kind is not None and self._kind.startswith("failed")

    @property
    def _has_fields(self) -> bool:
        return self._choice == "call" and not self._as_json.isChecked()

    @property
    def _value(self) -> Any:
        return self._form.value if self._has_fields else self._editor.value

    @property
    def _wrong(self) -> str:
        """Why what is entered is not valid; empty if it is. The model's own arguments may be wrong: reporting that is up to the tool."""
        problem = self._form.problem if self._has_fields else self._editor.problem
        is_call = self._choice == "call" and self._schema is not None and not problem
        return misfit(self._schema or {}, self._value) if is_call and self._value != self._before else problem

    @property
    def _is_changed(self) -> bool:
        """Whether the call would be made with other arguments, or another request, if they are valid."""
        if self._kind is None or self._choice != "call" or self._is_fixed:
            return False
        return bool(self._form.problem if self._has_fields else self._editor.problem) or self._value != self._before

    def _misfit(self, key: str, value: Any) -> str:
        if key in self._before and self._before[key] == value:
            return ""
        return misfit({**(self._schema or {}), "required": []}, {key: value})

    def _choose(self, choice: Choice) -> None:
        if self._choice != choice:
            self._drafts[self._choice] = self._editor.text
        self._choice = choice
        writes = self._kind is not None and not self._is_fixed
        self._form.setVisible(writes and self._has_fields)
        self._editor.setVisible(writes and not self._has_fields)
        self._editor.set_reader({"answer": _read_answer, "raise": str, "result": parse_json_object}.get(choice, self._read_call))  # type: ignore[arg-type]
        self._editor.edit.setPlaceholderText(_PLACEHOLDERS[choice])
        self._editor.edit.setAccessibleName(_PLACEHOLDERS[choice] or ("Arguments" if self._kind == "tool" else "Request"))
        written = self._drafts.get(choice)
        if written is None and choice == "call":
            self._editor.set_value(self._before)
        else:
            self._editor.set_text(written or "")
        if choice != "call":
            self._editor.edit.setFocus()
        self._on_edited()

    def _read_call(self, text: str) -> dict[str, Any]:
        value = parse_json_object(text)
        if self._schema is not None and value != self._before and (problem := misfit(self._schema, value)):
            raise ValueError(problem)
        return value

    def _link(self, text: str, name: str, does: str) -> QToolButton:
        link = named(QToolButton(self), name, does)
        link.setText(text)
        link.setProperty("code", "true")
        set_tooltip(link, does)
        kept = link.sizePolicy()
        kept.setRetainSizeWhenHidden(True)
        link.setSizePolicy(kept)
        link.hide()
        return link

    def _make_buttons(self) -> ButtonFlow:
        self._call = push_button("Call it", "held_call", self._on_pressed, primary=True, parent=self)
        self._others: dict[Choice, QPushButton] = {}
        for choice, (text, _) in (*_WORDS["tool"].items(), *_WORDS["model"].items()):
            if choice == "call":
                continue
            button = push_button(text, f"held_{choice}", self._on_other, parent=self)
            button.setCheckable(True)
            button.setProperty("choice", choice)
            self._others[choice] = button
        self._choices = ButtonFlow(self)
        return self._choices

    def _name_buttons(self) -> None:
        """Show the buttons for this kind of call; none changes its place or width until the hold ends."""
        words = _WORDS[self._kind] if self._kind is not None else {}
        shown = [self._call, *(self._others[choice] for choice in words if choice != "call")] if words else []
        for choice, button in self._others.items():
            if choice in words:
                text, icon = words[choice]
                button.setText(text)
                button.setAccessibleName(text)
                button.setIcon(theme.icon(icon, "bad" if choice == "raise" else "text"))
            button.setVisible(choice in words)
        self._call.setVisible(bool(words))
        if words:
            self._call.setIcon(theme.icon("play", "on_accent"))
            self._call.setMinimumWidth(0)
            self._call.ensurePolished()
            widths = []
            for text in (words["call"][0], *(_SUBMITS[choice][0] for choice in words if choice != "call")):
                self._call.setText(text)
                widths.append(self._call.sizeHint().width())
            self._call.setMinimumWidth(max(widths))
        self._choices.set_buttons(shown)

    def _on_edited(self) -> None:
        self._say_wrong(self._wrong if self._has_fields and not self._form.problem else "")
        self._show_buttons()

    def _say_wrong(self, text: str) -> None:
        self._problem.setText(visible(text))
        self._problem.setVisible(bool(text))

    def _show_buttons(self) -> None:
        if self._kind is None:
            return
        choice, problem = self._choice, "" if self._is_fixed or self._choice == "raise" else self._wrong
        call = _WORDS[self._kind]["call"][0]
        text, does = _SUBMITS.get(choice, (call, call))
        self._call.setText(text)
        self._call.setAccessibleName(does)
        self._call.setEnabled(not problem and not self._pause.is_on)
        set_tooltip(self._call, problem or "Continue with this (Ctrl+Enter). F10 also applies it, and holds at the next event")
        for other, button in self._others.items():
            button.setChecked(other == choice)
            button.setEnabled(not self._pause.is_on)
            set_tooltip(button, "Press again to make the call after all (Esc)" if other == choice else "")
        self._as_json.setEnabled(choice == "call")
        self._undo.setVisible(self._is_changed)

    def _on_pressed(self) -> None:
        self.give_up_focus()  # else Qt moves the focus of the disabled button to the next widget
        self._pause.begin()
        self.continue_requested.emit()

    def _on_other(self) -> None:
        choice = self.sender().property("choice")
        self._choose("call" if choice == self._choice else choice)

    def _on_as_json(self, wanted: bool) -> None:
        """Edit the arguments as JSON, or as fields again if what is written fits them."""
        if wanted:
            self._editor.set_value(self._before if self._form.problem else self._form.value)
        else:
            fields = fields_of_call(self._schema, self._editor.value) if not self._editor.problem else None
            if fields is None:
                self._as_json.setChecked(True)
                self._editor.show_problem(self._editor.problem or "These arguments do not fit into fields.")
                return
            self._form.set_fields(fields, self._misfit)
        self._form.setVisible(not wanted)
        self._editor.setVisible(wanted)
        self._on_edited()
        (self._editor.edit.setFocus if wanted else self._form.focus)()

    def _on_undo(self) -> None:
        self._editor.set_value(self._before)
        fields = None if self._as_json.isChecked() else fields_of_call(self._schema, self._before)
        if fields is not None:
            self._form.set_fields(fields, self._misfit)
            self._form.focus()


def _read_answer(text: str) -> str | dict[str, Any]:
    """Return a model's answer: a dict if the text is a JSON object, else the text."""
    if not text.strip():
        raise ValueError("Nothing is entered.")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text
