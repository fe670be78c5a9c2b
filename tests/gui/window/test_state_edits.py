"""Manual state edits: between runs, while an agent is held, and undone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QComboBox, QLineEdit, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from tests.gui.window.driver import WindowDriver
from tests.gui.window.stored_sessions import event_ids

# Not resumable: the results of a turn are committed together.
NOTER = """
from runtime.agents import LlmAgent
from runtime.models import ScriptedLlm
from runtime.models.scripted_llm import Reply, Rule

def first(tool_context):
    tool_context.state["draft"] = 1
    return {}

def second(n: int):
    return {}

calls = Reply(calls=[("first", {}), ("second", {"n": 2})])
model = ScriptedLlm(rules=[Rule(when="^(first|second) ", reply="done"), Rule(reply=calls)])
root_agent = LlmAgent(name="noter", model=model, tools=[first, second])
"""


def click(inspector: Inspector, name: str, qtbot: QtBot) -> None:
    inspector.window.parts.detail.tabs.setCurrentIndex(1)
    button = inspector.window.parts.detail.findChild(QPushButton, name)
    assert button.isVisible() and button.isEnabled(), f"{name}: {button.toolTip()}"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def fill(inspector: Inspector, scope: str, key: str, value: str, qtbot: QtBot) -> None:
    bar = inspector.window.parts.detail.state_edit
    bar.findChild(QComboBox, "state_scope").setCurrentText(scope)
    bar.findChild(QLineEdit, "state_key").setText(key)
    bar.findChild(QPlainTextEdit, "state_value").setPlainText(value)


def select_key(inspector: Inspector, key: str) -> None:
    state = inspector.window.parts.detail.state
    for lane in range(state.model.rowCount()):
        parent = state.model.index(lane, 0)
        for row in range(state.model.rowCount(parent)):
            if state.model.index(row, 0, parent).data() == key:
                state.tree.setCurrentIndex(state.model.index(row, 0, parent))
                return
    pytest.fail(f"{key} is not shown")


def lane_titles(inspector: Inspector) -> list[str]:
    model = inspector.window.parts.detail.state.model
    return [model.index(row, 0, QModelIndex()).data() for row in range(model.rowCount())]


def test_a_key_is_added_changed_cleared_and_the_edit_undone(story: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    count = story.features.stream.events.event_count
    click(story, "state_add", qtbot)
    setter = story.window.parts.detail.findChild(QPushButton, "state_set")
    fill(story, "user:", "tier", '{"level": ', qtbot)
    assert not setter.isEnabled() and "Line 1" in setter.toolTip()
    fill(story, "user:", "tier", '"gold"', qtbot)
    click(story, "state_set", qtbot)
    qtbot.waitUntil(lambda: driver.state.values().get("user:tier") == '"gold"')
    assert story.features.stream.events.event_count == count + 1
    edit = driver.stream.events()[-1]
    assert edit.author == "system" and edit.actions.state_delta == {"user:tier": "gold"}

    select_key(story, "user:tier")
    story.window.parts.detail.state.tree.setFocus()
    qtbot.keyClick(story.window.parts.detail.state.tree, Qt.Key.Key_F2)
    assert story.window.parts.detail.findChild(QPlainTextEdit, "state_value").toPlainText() == '"gold"'
    fill(story, "user:", "tier", '"silver"', qtbot)
    click(story, "state_set", qtbot)
    qtbot.waitUntil(lambda: "silver" in driver.state.values()["user:tier"])

    click(story, "state_undo", qtbot)
    qtbot.waitUntil(lambda: driver.state.values()["user:tier"].endswith('"gold"'))
    select_key(story, "user:tier")
    click(story, "state_clear", qtbot)
    qtbot.waitUntil(lambda: "null" in driver.state.values()["user:tier"])
    assert story.features.stream.events.event_count == count + 4
    assert [event.id for event in driver.stream.events()] == event_ids(_database(story), story.cursor.session.key)


@pytest.mark.parametrize("value", ['"\\ud800"', '{"\\udfff": 1}', "NaN", "[-Infinity]", "1e999", '{"a": [-1e999]}', "[" * 100_000])
def test_what_cannot_be_stored_is_not_committed(story: Inspector, value: str, qtbot: QtBot) -> None:
    click(story, "state_add", qtbot)
    fill(story, "session", "k", value, qtbot)
    setter = story.window.workbench.parts.detail.findChild(QPushButton, "state_set")
    assert not setter.isEnabled()
    assert any(words in setter.toolTip() for words in ("half a surrogate pair", "is not a JSON number", "too large", "nested too deeply"))
    fill(story, "session", "k", '"\\ud83d\\ude00"', qtbot)
    assert setter.isEnabled()


def test_an_invocation_can_be_resumed_after_a_state_edit(story: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    click(story, "state_add", qtbot)
    fill(story, "session", "mood", "1", qtbot)
    click(story, "state_set", qtbot)
    qtbot.waitUntil(lambda: "mood" in driver.state.values() and not story.tasks.running)
    with qtbot.waitSignal(story.run.run_ended, timeout=30_000) as ended:
        story.window.commands.resume.trigger()
        driver.preflight.accept()
    assert ended.args[0].error is None
    assert "mood" in driver.state.values()


def test_a_held_agent_sees_an_edit_at_once(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.breakpoints.add("", "before tool", "add_to_cart")
    driver.composer.send("40 boxes of A4 paper")
    driver.run_until_held()
    click(orders, "state_add", qtbot)
    fill(orders, "app:", "limit", "1000", qtbot)
    click(orders, "state_set", qtbot)
    qtbot.waitUntil(lambda: driver.state.values().get("app:limit") == "1,000" or driver.state.values().get("app:limit") == "1000")
    assert orders.run.phase == "paused"
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        driver.held.press("held_call")
    assert driver.stream.results("add_to_cart")[0]["approval_limit"] == 1000
    assert "ask_for_approval" not in str(driver.stream.events())


@pytest.mark.rule("I2")
def test_uncommitted_values_of_a_held_agent_are_shown_in_a_lane_of_their_own(
    agent: Callable[[str, str], Inspector], driver: WindowDriver, qtbot: QtBot
) -> None:
    inspector = agent("noter", NOTER)
    driver.breakpoints.add("call.second.args.n == 2", "before tool")
    driver.composer.send("go")
    driver.run_until_held()
    assert lane_titles(inspector)[-1] == "not committed yet"
    assert driver.state.values()["draft"] == "1"
    assert inspector.run.uncommitted == {"draft": 1}
    inspector.window.commands.step.trigger()
    qtbot.waitUntil(lambda: "not committed yet" not in lane_titles(inspector) and inspector.run.phase == "paused", timeout=10_000)
    with qtbot.waitSignal(inspector.run.run_ended, timeout=10_000):
        inspector.window.commands.stop.trigger()


def test_state_cannot_be_edited_while_an_agent_runs(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    bar = orders.window.parts.detail.state_edit
    orders.window.parts.composer.set_text("a desk lamp")
    driver.breakpoints.add("", "before model")
    driver.composer.send("a desk lamp")
    driver.run_until_held()
    blocked: list[bool] = []
    orders.run.changed.connect(lambda: blocked.append(not bar.findChild(QPushButton, "state_add").isEnabled()))
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        orders.window.commands.stop.trigger()
    assert any(blocked)


def _database(inspector: Inspector) -> Path:
    assert inspector.cursor.session is not None
    return Path(inspector.cursor.session.database)


def test_typing_the_value_of_a_new_key_replaces_null(story: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    click(story, "state_add", qtbot)
    detail = story.window.parts.detail
    key, value = detail.findChild(QLineEdit, "state_key"), detail.findChild(QPlainTextEdit, "state_value")
    qtbot.keyClicks(key, "mood")
    qtbot.keyClick(key, Qt.Key.Key_Tab)
    qtbot.keyClicks(value, '"good"')
    qtbot.keyClick(value, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: driver.state.values().get("mood") == '"good"')
