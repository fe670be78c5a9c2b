"""The page of the settings with the keys of models, which the system's keyring keeps."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFormLayout,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from inspector_app.widgets import theme
from inspector_app.widgets.controls import plain_label, push_button

PROPOSED = ("GOOGLE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY")
_COLUMNS = ("Name", "Key")
_ROW_HEIGHT = 26
_HEADING = "Agents get these keys as environment variables. A variable that is set already, also in an agent's .env, comes first."


class KeysPage(QWidget):
    """A list of names, and fields to set a key. A key is never displayed: its field hides it, and is emptied once it is sent.

    Signals:
        key_entered(str, str): the name and the key to store.
        removal_requested(str): the name of the key to remove.
    """

    key_entered = Signal(str, str)
    removal_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._kept: frozenset[str] = frozenset()
        self._can_store = False
        heading = plain_label(_HEADING, role="dim", wraps=True)
        self._table = self._name_table()
        self._name = _field("settings_key_name", "Name of the key", PROPOSED[0])
        self._key = _field("settings_key", "Key to store", "Paste the key")
        self._key.setEchoMode(QLineEdit.EchoMode.Password)
        self._key.returnPressed.connect(self._on_set)
        self._set = _button("Set", "settings_set_key", "Store the key in the system's keyring")
        self._set.clicked.connect(self._on_set)
        self._remove = _button("Remove", "settings_remove_key", "Remove the key of this name from the system's keyring")
        self._remove.clicked.connect(self._on_remove)
        self._problem = plain_label("", role="dim", wraps=True)
        self._problem.setObjectName("settings_key_problem")
        for field in (self._name, self._key):
            field.textChanged.connect(self._update_buttons)
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.addRow("Name", self._name)
        form.addRow("Key", self._key)
        buttons = QHBoxLayout()
        buttons.addWidget(self._set)
        buttons.addWidget(self._remove)
        buttons.addStretch(1)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(14, 14, 14, 14)
        rows.setSpacing(12)
        rows.addWidget(heading)
        rows.addWidget(self._table, 1)
        rows.addLayout(form)
        rows.addLayout(buttons)
        rows.addWidget(self._problem)
        self.show_keys((), (), "Reading the keyring…")

    def show_keys(self, kept: Sequence[str], in_environment: Sequence[str], problem: str, *, can_store: bool = False) -> None:
        """Display which keys there are.

        Args:
            kept: the names in the keyring.
            in_environment: names that the inspector's own environment sets.
            problem: a sentence to display below; empty for none.
            can_store: whether there is a keyring.
        """
        self._kept, self._can_store = frozenset(kept), can_store
        self._problem.setText(problem)
        self._problem.setVisible(bool(problem))
        names = [*PROPOSED, *(name for name in kept if name not in PROPOSED)]
        selected = self._name.text()
        self._table.setRowCount(len(names))
        for row, name in enumerate(names):
            state = "Set" if name in self._kept else "Not set"
            if name in in_environment:
                state = "Set, but the environment's comes first" if name in self._kept else "In the environment"
            for column, text in enumerate((name, state)):
                self._table.setItem(row, column, QTableWidgetItem(text))
            if name == selected:
                self._table.selectRow(row)
        self._update_buttons()

    def _name_table(self) -> QTableWidget:
        table = QTableWidget(0, len(_COLUMNS))
        table.setObjectName("settings_keys")
        table.setAccessibleName("Keys of models")
        table.setHorizontalHeaderLabels(_COLUMNS)
        table.verticalHeader().hide()
        table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)
        table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QTableWidget.SelectionBehavior.SelectRows)
        table.setSelectionMode(QTableWidget.SelectionMode.SingleSelection)
        theme.keep_row_height(table, _ROW_HEIGHT)
        for column in range(len(_COLUMNS)):
            table.horizontalHeader().setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        table.itemSelectionChanged.connect(self._on_selected)
        return table

    def _on_selected(self) -> None:
        item = self._table.item(self._table.currentRow(), 0)
        if item is not None and self._table.selectedItems():
            self._name.setText(item.text())

    def _update_buttons(self) -> None:
        name = self._name.text().strip()
        self._set.setText("Replace" if name in self._kept else "Set")
        self._set.setEnabled(self._can_store and bool(name) and bool(self._key.text().strip()))
        self._remove.setEnabled(self._can_store and name in self._kept)
        self._key.setEnabled(self._can_store)

    def _on_set(self) -> None:
        if self._set.isEnabled():
            name, key = self._name.text().strip(), self._key.text()
            self._key.clear()
            self.key_entered.emit(name, key)

    def _on_remove(self) -> None:
        self.removal_requested.emit(self._name.text().strip())


def _field(name: str, title: str, hint: str) -> QLineEdit:
    field = QLineEdit()
    field.setObjectName(name)
    field.setAccessibleName(title)
    field.setPlaceholderText(hint)
    return field


def _button(text: str, name: str, title: str) -> QPushButton:
    button = push_button(text, name, does=title)
    button.setToolTip(title)
    button.setAutoDefault(False)
    return button
