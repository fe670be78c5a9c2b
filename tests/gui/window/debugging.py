"""Helpers that send messages, set breakpoints and read events, through the real widgets."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLineEdit, QListWidget, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.demo import STORY
from runtime.events.event import Event

ORDERS = STORY.parent / "orders"


def write(inspector: Inspector, text: str, qtbot: QtBot) -> None:
    """Send a message with the composer."""
    edit = inspector.window.findChild(QPlainTextEdit, "composer_edit")
    edit.setPlainText(text)
    qtbot.keyClick(edit, Qt.Key.Key_Return)


def wait_until_held(inspector: Inspector, qtbot: QtBot) -> None:
    """Wait until the agent is held."""
    qtbot.waitUntil(lambda: inspector.run.phase == "paused", timeout=10_000)


def add_breakpoint(inspector: Inspector, qtbot: QtBot, condition: str, when: str = "event", tool: str = "", log: str = "") -> None:
    """Add a breakpoint with the form."""
    pane = inspector.window.workbench.breakpoints
    inspector.window.workbench.raise_pane("breakpoints")
    combo = pane.findChild(QComboBox, "breakpoint_when")
    combo.setCurrentIndex(combo.findData(when))
    for name, text in (("breakpoint_tool", tool), ("breakpoint_log", log), ("breakpoint_condition", condition)):
        qtbot.keyClicks(pane.findChild(QLineEdit, name), text)
    qtbot.keyClick(pane.findChild(QLineEdit, "breakpoint_condition"), Qt.Key.Key_Return)


def press(inspector: Inspector, name: str, qtbot: QtBot) -> None:
    """Click a button of the held card."""
    button = inspector.window.workbench.held.findChild(QPushButton, name)
    assert button.isVisible() and button.isEnabled(), f"{name}: {button.isVisible()}, {button.toolTip()}"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def editor(inspector: Inspector) -> QPlainTextEdit:
    """Return the held card's editor."""
    return inspector.window.workbench.held.findChild(QPlainTextEdit, "held_editor")


def log_text(inspector: Inspector) -> str:
    """Return the text of the log."""
    shown = inspector.window.workbench.log.findChild(QListWidget, "log_list")
    return "\n".join(shown.item(row).text() for row in range(shown.count()))


def events_of(inspector: Inspector) -> list[Event]:
    """Return the committed events."""
    model = inspector.controller.events
    return [model.committed(index) for index in range(model.event_count)]


def results(inspector: Inspector, tool: str) -> list[dict]:  # type: ignore[type-arg]
    """Return the results of a tool, in commit order."""
    return [
        dict(response.response or {})
        for event in events_of(inspector)
        for response in event.get_function_responses()
        if response.name == tool
    ]
