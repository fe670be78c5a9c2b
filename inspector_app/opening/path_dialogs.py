"""The file dialogs of what can be opened."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from inspector_app.widgets.file_dialogs import ask_for_existing

_DATABASES = "Session databases (*.db *.sqlite *.sqlite3);;Traces (*.jsonl *.json *.pb *.gz);;All files (*)"
_EVAL_SETS = "Eval sets (*.evalset.json *.test.json);;JSON files (*.json)"


def ask_for_agent(window: QWidget, chosen: Callable[[str], None]) -> None:
    """Ask for the folder of an agent, and call `chosen` with it."""
    ask_for_existing(window, "Open an agent folder", chosen, folder=True)


def ask_for_database(window: QWidget, chosen: Callable[[str], None]) -> None:
    """Ask for the file of a database, and call `chosen` with it."""
    ask_for_existing(window, "Open a session database", chosen, filters=_DATABASES)


def ask_for_eval_set(window: QWidget, chosen: Callable[[str], object]) -> None:
    """Ask for the file of an eval set, and call `chosen` with it."""
    ask_for_existing(window, "Open an eval set", chosen, filters=_EVAL_SETS)
