"""The file dialogs of an export and an import."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from inspector_app.widgets import file_dialogs

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
    kinds = {f"{what} (*{end})": kind for kind, (what, end) in formats.items()}
    ends = {f"{what} (*{end})": end for what, end in formats.values()}
    dialog = file_dialogs.ask_where_to_write(parent, title, name, ends, lambda file: chosen(file, kinds[dialog.selectedNameFilter()]))


def ask_what_to_import(chosen: Callable[[str], None], parent: QWidget) -> None:
    """Ask for the file of an import.

    Args:
        chosen: receives the path.
        parent: the window.
    """
    file_dialogs.ask_for_existing(parent, "Import sessions", chosen, filters=_READABLE)


def ask_for_new_database(
    name: str, chosen: Callable[[str], None], rejected: Callable[[], None], parent: QWidget, title: str = "Import into a new database"
) -> None:
    """Ask for the path of a new database.

    Args:
        name: the proposed name, without suffix.
        chosen: receives the path.
        rejected: called if the user gives up.
        parent: the window.
        title: of the dialog.
    """
    # Existing sessions of a database are kept.
    dialog = file_dialogs.ask_where_to_write(parent, title, name, {"Session databases (*.db)": ".db"}, chosen, adds=True)
    dialog.rejected.connect(rejected)


def ask_for_eval_set(name: str, chosen: Callable[[str], None], parent: QWidget) -> None:
    """Ask for an eval set, a new one or one that exists.

    Args:
        name: the proposed name, without suffix.
        chosen: receives the path.
        parent: the window.
    """
    kinds = {"Eval sets (*.evalset.json *.test.json)": ".evalset.json", "All files (*)": ".evalset.json"}
    dialog = file_dialogs.ask_where_to_write(parent, "Add the session to an eval set", name, kinds, chosen, adds=True)
    dialog.setLabelText(dialog.DialogLabel.Accept, "Add")


def open_in_its_program(file: Path) -> bool:
    """Open a file in the program that the desktop has for it; return whether there is one."""
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(file)))
