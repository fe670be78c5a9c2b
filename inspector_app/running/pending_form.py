"""The form that answers a pending item."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from inspector_app.presentation.credential_form import answer as credential_answer
from inspector_app.presentation.credential_form import consent_page, fields_for
from inspector_app.presentation.event_summary import short_id
from inspector_app.presentation.json_text import parse_json, parse_json_object
from inspector_app.presentation.values import preview, visible
from inspector_app.running.value_form import ValueForm
from inspector_app.widgets import theme
from inspector_app.widgets.brief_pause import BriefPause
from inspector_app.widgets.clipboard import copy_text
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.elided_label import ElidedLabel
from inspector_app.widgets.layouts import laid_out, named
from inspector_app.widgets.safe_browser import ask_about_link
from inspector_app.widgets.tooltips import set_tooltip

if TYPE_CHECKING:
    from runtime.history.invocations import PendingItem


_LEAST_QUESTION = 40  # pixels that are visible of a long question; the rest scrolls
_TOOLTIPS = {
    "pending_approve": "Approve (Ctrl+Return)",
    "pending_reject": "Reject (Ctrl+Backspace)",
    "pending_respond": "Send the answer and continue the invocation (Ctrl+Return)",
    "pending_progress": "Report progress; the call stays open and no agent runs (Ctrl+Shift+Return)",
    "pending_resume": "Continue from the last checkpoint (Ctrl+Shift+R)",
}
_KEYS = {
    "confirmation": "Ctrl+Return approves, Ctrl+Backspace rejects",
    "long_running": "Ctrl+Return: respond, Ctrl+Shift+Return: progress",
    "credential": "Ctrl+Return responds",
}


class PendingForm(QWidget):
    """The question of a pending item, its arguments, and the buttons that answer it.

    Signals:
        answered (PendingItem, dict): the user answered with this function response.
        progress_given (PendingItem, dict): the user reported the call's progress.
        resume_requested (PendingItem): the user asked to resume the invocation without an answer.
    """

    answered = Signal(object, object)
    progress_given = Signal(object, object)
    resume_requested = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._item: PendingItem | None = None
        self._answering: str | None = None
        self._resuming: str | None = None
        self._schema: Mapping[str, Any] | None = None
        self._consent = ""
        self._has_form = False
        self._pause = BriefPause(self)
        self._pause.changed.connect(self._show_answer)
        self._question = plain_label(name="pending_question", wraps=True, parent=self)
        self._args = plain_label(name="pending_args", parent=self)
        theme.use_mono(self._args)
        self._args.setWordWrap(True)
        self._so_far = self._line("pending_so_far")
        self._edit = named(QPlainTextEdit(self), "pending_answer", "Answer")
        self._edit.setPlaceholderText('The call\'s result: JSON such as {"status": "approved"}, or plain text')
        theme.use_mono(self._edit)
        self._edit.setTabChangesFocus(True)
        self._edit.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)  # takes what is left, from two lines on
        theme.current().changed.connect(self._keep_two_lines)
        self._keep_two_lines()
        self._edit.textChanged.connect(self._show_answer)
        self._form = ValueForm("pending_payload", "Requested value", self)
        self._form.changed.connect(self._show_answer)
        for field in (self._edit, self._form):
            field.hide()  # shown only if needed: a window that grew for it would stay large
        asked = QWidget()
        parts = self._question, self._args, self._so_far, self._consent_line(), (self._edit, 1), (self._form, 1), 0
        laid_out(QVBoxLayout(asked), *parts, margins=(0, 0, 4, 0), spacing=6)
        area = named(QScrollArea(self), "pending_form_area", "Question of the pending item")  # the buttons below it never move
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidgetResizable(True)
        area.setMinimumHeight(_LEAST_QUESTION)
        area.setWidget(asked)
        laid_out(QVBoxLayout(self), (area, 1), self._buttons(), margins=(10, 6, 6, 6), spacing=6)

    def show_item(self, item: PendingItem | None, schema: Mapping[str, Any] | None = None) -> None:
        """Show the form of an item.

        Args:
            item: the pending item; None if none is selected.
            schema: JSON schema of the answer to a long-running call, if known.
        """
        if item is not None and (item, schema) == (self._item, self._schema):
            return
        self._item, self._schema = item, schema
        self._form.clear()  # discards the last answer, which may contain a credential
        self._edit.setPlainText("")
        if item is None:
            return
        kind = item.kind
        self._question.setText(visible(_question(item)))
        self._args.setText(visible(preview(item.args, 400)) if item.args else "")
        self._args.setVisible(bool(item.args) and kind != "credential")
        self._so_far.setText(f"So far: {visible(preview(item.so_far, 300))}")
        self._so_far.setVisible(item.so_far is not None)
        self._consent = consent_page(item.auth_config)
        self._consent_address.setText(visible(self._consent))
        self._consent_row.setVisible(bool(self._consent))
        self._has_form = self._make_form(item, schema)
        self._form.setVisible(self._has_form)
        self._edit.setVisible(kind == "long_running" and not self._has_form)
        for button in (self._approve, self._reject):
            button.setVisible(kind == "confirmation")
        self._resume.setVisible(True)
        self._respond.setVisible(kind in ("long_running", "credential"))
        self._progress.setVisible(kind == "long_running")
        self._show_answer()

    def _make_form(self, item: PendingItem, schema: Mapping[str, Any] | None) -> bool:
        """Build the form for an item's answer; return whether the item has one."""
        if item.kind == "credential":
            fields = fields_for(item.auth_config)
            if fields is None:
                self._form.set_value(item.auth_config)
            else:
                self._form.set_fields(fields)
            return True
        if item.kind == "confirmation" and item.payload is not None:
            self._form.set_value(item.payload)
            return True
        if item.kind == "long_running" and schema is not None:
            self._form.set_schema(schema)
            return True
        return False

    def focus(self) -> None:
        """Focus the widget that takes the answer."""
        if self._has_form:
            self._form.focus()
            return
        for widget in (self._edit, self._approve, self._resume):
            if widget.isVisibleTo(self):
                widget.setFocus()
                return

    def accept(self) -> None:
        """Approve, respond or resume, as the item requires."""
        for button in (self._approve, self._respond, self._resume):
            if button.isVisibleTo(self):
                button.click()
                return

    def report_progress(self) -> None:
        """Report progress, if the item allows it."""
        if self._progress.isVisibleTo(self):
            self._progress.click()

    def _keep_two_lines(self) -> None:
        """Keep room for the hint of the answer in any size of text; the pane scrolls where it is low."""
        self._edit.setMinimumHeight(theme.px(2 * theme.BASE_SIZE + 26))

    def reject(self) -> None:
        """Reject, if the item allows it."""
        if self._reject.isVisibleTo(self):
            self._reject.click()

    def set_blocked(self, answering: str | None, resuming: str | None) -> None:
        """See `PendingPane.set_blocked`."""
        self._answering, self._resuming = answering, resuming
        self._show_answer()

    def _buttons(self) -> QHBoxLayout:
        self._approve = self._button("Approve", "check", "pending_approve", self._on_approve)
        self._reject = self._button("Reject", "xmark", "pending_reject", self._on_reject)
        self._respond = self._button("Respond", "reply", "pending_respond", self._on_respond)
        self._progress = self._button("Progress", "hourglass-half", "pending_progress", self._on_progress)
        self._resume = self._button("Resume…", "clock-rotate-left", "pending_resume", self._on_resume)
        self._hint = named(ElidedLabel(), "pending_hint")
        self._hint.setProperty("role", "secondary")
        return laid_out(QHBoxLayout(), self._approve, self._reject, self._respond, self._progress, self._resume, (self._hint, 1), spacing=6)

    def _consent_line(self) -> QWidget:
        """Make the line with the address of the consent page; *Open…* asks before opening it."""
        self._consent_row = QWidget(self)
        line = laid_out(QHBoxLayout(self._consent_row), margins=0, spacing=6)
        self._consent_address = named(ElidedLabel(), "pending_consent")
        self._consent_address.setProperty("role", "accent")
        line.addWidget(QLabel("Consent page:"))
        line.addWidget(self._consent_address, 1)
        for text, icon, name, slot in (
            ("Open…", "arrow-up-right-from-square", "pending_consent_open", self._on_consent_opened),
            ("Copy", "copy", "pending_consent_copy", self._on_consent_copied),
        ):
            button = self._button(text, icon, name, slot)
            button.setAccessibleName(f"{text.rstrip('…')} the address of the consent page")
            button.show()
            line.addWidget(button)
        self._consent_row.hide()
        return self._consent_row

    def _on_consent_opened(self) -> None:
        ask_about_link(self, QUrl(self._consent), "The consent page is")

    def _on_consent_copied(self) -> None:
        copy_text(self._consent)

    def _line(self, name: str) -> QLabel:
        label = plain_label(name=name, role="secondary", wraps=True, parent=self)
        label.hide()
        return label

    def _button(self, text: str, icon: str, name: str, slot: Any) -> QPushButton:
        button = push_button(text, name, slot, icon=theme.icon(icon, "text"), parent=self)
        button.hide()
        return button

    def _show_answer(self) -> None:
        problem, answer = self._form.problem if self._has_form else "", None
        try:
            answer = self._answer()
        except ValueError as error:
            problem = str(error)
        unwritten = problem or ("" if answer is not None else "Write an answer first")
        for button, needs in ((self._approve, problem), (self._reject, ""), (self._respond, unwritten), (self._progress, unwritten)):
            missing = self._answering or needs
            button.setEnabled(not missing and not self._pause.is_on)
            set_tooltip(button, missing or _TOOLTIPS[button.objectName()])
        self._resume.setEnabled(self._resuming is None and not self._pause.is_on)
        for button in self._consent_row.findChildren(QPushButton):
            button.setEnabled(not self._pause.is_on)
        set_tooltip(self._resume, self._resuming or _TOOLTIPS["pending_resume"])
        kind = self._item.kind if self._item else ""
        blocked = self._resuming if kind == "interrupted" else self._answering
        sends = f"sends {preview(answer, 80)}" if answer and self._edit.isVisibleTo(self) else ""
        shown = "" if self._has_form and self._form.is_untouched else problem
        self._hint.setText(visible(blocked or shown or sends or _KEYS.get(kind, "")))

    def _answer(self) -> dict[str, Any] | None:
        """Return what Respond would send; None if nothing is entered or it is not valid.

        Raises:
            ValueError: see `parse_answer`.
        """
        if self._item is None or not self._has_form:
            return parse_answer(self._edit.toPlainText())
        if self._form.problem:
            return None
        value = self._form.value
        if self._item.kind == "credential":
            if fields_for(self._item.auth_config) is None:
                return value if isinstance(value, dict) else None
            return credential_answer(self._item.auth_config, value) if value else None
        return value if isinstance(value, dict) else {"result": value}

    def _on_approve(self) -> None:
        payload = {"payload": self._form.value} if self._has_form else {}
        self._pause.begin()
        self.answered.emit(self._item, {"confirmed": True, **payload})

    def _on_reject(self) -> None:
        self._pause.begin()
        self.answered.emit(self._item, {"confirmed": False})

    def _on_respond(self) -> None:
        item, answer = self._item, self._answer()
        if item is not None and item.kind == "credential":
            self._form.clear()  # the credential is not shown after it was sent
        self._pause.begin()
        self.answered.emit(item, answer)

    def _on_progress(self) -> None:
        self.progress_given.emit(self._item, self._answer())

    def _on_resume(self) -> None:
        self._pause.begin()
        self.resume_requested.emit(self._item)


# Part of the default hint of google-adk and the runtime. It is meant for programs, so the window replaces it.
_STOCK_HINT = "by responding with a FunctionResponse with an expected ToolConfirmation payload"


def parse_answer(text: str) -> dict[str, Any] | None:
    """Return an answer's text as a function response; None if the text is blank.

    A JSON object is sent unchanged. Any other JSON value, or plain text, becomes `{"result": …}`.

    Raises:
        ValueError: the text starts like a JSON object but is not valid; the message says where.
    """
    text = text.strip()
    if not text:
        return None
    if text.startswith("{"):
        return parse_json_object(text)
    try:
        return {"result": parse_json(text)}
    except ValueError:
        return {"result": text}


def _question(item: PendingItem) -> str:
    if item.kind == "confirmation":
        hint = item.hint if item.hint and _STOCK_HINT not in item.hint else ""
        return hint or f"{item.author or 'The agent'} asks to call {item.name}. Allow it?"
    if item.kind == "long_running":
        return f"{item.name} is a long-running call. {item.author or 'The agent'} waits for its result."
    if item.kind == "credential":
        return f"{item.name or 'A tool'} requests a credential. It is stored in the session, as in google-adk, and not displayed again."
    how = "failed" if item.status == "failed" else f"was {item.status}"
    return f"Invocation {short_id(item.invocation_id)} {how}: {item.reason.rstrip('.')}."
