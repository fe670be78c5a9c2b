"""Helpers that resume an invocation through the preflight card."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.running.view_data import Preflight


def read_preflight(inspector: Inspector, qtbot: QtBot) -> Preflight:
    """Wait for the preflight card and return what it shows."""
    card = inspector.window.workbench.preflight
    qtbot.waitUntil(lambda: card.shown is not None, timeout=10_000)
    assert card.shown is not None
    return card.shown


def accept_preflight(inspector: Inspector, qtbot: QtBot) -> None:
    """Press Enter on the card."""
    read_preflight(inspector, qtbot)
    button = inspector.window.workbench.preflight.findChild(QPushButton, "preflight_resume")
    qtbot.keyClick(button, Qt.Key.Key_Return)
