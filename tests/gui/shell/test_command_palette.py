"""Every command can be found by a few letters and run with the keyboard."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from inspector_app.shell.command_palette import CommandPalette
from inspector_app.shell.main_window import MainWindow
from inspector_app.widgets.actions import allow


@pytest.fixture
def palette(window: MainWindow, qtbot: QtBot) -> CommandPalette:
    window.commands.palette.trigger()
    qtbot.waitUntil(lambda: window.palette_card.field.hasFocus())
    return window.palette_card


def test_it_lists_every_action_of_the_window(window: MainWindow, palette: CommandPalette) -> None:
    for name, command in vars(window.commands).items():
        text = command.text().rstrip("…")
        assert any(listed == text or listed.endswith(f": {text}") for listed in palette.names), name


def test_a_command_named_like_its_menu_is_not_prefixed(palette: CommandPalette, qtbot: QtBot) -> None:
    assert "Run" in palette.names and "Run: Step into" in palette.names and "Run: Run" not in palette.names


def test_words_in_any_order_find_a_command_and_enter_runs_it(window: MainWindow, palette: CommandPalette, qtbot: QtBot) -> None:
    qtbot.keyClicks(palette.field, "over step")
    assert palette.names == ["Run: Step over"]
    with qtbot.waitSignal(window.commands.step_over.triggered):
        qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert not palette.isVisible()


def test_prefix_matches_come_first_and_arrow_keys_select(window: MainWindow, palette: CommandPalette, qtbot: QtBot) -> None:
    qtbot.keyClicks(palette.field, "re")
    run, session = ("Resume", "Replay with recorded answers", "Record model requests"), ("Rewind to before this invocation", "Reload")
    first = [*(f"Run: {name}" for name in run), *(f"Session: {name}" for name in session)]
    assert palette.names[:5] == first
    for _ in range(4):
        qtbot.keyClick(palette.field, Qt.Key.Key_Down)
    with qtbot.waitSignal(window.commands.reload.triggered):
        qtbot.keyClick(palette.field, Qt.Key.Key_Return)


def test_a_disabled_command_shows_why_and_does_not_run(window: MainWindow, palette: CommandPalette, qtbot: QtBot) -> None:
    allow(window.commands.resume, "No invocation is unfinished")
    done: list[bool] = []
    window.commands.resume.triggered.connect(done.append)
    qtbot.keyClicks(palette.field, "resume")
    assert palette.names == ["Run: Resume"]
    assert "No invocation is unfinished" in palette.reasons
    qtbot.keyClick(palette.field, Qt.Key.Key_Return)
    assert palette.isVisible()
    assert done == []


def test_escape_restores_the_focus(window: MainWindow, palette: CommandPalette, qtbot: QtBot) -> None:
    window.show_page(window.workbench)
    palette.hide()
    window.parts.filter_bar.focus()
    window.commands.palette.trigger()
    qtbot.keyClick(palette.field, Qt.Key.Key_Escape)
    assert not palette.isVisible()
    assert window.parts.filter_bar.field.hasFocus()
