"""Screen readers say what appears where the focus is not: the chosen command, messages, and the state of a run."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from pytestqt.qtbot import QtBot

from inspector_app.presentation.message import Message
from inspector_app.shell.main_window import MainWindow

POLITE, ASSERTIVE = QAccessible.AnnouncementPoliteness.Polite, QAccessible.AnnouncementPoliteness.Assertive


@pytest.fixture
def said(window: MainWindow, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, object]]:
    """Return what is announced from now on: no screen reader runs beside a test."""
    heard: list[tuple[str, object]] = []

    def hear(event: object) -> None:
        if isinstance(event, QAccessibleAnnouncementEvent):
            heard.append((event.message(), event.politeness()))

    monkeypatch.setattr(QAccessible, "updateAccessibility", hear)
    return heard


def test_the_chosen_command_is_announced_with_its_key_or_why_it_is_disabled(
    window: MainWindow, said: list[tuple[str, object]], qtbot: QtBot
) -> None:
    window.commands.palette.trigger()
    palette = window.palette_card
    qtbot.waitUntil(lambda: palette.field.hasFocus())
    qtbot.keyClick(palette.field, Qt.Key.Key_Down)
    assert said.pop() == ("Open database, Ctrl+Shift+O", POLITE)
    qtbot.keyClicks(palette.field, "step over")
    assert said.pop()[0].startswith("Run: Step over, ") and palette.reasons[0] in palette.commands.currentIndex().data(
        Qt.ItemDataRole.AccessibleTextRole
    )
    qtbot.keyClicks(palette.field, " nowhere")
    assert said.pop() == ("No command has these words in its name", POLITE)


def test_a_message_is_announced_when_it_appears_and_an_error_at_once(window: MainWindow, said: list[tuple[str, object]]) -> None:
    window.message_bar.show_message(Message("info", "Saved."))
    window.message_bar.show_message(Message("error", "The file is damaged."))
    window.message_bar.show_message(Message("error", "The file is damaged."))
    assert said == [("Saved.", POLITE), ("The file is damaged.", ASSERTIVE)]


def test_a_new_state_of_the_run_is_announced_once(window: MainWindow, said: list[tuple[str, object]]) -> None:
    for _ in range(2):
        window.run_bar.show_state("running", "running", "")
        window.run_bar.show_state("running", "running", "")
        window.run_bar.show_state("held", "held at 2", "before tool call pay")
    assert [text for text, _ in said] == ["running", "held at 2 before tool call pay"] * 2
