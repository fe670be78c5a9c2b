"""The dialog that confirms the deletion of sessions, either chosen ones or those above an age."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QSpinBox, QVBoxLayout, QWidget

from inspector_app.presentation.values import counted, since, visible
from inspector_app.sessions.session_node import Summary
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label
from inspector_app.widgets.empty_state import EmptyState
from inspector_app.widgets.layouts import laid_out, named, set_up_dialog
from runtime.sessions.session_key import SessionKey

DAY = 86_400  # seconds
MOST_NAMED = 500  # listed sessions; of further ones the dialog shows only the number
FIRST_AGE = 30  # days, suggested


class DeletionDialog(QDialog):
    """A dialog that lists the sessions to delete and asks for confirmation. Open it with `open()`; it deletes nothing itself.

    Signals:
        confirmed(list[SessionKey]): the user confirmed the deletion of these sessions.

    Args:
        database: the database's title.
        sessions: the sessions that may be deleted.
        titles: their titles, as far as they are known.
        undo: a sentence that says whether they can be restored.
        by_age: let the user choose an age; only sessions unchanged for longer are deleted.
    """

    confirmed = Signal(object)

    def __init__(
        self,
        database: str,
        sessions: Sequence[Summary],
        titles: Mapping[SessionKey, str],
        undo: str,
        *,
        by_age: bool,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        set_up_dialog(self, "deletion_dialog", "Delete sessions", 560, 420)
        self._database, self._now, self._by_age = visible(database), time.time(), by_age
        self._titles = titles
        self._sessions = sorted(sessions, key=lambda summary: summary.last_update_time)
        self._chosen: list[Summary] = []
        self._question = _label("heading")
        self.age = named(QSpinBox(), "deletion_age", "Days without a change")
        self.age.setRange(0, 10_000)
        self.age.setValue(FIRST_AGE)
        self.age.setSuffix(" days")
        theme.pad(self.age)
        self._names = named(QPlainTextEdit(readOnly=True), "deletion_names", "Sessions to be deleted")
        self._names.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._nothing = named(EmptyState(""), "deletion_nothing")
        self._consequence = _label("secondary")
        self._consequence.setText(undo)
        self._cancel = named(QPushButton(), "deletion_cancel")
        self._cancel.setDefault(True)
        self._cancel.clicked.connect(self.reject)
        self.delete_button = named(QPushButton(theme.icon("trash-can", "bad"), "Delete"), "deletion_confirm")
        self.delete_button.clicked.connect(self._on_confirmed)
        self._lay_out()
        self.age.valueChanged.connect(self._show)
        self._show()

    def _lay_out(self) -> None:
        rows = laid_out(QVBoxLayout(self), self._question, margins=(14, 14, 14, 12), spacing=10)
        if self._by_age:
            line = QHBoxLayout()
            words = _label("")
            words.setText("Not changed for more than")
            words.setWordWrap(False)
            line.addWidget(words)
            line.addWidget(self.age)
            line.addStretch(1)
            rows.addLayout(line)
        rows.addWidget(self._names, 1)
        rows.addWidget(self._nothing, 1)
        rows.addWidget(self._consequence)
        buttons = laid_out(QHBoxLayout(), 1, self._cancel, self.delete_button)
        rows.addLayout(buttons)

    @property
    def question(self) -> str:
        """The text of the question."""
        return self._question.text()

    def _show(self) -> None:
        oldest = self._now - self.age.value() * DAY
        self._chosen = [summary for summary in self._sessions if not self._by_age or summary.last_update_time < oldest]
        count, events = len(self._chosen), sum(summary.event_count or 0 for summary in self._chosen)
        what = f"{count:,} sessions" if count != 1 else "1 session"
        asked = f"Delete {what} with {counted(events, 'event')} from {self._database}?"
        self._question.setText(asked)
        self._nothing.set_text(f"No session of {self._database} is that old")
        for widget in (self._question, self._names, self._consequence, self.delete_button):
            widget.setVisible(count > 0)
        self._nothing.setVisible(count == 0)
        self._cancel.setText("Close" if count == 0 else "Keep it" if count == 1 else "Keep them")
        self._cancel.setAccessibleName(self._cancel.text())
        lines = [_line(summary, self._titles.get(summary.key, ""), self._now) for summary in self._chosen[:MOST_NAMED]]
        if count > MOST_NAMED:
            lines.append(f"… and {count - MOST_NAMED:,} more")
        self._names.setPlainText("\n".join(lines))
        self.delete_button.setText(f"Delete {what}")
        self.delete_button.setAccessibleName(f"Delete {what}")

    def _on_confirmed(self) -> None:
        keys: list[SessionKey] = [summary.key for summary in self._chosen]
        self.confirmed.emit(keys)
        self.accept()


def _line(summary: Summary, title: str, now: float) -> str:
    key = summary.key
    where = visible(f"{key.app_name} / {key.user_id} / {key.session_id}")
    return f"{title}   {where}   {counted(summary.event_count or 0, 'event')}, last changed {since(summary.last_update_time, now)}"


def _label(role: str) -> QLabel:
    label = plain_label(wraps=True)
    if role:
        label.setProperty("role", role)
    return label
