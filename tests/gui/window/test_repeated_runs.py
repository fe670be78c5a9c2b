"""A session is run again several times from its menu; the runs are side by side, grouped by what they did."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QSpinBox
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.evals.repeat_dialog import RepeatDialog
from inspector_app.evals.repeat_page import RepeatPage
from tests.gui.window.driver import WindowDriver, text_of
from tests.unit.inspector_app.commands.test_repeat import AGENT

SLOW = AGENT.replace("def look(word: str)", "async def look(word: str)").replace(
    "    return word", "    import asyncio\n    await asyncio.Event().wait()\n    return word"
)


@pytest.fixture
def dice(agent: Callable[[str, str], Inspector], driver: WindowDriver) -> Inspector:
    """The window with an agent that takes another path each time, and a session of it."""
    inspector = agent("dice", AGENT)
    driver.run_message("hi")
    return inspector


def ask(driver: WindowDriver) -> RepeatDialog:
    menu = driver.bench.parts.sessions.context_menu(driver.sessions.indexes("session")[0])
    assert menu is not None
    next(action for action in menu.actions() if action.text().startswith("Run again")).trigger()
    window = driver.inspector.window
    driver.run_until(lambda: window.findChildren(RepeatDialog))
    return window.findChildren(RepeatDialog)[-1]


def run(driver: WindowDriver, times: int) -> RepeatPage:
    dialog = ask(driver)
    dialog.findChild(QSpinBox, "repeat_number").setValue(times)
    driver.click(dialog, "repeat_run")
    page = driver.inspector.window.parts.repeats
    driver.run_until(lambda: driver.inspector.window.page is page)
    driver.inspector.window.activateWindow()  # off screen nothing does so after a dialog
    return page


def test_runs_are_grouped_by_path_and_an_error_of_one_does_not_stop_the_others(dice: Inspector, driver: WindowDriver) -> None:
    before = driver.sessions.ids()
    page = run(driver, 4)
    assert dice.run.blocked("send") is not None
    driver.run_until_idle()
    assert page.head.state == "4 runs took 2 paths."
    rows = page.rows()
    assert [row[0] for row in rows if not row[1]] == ["no tools  (3×)", "look  (1×)"]
    assert sorted(row[1] for row in rows if row[1]) == ["failed", "finished", "finished", "finished"]
    assert any("the model is down" in row[5] for row in rows)
    assert all("ms" in row[2] or " s" in row[2] for row in rows)
    assert dice.run.blocked("send") is None
    assert len(driver.sessions.ids()) == len(before) + 4


def test_one_run_is_opened_and_two_are_compared(dice: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    page = run(driver, 2)
    driver.run_until_idle()
    first, second = (page.tree.topLevelItem(row).child(0) for row in range(2))
    page.tree.setCurrentItem(first)
    assert not page.compare_button.isEnabled()
    second.setSelected(True)
    assert not page.open_button.isEnabled()
    driver.click(page, "repeat_compare")
    window = dice.window
    driver.run_until(lambda: window.page is window.parts.compare)
    driver.run_until_idle()
    assert text_of(window.parts.compare, "compare_count").startswith("Difference 1 of")
    driver.click(window.parts.compare, "compare_close")
    assert window.page is page, "closing the comparison goes back to the runs"
    second.setSelected(False)
    key = page.selected[0].key
    driver.click(page, "repeat_open")
    driver.run_until_idle()
    assert window.page is window.workbench
    assert dice.cursor.session is not None and dice.cursor.session.key == key
    window.commands.repeated_runs.trigger()
    assert window.page is page
    qtbot.keyClick(page.tree, Qt.Key.Key_Escape)
    assert window.page is window.workbench


def test_what_it_costs_is_shown_before(dice: Inspector, driver: WindowDriver) -> None:
    dialog = ask(driver)
    assert "tokens" in dialog.cost
    assert "its tools run, each time" in " ".join(label.text() for label in dialog.findChildren(type(dialog._cost)))
    driver.click(dialog, "repeat_dialog_cancel")
    assert dice.window.page is dice.window.workbench


def test_cancelling_ends_the_run_in_progress(agent: Callable[[str, str], Inspector], driver: WindowDriver) -> None:
    inspector = agent("dice", SLOW)
    driver.run_message("hi")
    page = run(driver, 3)
    driver.run_until(lambda: inspector.run.quiet is not None)
    driver.run_until(lambda: page.head.cancel.isVisible())
    assert page.head.state == "Run 1 of 3"
    assert page.rows() == []
    driver.click(page, "repeat_cancel")
    driver.run_until_idle()
    assert page.head.state == "Cancelled after 0 of 3 runs."
    assert not page.head.cancel.isVisible()
    assert inspector.run.blocked("send") is None


def test_without_an_agent_it_says_what_to_open(
    inspector: Inspector, story_db: Path, opened: Callable[..., None], driver: WindowDriver
) -> None:
    opened(story_db)
    inspector.window.commands.run_again.trigger()
    driver.run_until_idle()
    assert "Open an agent first" in driver.log_text()
    assert inspector.window.findChildren(RepeatDialog) == []


def test_the_empty_page_says_what_to_do(inspector: Inspector) -> None:
    inspector.window.commands.repeated_runs.trigger()
    assert inspector.window.parts.repeats.findChild(QPushButton, "repeat_again").isEnabled() is False
