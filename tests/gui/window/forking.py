"""Helpers that fork a session through the fork card."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.documents.session_address import SessionAddress
from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import StoredDatabase

FORK_KEY = (Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)


def ids(database: Path, key: SessionKey) -> list[str]:
    """Return the ids of a stored session's events."""
    with StoredDatabase.open(str(database)) as stored:
        return [event.id for event in stored.events(key)]


def ask_to_fork(inspector: Inspector, index: int, qtbot: QtBot) -> None:
    """Select an event and press the fork shortcut."""
    bench = inspector.window.workbench
    bench.stream.select_event(index)
    bench.stream.table.setFocus()
    qtbot.keyClick(inspector.window, *FORK_KEY)
    qtbot.waitUntil(lambda: bench.fork_card.title != "", timeout=10_000)


def choose(inspector: Inspector, name: str, qtbot: QtBot) -> None:
    """Choose an option of the fork card."""
    button = inspector.window.workbench.fork_card.button(name)
    assert button is not None and button.isEnabled(), button and button.toolTip()
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Return)


def wait_for_fork(inspector: Inspector, before: SessionAddress, qtbot: QtBot) -> SessionAddress:
    """Wait until the fork is displayed and return its address."""
    qtbot.waitUntil(lambda: inspector.cursor.session not in (None, before) and inspector.current.session is not None, timeout=10_000)
    qtbot.waitUntil(lambda: not inspector.tasks.running or inspector.run.phase != "idle", timeout=10_000)
    assert inspector.cursor.session is not None
    return inspector.cursor.session
