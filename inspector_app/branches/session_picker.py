"""A dialog that chooses a session of any open database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from inspector_app.documents.session_address import SessionAddress
from inspector_app.presentation.values import plain_tooltip, visible
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.layouts import laid_out, named, set_up_dialog
from inspector_app.widgets.list_below import ListBelow

MOST_SHOWN = 500
ROW_HEIGHT = 24  # approximate pixels; sizes the dialog so that a short list leaves little empty space


@dataclass(frozen=True, slots=True)
class PickableSession:
    """A session and its text in the list."""

    address: SessionAddress
    text: str


class SessionPicker(QDialog):
    """A filter and a list. Enter, the button or a double-click chooses the selected session. Open it with `open()`.

    Signals:
        picked (SessionAddress): the user chose this session.
    """

    picked = Signal(object)

    def __init__(self, title: str, sessions: Sequence[PickableSession], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_up_dialog(self, "session_picker", "Compare", 620, min(190 + ROW_HEIGHT * len(sessions), 440))
        self._sessions = list(sessions)
        heading = plain_label(visible(title), wraps=True, parent=self)
        self.filter = named(QLineEdit(self), "picker_filter", "Filter sessions")
        self.filter.setPlaceholderText("Filter by title, app, user, database or session id")
        self.filter.textChanged.connect(self._fill)
        self.list = QListWidget(self)
        ListBelow(self.filter, self.list)
        self.list.setObjectName("picker_list")
        self.list.setAccessibleName("Sessions")
        self.list.itemDoubleClicked.connect(self._on_chosen)
        self.compare = push_button(
            "Compare", "picker_compare", self._on_chosen, does="Compare with the selected session", primary=True, default=True, parent=self
        )
        cancel = push_button("Cancel", "picker_cancel", self.reject, parent=self)
        buttons = laid_out(QHBoxLayout(), 1, cancel, self.compare)
        laid_out(QVBoxLayout(self), heading, self.filter, self.list, buttons)
        self._fill("")

    def _fill(self, text: str) -> None:
        words = text.casefold().split()
        self.list.clear()
        for session in self._sessions:
            text = f"{session.text} {session.address.key.session_id}".casefold()
            if all(word in text for word in words):
                item = QListWidgetItem(visible(session.text))
                item.setToolTip(plain_tooltip(f"{session.text}\nsession {session.address.key.session_id}"))
                item.setData(Qt.ItemDataRole.UserRole, session.address)
                self.list.addItem(item)
                if self.list.count() == MOST_SHOWN:
                    break
        self.list.setCurrentRow(0)
        self.compare.setEnabled(self.list.count() > 0)

    def _on_chosen(self, *_: object) -> None:
        item = self.list.currentItem()
        if item is not None:
            self.picked.emit(item.data(Qt.ItemDataRole.UserRole))
            self.accept()
