"""The file dialogs of an export and an import."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

_READABLE = "Exports (*.html *.htm *.md *.json *.jsonl *.ndjson);;Session databases (*.db *.sqlite *.sqlite3);;All files (*)"


def ask_where_to_export(
    title: str, name: str, formats: Mapping[str, tuple[str, str]], chosen: Callable[[str, str], None], parent: QWidget
) -> None:
    """Ask for the file of an export.

    Args:
        title: of the dialog.
        name: a file name without its end, as a proposal.
        formats: name of a format → what it is, and the end of its files' names.
        chosen: receives the path, and the format that was selected in the dialog.
        parent: the window.
    """
    dialog = QFileDialog(parent, title, acceptMode=QFileDialog.AcceptMode.AcceptSave, fileMode=QFileDialog.FileMode.AnyFile)
    names = {f"{what} (*{end})": kind for kind, (what, end) in formats.items()}
    dialog.setNameFilters(list(names))
    first_end = next(iter(formats.values()))[1]
    dialog.setDefaultSuffix(first_end[1:])
    dialog.selectFile(_file_name(name) + first_end)
    dialog.filterSelected.connect(lambda shown: dialog.setDefaultSuffix(formats[names[shown]][1][1:]))
    dialog.fileSelected.connect(lambda file: chosen(file, names[dialog.selectedNameFilter()]))
    _open(dialog)


def ask_what_to_import(chosen: Callable[[str], None], parent: QWidget) -> None:
    """Ask for the file of an import.

    Args:
        chosen: receives the path.
        parent: the window.
    """
    dialog = QFileDialog(parent, "Import sessions", fileMode=QFileDialog.FileMode.ExistingFile)
    dialog.setNameFilter(_READABLE)
    dialog.fileSelected.connect(chosen)
    _open(dialog)


def ask_for_new_database(
    chosen: Callable[[str], None], rejected: Callable[[], None], parent: QWidget, title: str = "Import into a new database"
) -> None:
    """Ask for the path of a new database.

    Args:
        chosen: receives the path.
        rejected: called if the user gives up.
        parent: the window.
        title: of the dialog.
    """
    dialog = QFileDialog(parent, title, acceptMode=QFileDialog.AcceptMode.AcceptSave)
    dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)  # existing sessions are kept
    dialog.setNameFilter("Session databases (*.db)")
    dialog.setDefaultSuffix("db")
    dialog.fileSelected.connect(chosen)
    dialog.rejected.connect(rejected)
    _open(dialog)


def ask_for_eval_set(chosen: Callable[[str], None], parent: QWidget) -> None:
    """Ask for an eval set, a new one or one that exists.

    Args:
        chosen: receives the path.
        parent: the window.
    """
    dialog = QFileDialog(parent, "Add the session to an eval set", acceptMode=QFileDialog.AcceptMode.AcceptSave)
    dialog.setOption(QFileDialog.Option.DontConfirmOverwrite)  # the cases that are there are kept
    dialog.setLabelText(QFileDialog.DialogLabel.Accept, "Add")
    dialog.setNameFilters(["Eval sets (*.evalset.json *.test.json)", "All files (*)"])
    dialog.setDefaultSuffix("evalset.json")
    dialog.fileSelected.connect(chosen)
    _open(dialog)


def open_in_its_program(file: Path) -> bool:
    """Open a file in the program that the desktop has for it; return whether there is one."""
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(file)))


def _open(dialog: QFileDialog) -> None:
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()


def _file_name(text: str) -> str:
    """Return a text as the name of a file."""
    return "".join(letter if letter.isalnum() or letter in "-_. " else "_" for letter in text)[:80].strip(". ") or "session"
