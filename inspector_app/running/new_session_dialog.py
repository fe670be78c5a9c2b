"""A dialog that asks with what a session of the loaded agent begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QFileDialog, QFormLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from inspector_app.presentation.values import visible
from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button
from inspector_app.widgets.growing_dialog import GrowingDialog
from inspector_app.widgets.layouts import laid_out, named, set_up_dialog

MOST_CHARACTERS = 128  # of an id and a user in google-adk's tables

Start = Literal["empty", "last", "file", "event"]
Field = Literal["id", "user", "file", "start"]


@dataclass(frozen=True, slots=True)
class NewSession:
    """With what a session begins.

    Attributes:
        session_id: its id; empty: a new one.
        user_id: its user; empty: the usual one.
        start: where its first state comes from.
        file: the file of its first state, if `start` is "file".
    """

    session_id: str
    user_id: str
    start: Start
    file: str


class NewSessionDialog(GrowingDialog):
    """A dialog that stays open until the session is created. Open it with `open()`.

    Signals:
        wanted (NewSession): the user confirmed; answer with `accept()` or `refuse()`.

    Args:
        agent: the agent's name.
        usual_user: the user if the field is left empty.
        chosen: what was chosen for the agent's session before.
        starts: the possible first states, each with its text.
    """

    wanted = Signal(object)

    def __init__(self, agent: str, usual_user: str, chosen: NewSession, starts: dict[Start, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        set_up_dialog(self, "new_session_dialog", f"New session of {visible(agent)}", 520, 0)
        self._id = named(QLineEdit(placeholderText="a new one"), "new_session_id", "Id of the session")
        self._user = named(QLineEdit(chosen.user_id, placeholderText=visible(usual_user)), "new_session_user", "User")
        self._start = named(QComboBox(), "new_session_start", "First state")
        self._start.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)  # a title never widens the dialog
        for start, text in starts.items():
            self._start.addItem(visible(text), start)
        self._file = named(QLineEdit(chosen.file, placeholderText="a JSON object"), "new_session_file", "File of the first state")
        browse = push_button("Browse…", "new_session_browse", self._on_browse, does="Choose the file of the first state")
        self._fields: dict[Field, QWidget] = {"id": self._id, "user": self._user, "start": self._start, "file": self._file}
        self._problems = {field: plain_label(name=f"new_session_{field}_problem", role="bad", wraps=True) for field in self._fields}
        self._shared = plain_label(
            "Its “user:” and “app:” keys are set for all sessions that share them.", name="new_session_shared", role="secondary", wraps=True
        )
        self._create = push_button("Create", "new_session_create", self._on_create, does="Create the session", primary=True, default=True)
        self._file_row = QWidget()
        laid_out(QHBoxLayout(self._file_row), (self._file, 1), browse, margins=0)
        form = QFormLayout()
        texts: dict[Field, str] = {"id": "Id", "user": "User", "start": "First state"}
        for field, text in texts.items():
            form.addRow(text, self._fields[field])
            form.addRow("", self._problems[field])
        form.addRow("", self._file_row)
        form.addRow("", self._problems["file"])
        form.addRow("", self._shared)
        buttons = laid_out(QHBoxLayout(), 1, push_button("Cancel", "new_session_cancel", self.reject), self._create)
        laid_out(QVBoxLayout(self), form, buttons, margins=(14, 14, 14, 12), spacing=10)
        self._start.setCurrentIndex(max(self._start.findData(chosen.start), 0))
        self._id.textChanged.connect(self._clear)
        self._user.textChanged.connect(self._clear)
        self._file.textChanged.connect(self._clear)
        self._start.currentIndexChanged.connect(self._clear)
        self._clear()
        self._id.setFocus()

    def refuse(self, field: Field, reason: str) -> None:
        """Show at a field why the session is not created."""
        self._create.setEnabled(True)
        self._problems[field].setText(visible(reason))
        self._problems[field].show()
        self._fields[field].setProperty("state", "wrong")
        theme.restyle(self._fields[field])
        self._fields[field].setFocus()
        self._grow()

    def _clear(self) -> None:
        for field, widget in self._fields.items():
            self._problems[field].setText("")
            self._problems[field].hide()
            widget.setProperty("state", "")
            theme.restyle(widget)
        start = self._start.currentData()
        self._file_row.setVisible(start == "file")
        self._shared.setVisible(start in ("file", "event"))
        self._grow()

    def _grow(self) -> None:
        layout = self.layout()
        if layout is not None and self.isVisible():
            layout.activate()
            self.resize(self.width(), max(self.height(), layout.totalHeightForWidth(self.width())))

    def _on_create(self) -> None:
        self._clear()
        wanted = NewSession(self._id.text().strip(), self._user.text().strip(), self._start.currentData(), self._file.text().strip())
        names: tuple[tuple[Field, str], ...] = (("id", wanted.session_id), ("user", wanted.user_id))
        for field, name in names:
            if not name.isprintable():
                self.refuse(field, "It has a character that cannot be displayed: remove it.")
                return
            if len(name) > MOST_CHARACTERS:
                self.refuse(field, f"It has {len(name):,} characters; google-adk stores at most {MOST_CHARACTERS}.")
                return
        if wanted.start == "file" and not wanted.file:
            self.refuse("file", "Choose the file of the first state.")
            return
        self._create.setEnabled(False)
        self.wanted.emit(wanted)

    def _on_browse(self) -> None:
        dialog = QFileDialog(self, "First state", self._file.text(), "JSON files (*.json);;All files (*)")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.fileSelected.connect(self._file.setText)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
