"""The keyboard goes from pane to pane, and home when what had it goes away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QCheckBox, QDockWidget, QLineEdit, QPushButton, QToolButton, QWidget
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector


@pytest.fixture
def shown(inspector: Inspector, story_db: Path, opened: Callable[..., None], qtbot: QtBot) -> Inspector:
    opened(story_db)
    inspector.window.activateWindow()
    qtbot.waitUntil(inspector.window.isActiveWindow)
    return inspector


def focused() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget


def test_the_start_page_has_the_keyboard_and_then_the_events(
    inspector: Inspector, story_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    inspector.window.activateWindow()
    qtbot.waitUntil(lambda: focused().objectName() == "welcome_open_agent")
    opened(story_db)
    assert focused() is inspector.window.workbench.stream.table


def test_f7_goes_round_the_panes_and_back(shown: Inspector, qtbot: QtBot) -> None:
    bench = shown.window.workbench
    bench.sessions.tree.setFocus()
    panes = [bench.sessions, bench.stream, bench.composer, bench.detail, bench.pending]
    for pane in [*panes[1:], panes[0]]:
        qtbot.keyClick(focused(), Qt.Key.Key_F7)
        assert pane.isAncestorOf(focused()), (pane.objectName(), focused().objectName())
    for pane in reversed(panes):
        qtbot.keyClick(focused(), Qt.Key.Key_F7, Qt.KeyboardModifier.ShiftModifier)
        assert pane.isAncestorOf(focused()), (pane.objectName(), focused().objectName())


def test_tab_goes_from_the_sessions_to_the_events_to_the_inspector(shown: Inspector, qtbot: QtBot) -> None:
    bench = shown.window.workbench
    bench.sessions.tree.setFocus()
    seen = []
    for _ in range(12):
        qtbot.keyClick(focused(), Qt.Key.Key_Tab)
        seen.append(next((pane.objectName() for pane in (bench.stream, bench.composer, bench.detail) if pane.isAncestorOf(focused())), ""))
    order = [name for name in dict.fromkeys(seen) if name]
    assert order == ["event_stream", "composer", "event_detail"]


def test_a_card_that_goes_away_gives_the_keyboard_to_the_events(shown: Inspector, qtbot: QtBot) -> None:
    bench = shown.window.workbench
    shown.window.commands.fork.trigger()
    qtbot.waitUntil(lambda: bench.fork_card.isVisible() and bench.fork_card.isAncestorOf(focused()))
    qtbot.keyClick(focused(), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: focused() is bench.stream.table)
    bench.stream.table.clearFocus()
    bench.database_hint.suggest("Something", "Do it", "hand")
    bench.database_hint.button.setFocus()
    bench.database_hint.hide()
    qtbot.waitUntil(lambda: focused() is bench.stream.table)


def test_who_asked_for_the_keyboard_keeps_it(shown: Inspector, qtbot: QtBot) -> None:
    bench = shown.window.workbench
    bench.database_hint.suggest("Something", "Do it", "hand")
    bench.database_hint.button.setFocus()
    bench.database_hint.hide()
    bench.composer.focus()
    QApplication.processEvents()
    QApplication.processEvents()
    assert bench.composer.isAncestorOf(focused())


def test_enter_presses_the_button_that_has_the_keyboard(shown: Inspector, qtbot: QtBot) -> None:
    window, bench = shown.window, shown.window.workbench
    button = window.findChild(QPushButton, "state_add")
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Return)
    assert window.findChild(QLineEdit, "state_key").isVisible()
    window.commands.fork.trigger()  # its choices are made when it is asked
    qtbot.waitUntil(lambda: bench.fork_card.isAncestorOf(focused()))
    choices = bench.fork_card.findChildren(QPushButton)
    choices[-1].setFocus()
    qtbot.keyClick(choices[-1], Qt.Key.Key_Enter, Qt.KeyboardModifier.KeypadModifier)
    assert not bench.fork_card.isVisible()
    shown.messages.warning("Something is odd")
    qtbot.keyClick(focused(), Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(focused(), Qt.Key.Key_Return)
    assert QApplication.clipboard().text() == "Something is odd"


def test_enter_presses_no_button_that_is_off_nor_again_while_it_is_held_down(shown: Inspector, qtbot: QtBot) -> None:
    pressed = []
    button = QPushButton("made later", shown.window)
    button.clicked.connect(lambda: pressed.append(button))
    button.show()
    button.setFocus()
    held_down = QKeyEvent(QKeyEvent.Type.KeyPress, Qt.Key.Key_Return, Qt.KeyboardModifier.NoModifier, "\r", True)
    QApplication.sendEvent(button, held_down)
    qtbot.keyClick(button, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert not pressed
    qtbot.keyClick(button, Qt.Key.Key_Return)
    assert pressed == [button]
    dock = shown.window.findChild(QDockWidget, "dock_log")
    dock.setFloating(True)  # a window of its own
    shown.window.workbench.raise_pane("log")
    copy = dock.findChild(QToolButton, "log_copy")
    shown.messages.info("said in the log", quiet=True)
    copy.setFocus()
    qtbot.keyClick(copy, Qt.Key.Key_Return)
    assert "said in the log" in QApplication.clipboard().text()
    dock.setFloating(False)
    box = QCheckBox("an answer, not a button", shown.window)
    box.show()
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert not box.isChecked()


def test_each_pane_comes_to_the_front_by_its_key(shown: Inspector, qtbot: QtBot) -> None:
    bench = shown.window.workbench
    panes = [bench.sessions, bench.detail, bench.pending, bench.breakpoints, bench.timeline, bench.writers, bench.log]
    for number, pane in enumerate(panes, 1):
        qtbot.keyClick(focused(), str(number), Qt.KeyboardModifier.AltModifier)
        qtbot.waitUntil(lambda: not pane.visibleRegion().isEmpty())  # noqa: B023
        assert pane.isAncestorOf(focused()), "an empty one, too"


def test_a_new_session_waits_for_a_message(story: Inspector, qtbot: QtBot) -> None:
    story.window.activateWindow()
    qtbot.waitUntil(story.window.isActiveWindow)
    story.window.commands.new_session.trigger()
    qtbot.waitUntil(lambda: not story.tasks.running)
    assert story.window.workbench.composer.isAncestorOf(focused())


def test_the_keyboard_stays_in_an_empty_pane_that_is_filled(shown: Inspector, qtbot: QtBot) -> None:
    bench = shown.window.workbench
    qtbot.keyClick(focused(), "6", Qt.KeyboardModifier.AltModifier)
    assert bench.writers.isAncestorOf(focused())
    bench.writers.show_writers("Who wrote words", [])
    assert focused() is bench.writers.tree
