"""What waits for a person: confirmations, long-running calls, credentials, interrupted invocations; each with its answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from inspector_app import theme
from inspector_app.cursor import SessionAddress
from inspector_app.presentation import short_id
from inspector_app.values import plain_tooltip, preview, visible
from inspector_app.views.empty_state import EmptyState

if TYPE_CHECKING:
    from runtime.history.invocations import PendingItem

_ICONS = {
    "confirmation": ("hand", "warn"),
    "long_running": ("hourglass-half", "accent"),
    "credential": ("key", "warn"),
    "interrupted": ("triangle-exclamation", "bad"),
}
_ROW = Qt.ItemDataRole.UserRole
_TAKES_ROOM = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
_TAKES_NO_ROOM = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
"""Of a page that is not on show: a stack is as high as its highest page, shown or not."""


@dataclass(frozen=True, slots=True)
class PendingRow:
    """One thing that waits, and where."""

    address: SessionAddress
    item: PendingItem


class PendingPane(QWidget):
    """The list, and the form of the selected item beside it.

    Signals:
        answered(PendingItem, dict): the call's response was given.
        resume_asked(PendingItem): the interrupted invocation shall go on.
        session_asked(SessionAddress): an item of another session was selected.
    """

    answered = Signal(object, object)
    resume_asked = Signal(object)
    session_asked = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("pending_pane")
        self._rows: list[PendingRow] = []
        self._list = QListWidget(self)
        self._list.setObjectName("pending_list")
        self._list.setAccessibleName("Pending")
        self._list.setIconSize(QSize(14, 14))
        self._list.currentItemChanged.connect(self._on_current_changed)
        self._form = _PendingForm(self)
        self._form.answered.connect(self.answered)
        self._form.resume_asked.connect(self.resume_asked)
        self._split = split = QSplitter(Qt.Orientation.Horizontal, self)
        split.addWidget(self._list)
        split.addWidget(self._form)
        split.setStretchFactor(0, 2)
        split.setStretchFactor(1, 3)
        split.setChildrenCollapsible(False)
        split.setSizePolicy(_TAKES_NO_ROOM)
        self._stack = QStackedWidget(self)
        self._stack.addWidget(
            EmptyState("Nothing waits for you", "Confirmations, long-running calls and interrupted invocations appear here.")
        )
        self._stack.addWidget(split)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self._stack)

    @property
    def rows(self) -> list[PendingRow]:
        """What is shown."""
        return list(self._rows)

    def set_rows(self, rows: list[PendingRow]) -> None:
        """Show what waits; the selection and a half-written answer stay where their item does."""
        if rows == self._rows:
            return
        selected = self._list.currentItem()
        kept = selected.data(_ROW) if selected is not None else None
        self._rows = list(rows)
        self._list.blockSignals(True)
        self._list.clear()
        for row in rows:
            item = QListWidgetItem(theme.icon(*_ICONS[row.item.kind]), _title(row))
            item.setData(_ROW, row)
            self._list.addItem(item)
        self._list.blockSignals(False)
        self._split.setSizePolicy(_TAKES_ROOM if rows else _TAKES_NO_ROOM)
        self._stack.setCurrentIndex(1 if rows else 0)
        self._list.setCurrentRow(rows.index(kept) if kept in rows else 0)

    def select(self, item: PendingItem) -> None:
        """Select an item, and put the caret into its form."""
        for index, row in enumerate(self._rows):
            if row.item == item:
                self._list.setCurrentRow(index)
                self._form.focus()

    def set_blocked(self, answering: str | None, resuming: str | None) -> None:
        """Say why nothing can be answered, or resumed, now; None where it can."""
        self._form.set_blocked(answering, resuming)

    def _on_current_changed(self, current: QListWidgetItem | None) -> None:
        row = current.data(_ROW) if current is not None else None
        self._form.show_item(row.item if row else None)
        if row:
            self.session_asked.emit(row.address)


class _PendingForm(QWidget):
    """The question, what was asked with it, and the buttons that answer."""

    answered = Signal(object, object)
    resume_asked = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._item: PendingItem | None = None
        self._answering: str | None = None
        self._resuming: str | None = None
        rows = QVBoxLayout(self)
        rows.setContentsMargins(10, 6, 6, 6)
        rows.setSpacing(6)
        self._question = QLabel(self)
        self._question.setObjectName("pending_question")
        self._question.setTextFormat(Qt.TextFormat.PlainText)
        self._question.setWordWrap(True)
        rows.addWidget(self._question)
        self._args = QLabel(self)
        self._args.setObjectName("pending_args")
        self._args.setTextFormat(Qt.TextFormat.PlainText)
        self._args.setFont(theme.mono_font())
        self._args.setWordWrap(True)
        rows.addWidget(self._args)
        self._edit = QPlainTextEdit(self)
        self._edit.setObjectName("pending_answer")
        self._edit.setAccessibleName("Answer")
        self._edit.setFont(theme.mono_font())
        self._edit.setTabChangesFocus(True)
        self._edit.textChanged.connect(self._show_answer)
        rows.addWidget(self._edit, 1)
        rows.addLayout(self._buttons())
        rows.addStretch(0)

    def show_item(self, item: PendingItem | None) -> None:
        """Show the form for an item."""
        if item is not None and item == self._item:
            return
        self._item = item
        if item is None:
            return
        kind = item.kind
        self._question.setText(visible(_question(item)))
        self._args.setText(visible(preview(item.args, 400)) if item.args else "")
        self._args.setVisible(bool(item.args) and kind != "credential")
        self._edit.setVisible(kind in ("long_running", "credential"))
        self._edit.setPlainText("")
        self._edit.setPlaceholderText('The call\'s result: JSON such as {"status": "approved"}, or plain text')
        for button, shown in ((self._approve, "confirmation"), (self._reject, "confirmation"), (self._resume, "interrupted")):
            button.setVisible(kind == shown)
        self._respond.setVisible(kind in ("long_running", "credential"))
        self._show_answer()

    def focus(self) -> None:
        """Put the focus where the answer is given."""
        for widget in (self._edit, self._approve, self._resume):
            if widget.isVisibleTo(self):
                widget.setFocus()
                return

    def set_blocked(self, answering: str | None, resuming: str | None) -> None:
        """See `PendingPane.set_blocked`."""
        self._answering, self._resuming = answering, resuming
        self._show_answer()

    def _buttons(self) -> QHBoxLayout:
        line = QHBoxLayout()
        line.setSpacing(6)
        self._approve = self._button("Approve", "check", "pending_approve", self._on_approve)
        self._reject = self._button("Reject", "xmark", "pending_reject", self._on_reject)
        self._respond = self._button("Respond", "reply", "pending_respond", self._on_respond)
        self._resume = self._button("Resume", "clock-rotate-left", "pending_resume", self._on_resume)
        for button in (self._approve, self._reject, self._respond, self._resume):
            line.addWidget(button)
        self._hint = QLabel(self)
        self._hint.setObjectName("pending_hint")
        self._hint.setProperty("role", "secondary")
        self._hint.setTextFormat(Qt.TextFormat.PlainText)
        line.addWidget(self._hint, 1)
        return line

    def _button(self, text: str, icon: str, name: str, slot: Any) -> QPushButton:
        button = QPushButton(theme.icon(icon, "text"), text, self)
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.clicked.connect(slot)
        button.hide()
        return button

    def _show_answer(self) -> None:
        answer = parse_answer(self._edit.toPlainText())
        for button in (self._approve, self._reject, self._respond):
            button.setEnabled(self._answering is None and (answer is not None or button is not self._respond))
            button.setToolTip(plain_tooltip(self._answering or ("" if answer or button is not self._respond else "Write an answer first")))
        self._resume.setEnabled(self._resuming is None)
        self._resume.setToolTip(plain_tooltip(self._resuming or "Go on from the last checkpoint (Ctrl+Shift+R)"))
        blocked = self._resuming if self._item and self._item.kind == "interrupted" else self._answering
        sends = f"sends {preview(answer, 80)}" if answer and self._edit.isVisibleTo(self) else ""
        self._hint.setText(visible(blocked or sends))

    def _on_approve(self) -> None:
        self.answered.emit(self._item, {"confirmed": True})

    def _on_reject(self) -> None:
        self.answered.emit(self._item, {"confirmed": False})

    def _on_respond(self) -> None:
        self.answered.emit(self._item, parse_answer(self._edit.toPlainText()))

    def _on_resume(self) -> None:
        self.resume_asked.emit(self._item)


def parse_answer(text: str) -> dict[str, Any] | None:
    """Return what a written answer means as a function response.

    A JSON object is sent as it is; any other JSON value, or plain text, becomes `{"result": …}`. None: nothing is written yet.
    """
    text = text.strip()
    if not text:
        return None
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        value = text
    return value if isinstance(value, dict) else {"result": value}


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _title(row: PendingRow) -> str:
    item = row.item
    what = f"interrupted: {short_id(item.invocation_id)}" if item.kind == "interrupted" else f"{item.kind.replace('_', '-')}  {item.name}"
    return visible(f"{what}   ·   {short_id(row.address.key.session_id)}")


def _question(item: PendingItem) -> str:
    if item.kind == "confirmation":
        return item.hint or f"{item.author or 'The agent'} asks: may {item.name} be called?"
    if item.kind == "long_running":
        return f"{item.name} runs on its own. {item.author or 'The agent'} waits for its result."
    if item.kind == "credential":
        return f"{item.name or 'A tool'} asks for a credential; send back the configuration with the credential filled in."
    return f"Invocation {short_id(item.invocation_id)} was interrupted. {item.hint or ''}".strip()
