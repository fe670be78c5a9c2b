"""The card of a held agent: where and why it is held, and what to do instead of its next call."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from inspector_app.presentation.json_text import parse_json_object
from inspector_app.running.view_data import HoldText
from inspector_app.widgets import theme
from inspector_app.widgets.button_flow import ButtonFlow
from inspector_app.widgets.code_button import CodeButton
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.json_editor import JsonEditor
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.tooltips import set_tooltip

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
_SUBMITS: dict[Choice, tuple[str, str]] = {
    "result": ("Use this result", "pen"),
    "raise": ("Raise", "bolt"),
    "answer": ("Use this answer", "reply"),
}
_KEYS = "F5 continues, F10 steps to the next event"


class HeldCard(QWidget):
    """A card that describes a hold. Its decision applies however the agent continues: with its buttons, F5 or a step.

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
        self._misfit: Callable[[Mapping[str, Any]], str] | None = None
        self._drafts: dict[Choice, str] = {}
        self._title, self._subject, self._why = (plain_label(name=name, parent=self) for name in ("held_title", "held_subject", "held_why"))
        self._title.setProperty("role", "warn")
        self._subject.setStyleSheet("font-weight: bold;")
        self._why.setProperty("role", "dim")
        self._why.setWordWrap(True)
        self._failure = plain_label(name="held_failure", role="bad", wraps=True, parent=self)
        self._beside = plain_label(name="held_beside", role="dim", wraps=True, parent=self)
        self._editor = JsonEditor("held_editor", "Arguments of the call", self)
        self._editor.changed.connect(self._show_buttons)
        head = laid_out(QHBoxLayout(), self._title, (self._subject, 1), self.code, spacing=5)
        laid_out(
            QVBoxLayout(self),
            head,
            self._why,
            self._failure,
            self._beside,
            (self._editor, 1),
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
        if self._editor.problem and not (self._choice == "call" and self._kind.startswith("failed")):
            raise ValueError(self._editor.problem)
        if self._choice == "call":
            changed = not self._kind.startswith("failed") and self._editor.value != self._before
            return Decision("call", self._editor.value if changed else None)
        return Decision(self._choice, self._editor.value)

    def show_hold(
        self,
        words: HoldText,
        kind: CallKind | None,
        before: dict[str, Any] | None,
        misfit: Callable[[Mapping[str, Any]], str] | None = None,
    ) -> None:
        """Show a hold.

        Args:
            words: its description.
            kind: kind of the held or failed call; None at other places.
            before: the arguments of the tool call, or the model request.
            misfit: arguments → a sentence about the first that the tool's schema rejects, or an empty string; called while the user types.
        """
        self._kind, self._before, self._drafts = kind, before or {}, {}
        self._misfit = misfit
        self._title.setText(words.title)
        self._subject.setText(words.subject)
        self._why.setText(f"{words.why} · {_KEYS}")
        set_tooltip(self._why, words.why)
        self._failure.setText(words.failure)
        self._failure.setVisible(bool(words.failure))
        self.show_beside(words.beside)
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
        """Show why the text is not valid, and focus it."""
        self._editor.show_problem(text)
        self._editor.edit.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Continue with Ctrl+Enter; return to the call with Esc."""
        if event.key() == Qt.Key.Key_Escape and self._choice != "call":
            self._on_back()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.continue_requested.emit()
        else:
            super().keyPressEvent(event)

    def _choose(self, choice: Choice) -> None:
        if self._choice != choice:
            self._drafts[self._choice] = self._editor.text
        self._choice = choice
        kind = self._kind
        writes = kind is not None and not (choice == "call" and kind.startswith("failed"))
        self._editor.setVisible(writes)
        self._editor.set_reader({"answer": _read_answer, "raise": str, "result": parse_json_object}.get(choice, self._read_call))  # type: ignore[arg-type]
        self._editor.edit.setPlaceholderText(_PLACEHOLDERS[choice])
        self._editor.edit.setAccessibleName(_PLACEHOLDERS[choice] or ("Arguments" if kind == "tool" else "Request"))
        written = self._drafts.get(choice)
        if written is None and choice == "call":
            self._editor.set_value(self._before)
        else:
            self._editor.set_text(written or "")
        if choice != "call":
            self._editor.edit.setFocus()
        self._show_buttons()

    def _read_call(self, text: str) -> dict[str, Any]:
        value = parse_json_object(text)
        # The model's own arguments may be wrong; reporting that is up to the tool.
        if self._misfit is not None and value != self._before and (problem := self._misfit(value)):
            raise ValueError(problem)
        return value

    def _make_buttons(self) -> ButtonFlow:
        self._call = push_button(
            "Call it", "held_call", self.continue_requested.emit, icon=theme.icon("play", "on_accent"), primary=True, parent=self
        )
        self._submit = push_button(
            "Use this", "held_submit", self.continue_requested.emit, icon=theme.icon("check", "on_accent"), primary=True, parent=self
        )
        self._result = push_button("Result…", "held_result", self._on_result, icon=theme.icon("pen", "text"), parent=self)
        self._raise = push_button("Raise…", "held_raise", self._on_raise, icon=theme.icon("bolt", "bad"), parent=self)
        self._answer = push_button("Answer…", "held_answer", self._on_answer, icon=theme.icon("reply", "text"), parent=self)
        self._reset = push_button("Undo", "held_reset", self._on_reset, icon=theme.icon("rotate-left", "text"), parent=self)
        self._reset.setAccessibleName("Undo the changes")
        self._reset.setToolTip("Restore the original arguments")
        self._back = push_button("Back", "held_back", self._on_back, icon=theme.icon("arrow-left", "text"), parent=self)
        self._choices = ButtonFlow(self)  # so that a fourth button does not widen the pane
        return self._choices

    def _show_buttons(self) -> None:
        kind, choice = self._kind, self._choice
        calling = kind is not None and choice == "call"
        failed = kind is not None and kind.startswith("failed")
        changed = calling and not failed and (bool(self._editor.problem) or self._editor.value != self._before)
        choices = (
            (self._call, calling),
            (self._submit, kind is not None and not calling),
            (self._result, calling and kind in ("tool", "failed tool")),
            (self._raise, calling and kind in ("tool", "failed tool")),
            (self._answer, calling and kind in ("model", "failed model")),
            (self._reset, changed),
            (self._back, kind is not None and not calling),
        )
        for button, shown in choices:
            button.setVisible(shown)
        call = "Let it fail" if failed else "Call the model" if kind == "model" else "Call it"
        self._call.setText(f"{call} as edited" if changed else call)
        self._call.setAccessibleName(self._call.text())
        self._call.setEnabled(failed or not self._editor.problem)
        if choice in _SUBMITS:
            text, icon = _SUBMITS[choice]
            self._submit.setText(text)
            self._submit.setAccessibleName(text)
            self._submit.setIcon(theme.icon(icon, "on_accent"))
            self._submit.setEnabled(not self._editor.problem or choice == "raise")
        hint = "Continue with this (Ctrl+Enter). F10 also applies it, and holds at the next event"
        for button in (self._call, self._submit):
            set_tooltip(button, hint if button.isEnabled() else self._editor.problem)
        self._choices.set_buttons([button for button, shown in choices if shown])

    def _on_result(self) -> None:
        self._choose("result")

    def _on_raise(self) -> None:
        self._choose("raise")

    def _on_answer(self) -> None:
        self._choose("answer")

    def _on_back(self) -> None:
        self._choose("call")

    def _on_reset(self) -> None:
        self._editor.set_value(self._before)


def _read_answer(text: str) -> str | dict[str, Any]:
    """Return a model's answer: a dict if the text is a JSON object, else the text."""
    if not text.strip():
        raise ValueError("Nothing is entered.")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, dict) else text
