"""The file dialogs of what can be opened."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

_DATABASES = "Session databases (*.db *.sqlite *.sqlite3);;Traces (*.jsonl *.json *.pb *.gz);;All files (*)"
_EVAL_SETS = "Eval sets (*.evalset.json *.test.json);;JSON files (*.json)"


def ask_for_agent(window: QWidget, chosen: Callable[[str], None]) -> None:
    """Ask for the folder of an agent, and call `chosen` with it."""
    dialog = QFileDialog(window, "Open an agent folder", fileMode=QFileDialog.FileMode.Directory)
    dialog.setOption(QFileDialog.Option.ShowDirsOnly, True)
    _open(dialog, chosen)


def ask_for_database(window: QWidget, chosen: Callable[[str], None]) -> None:
    """Ask for the file of a database, and call `chosen` with it."""
    _ask_for_file(window, "Open a session database", _DATABASES, chosen)


def ask_for_eval_set(window: QWidget, chosen: Callable[[str], None]) -> None:
    """Ask for the file of an eval set, and call `chosen` with it."""
    _ask_for_file(window, "Open an eval set", _EVAL_SETS, chosen)


def _ask_for_file(window: QWidget, title: str, names: str, chosen: Callable[[str], None]) -> None:
    dialog = QFileDialog(window, title, fileMode=QFileDialog.FileMode.ExistingFile)
    dialog.setNameFilter(names)
    _open(dialog, chosen)


def _open(dialog: QFileDialog, chosen: Callable[[str], None]) -> None:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(chosen)
    dialog.open()
