"""Breakpoints, holds, steps and manual changes, through the real widgets, with the order desk sample."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSpinBox,
    QTextBrowser,
)
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.demo import STORY
from inspector_app.presentation.signs import SIGNS
from inspector_app.stream.event_cells import Column
from inspector_app.support.settings import Settings
from runtime.events.marks import EDITED
from tests.gui.window.driver import WindowDriver
from tests.gui.window.trusting import trust_folder

ORDERS = STORY.parent / "orders"


def test_a_breakpoint_holds_a_tool_call_whose_arguments_are_then_edited(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.breakpoints.add("call.add_to_cart.args.quantity > 10", "before tool", "add_to_cart")
    driver.composer.send("40 boxes of A4 paper")
    driver.run_until_held()
    window, card = orders.window, orders.window.parts.held
    count = orders.features.stream.events.event_count
    assert card.isVisible() and card.text.startswith("Held before add_to_cart breakpoint:") and "(1st hit)" in card.text
    assert window.run_bar.state_text == f"held at {count}"
    assert window.run_bar.detail_text == "before tool call add_to_cart"
    assert window.run_bar.explained.startswith("breakpoint: before tool add_to_cart")
    assert "1st hit" in window.run_bar.explained
    assert [card.findChild(QLineEdit, f"held_field_{key}").text() for key in ("sku", "quantity")] == ["PA4-80", "40"]
    assert '"quantity": 40' in driver.held.editor.toPlainText()
    assert driver.stream.results("add_to_cart") == []

    driver.held.editor.setPlainText('{"sku": "PA4-80", "quantity": 4')
    call = card.findChild(QPushButton, "held_call")
    assert not call.isEnabled() and "Line 1" in call.toolTip()
    window.commands.run.trigger()
    assert orders.run.phase == "paused", "invalid text is kept, and the run does not continue"
    driver.held.editor.setPlainText('{"sku": "PA4-80", "quantity": 4}')
    assert call.text() == "Call it" and call.isEnabled()
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        driver.held.press("held_call")
    assert not card.isVisible()
    assert driver.stream.results("add_to_cart")[0]["total"] == pytest.approx(16.8)
    marked = [event for event in driver.stream.events() if EDITED in (event.custom_metadata or {})]
    assert len(marked) == 1
    row = orders.features.stream.events.stream_row(orders.features.stream.events.row_of(marked[0].id))  # type: ignore[arg-type]
    assert row.edited


def test_a_tool_call_is_replaced_by_a_result(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.breakpoints.add("", "before tool", "find_product")
    driver.composer.send("a desk lamp")
    driver.run_until_held()
    driver.held.press("held_result")
    submit = orders.window.parts.held.findChild(QPushButton, "held_call")
    assert not submit.isEnabled()
    qtbot.keyClicks(driver.held.editor, "[1]")
    assert not submit.isEnabled() and "object" in submit.toolTip()
    driver.held.editor.setPlainText('{"products": []}')
    orders.window.commands.step.trigger()
    qtbot.waitUntil(lambda: driver.stream.results("find_product") == [{"products": []}], timeout=10_000)
    driver.run_until_held()
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        orders.window.commands.stop.trigger()


def test_a_tool_call_is_replaced_by_an_exception(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.breakpoints.add("", "before tool", "find_product")
    driver.composer.send("a desk lamp")
    driver.run_until_held()
    driver.held.press("held_raise")
    qtbot.keyClicks(driver.held.editor, "the catalogue burned down")
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000) as ended:
        orders.window.commands.run.trigger()
    assert driver.stream.results("find_product") == [{"error": "the catalogue burned down"}]
    assert ended.args[0].error is None, "the sample handles the error"


def test_a_model_call_is_replaced_by_an_answer(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.breakpoints.add("", "before model")
    driver.composer.send("a desk lamp")
    driver.run_until_held()
    assert orders.window.parts.held.text.startswith("Held before the model call of order_desk")
    assert '"contents"' in driver.held.editor.toPlainText() and "a desk lamp" in driver.held.editor.toPlainText()
    driver.held.press("held_answer")
    qtbot.keyClicks(driver.held.editor, "We are closed.")
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000) as ended:
        driver.held.press("held_call")
    assert ended.args[0].error is None
    last = next(event for event in driver.stream.events() if EDITED in (event.custom_metadata or {}))
    assert last.content is not None and last.content.parts is not None and last.content.parts[0].text == "We are closed."
    assert (last.custom_metadata or {})[EDITED] == {"model": {"answer": True}}
    focus = orders.window.focusWidget()
    assert focus is orders.window.parts.stream.table, "not a widget where Ctrl+Enter has another effect"


def test_an_edited_request_is_checked_and_sent(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.breakpoints.add("", "before model")
    driver.composer.send("a desk lamp")
    driver.run_until_held()
    text = driver.held.editor.toPlainText()
    driver.held.editor.setPlainText(text.replace('"contents"', '"content"', 1))
    driver.held.press("held_call")
    assert orders.run.phase == "paused"
    problem = orders.window.parts.held.findChild(QPlainTextEdit, "held_editor").property("state")
    assert problem == "wrong"
    driver.held.editor.setPlainText(text.replace("a desk lamp", "an office chair"))
    orders.window.commands.step.trigger()
    qtbot.waitUntil(lambda: "chair" in str(driver.stream.events()[-1].get_function_calls()), timeout=10_000)
    assert "request" in (driver.stream.events()[-1].custom_metadata or {})[EDITED]["model"]
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        orders.window.commands.stop.trigger()


def test_step_into_over_and_out(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    commands, bar = orders.window.commands, orders.window.run_bar
    assert not commands.step_into.isEnabled() and "not held" in commands.step_into.toolTip()
    orders.window.parts.composer.set_text("a desk lamp")
    commands.step.trigger()
    driver.run_until_held()
    composer = orders.window.findChild(QPlainTextEdit, "composer_edit")
    assert composer.placeholderText() == "Message orders: can be sent when this run has ended"
    shown = [orders.features.stream.events.stream_row(row) for row in range(orders.features.stream.events.rowCount())]
    assert (shown[0].summary, shown[0].event_kind, shown[0].icon) == ("a desk lamp", "held", SIGNS["held"].icon)
    assert [row.kind for row in shown[1:]] == ["event"] * (len(shown) - 1), "the arrow is in the row of the last event"
    assert shown[-1].held
    held = orders.window.parts.held
    why = "at the agent's first event, before the tool runs"
    assert held.text == f"Held after order_desk's tool call {why} · F5 continues, F10 steps to the next event"
    qtbot.keyClick(orders.window, Qt.Key.Key_F11)
    qtbot.waitUntil(lambda: bar.detail_text == "before tool call find_product", timeout=10_000)
    qtbot.keyClick(orders.window, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: bar.detail_text == "after order_desk's tool result", timeout=10_000)
    qtbot.keyClick(orders.window, Qt.Key.Key_F11)
    qtbot.waitUntil(lambda: bar.detail_text == "before the model call of order_desk", timeout=10_000)
    qtbot.keyClick(orders.window, Qt.Key.Key_F11, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: bar.detail_text == "at the end of order_desk", timeout=10_000)
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        commands.run.trigger()
    assert composer.placeholderText().startswith("Message orders")
    assert len(orders.run.holds()) == 5 and all(hold.start <= hold.end for hold in orders.run.holds())


def test_run_to_an_event_of_the_selected_kind(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    orders.window.parts.composer.set_text("a desk lamp")
    orders.window.commands.step.trigger()
    driver.run_until_held()
    orders.window.commands.step.trigger()
    qtbot.waitUntil(lambda: orders.features.stream.events.event_count == 3 and orders.run.phase == "paused", timeout=10_000)
    orders.window.parts.stream.select_event(1)
    assert "tool call" in orders.window.commands.run_to.toolTip()
    qtbot.keyClick(orders.window, Qt.Key.Key_F10, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: orders.features.stream.events.event_count > 3 and orders.run.phase == "paused", timeout=10_000)
    assert driver.stream.events()[-1].get_function_calls()
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        orders.window.commands.stop.trigger()


def test_f9_on_a_past_event_proposes_a_breakpoint_and_the_gutter_removes_it(
    orders: Inspector, settings: Settings, driver: WindowDriver, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        driver.composer.send("a desk lamp")
    window, model = orders.window, orders.features.stream.events
    place = next(index for index, event in enumerate(driver.stream.events()) if event.get_function_responses())
    window.parts.stream.select_event(place)
    qtbot.keyClick(window, Qt.Key.Key_F9)
    field = window.findChild(QLineEdit, "breakpoint_condition")
    assert field.text() == 'response == "find_product"' and field.hasFocus()
    assert window.parts.breakpoints.rows == []
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert [row.condition for row in window.parts.breakpoints.rows] == ['response == "find_product"']
    row = model.row_of_index(place)
    assert row is not None and model.stream_row(row).breakpoint == "on"
    assert settings.breakpoints(ORDERS) != "", "stored for this agent"
    table = window.parts.stream.table
    gutter = table.visualRect(model.index(row, Column.GUTTER)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(gutter))
    assert window.parts.breakpoints.rows == [] and model.stream_row(row).breakpoint == ""


def test_breakpoints_are_restored_with_their_agent(orders: Inspector, opened: Callable[..., None], driver: WindowDriver) -> None:
    driver.breakpoints.add("error")
    opened(STORY)
    assert orders.window.parts.breakpoints.rows == [], "another agent has its own breakpoints"
    opened(ORDERS)
    assert [row.condition for row in orders.window.parts.breakpoints.rows] == ["error"]


def test_an_invalid_condition_is_marked_while_typing(orders: Inspector, qtbot: QtBot) -> None:
    orders.window.workbench.raise_pane("breakpoints")
    pane = orders.window.parts.breakpoints
    field, add = pane.findChild(QLineEdit, "breakpoint_condition"), pane.findChild(QPushButton, "breakpoint_add")
    qtbot.keyClicks(field, "author ==")
    assert field.property("state") == "wrong" and "character" in pane.form.problem and not add.isEnabled()
    said = pane.findChild(QLabel, "breakpoint_problem")
    assert said.wordWrap() and pane.form.minimumSizeHint().width() < 1100, "a long problem takes another line"
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert pane.rows == []
    qtbot.keyClicks(field, ' "x"')
    assert field.property("state") == "good" and pane.form.problem == "" and add.isEnabled()


def test_a_breakpoint_is_disabled_changed_and_removed_in_the_list(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.breakpoints.add("error")
    pane = orders.window.parts.breakpoints
    pane.list.setCurrentItem(pane.list.topLevelItem(0))
    qtbot.keyClick(pane.list, Qt.Key.Key_Space)
    assert [row.enabled for row in pane.rows] == [False]
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        driver.composer.send("a desk lamp")
    pane.list.itemActivated.emit(pane.list.topLevelItem(0), 0)
    field = pane.findChild(QLineEdit, "breakpoint_condition")
    assert field.text() == "error"
    field.setText('author == "user"')
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert [(row.condition, row.enabled) for row in pane.rows] == [('author == "user"', False)]
    pane.list.setCurrentItem(pane.list.topLevelItem(0))
    qtbot.keyClick(pane.list, Qt.Key.Key_Delete)
    assert pane.rows == []


def test_removing_a_breakpoint_selects_the_next_and_escape_cancels_a_change(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    for condition in ("error", "text", "thought"):
        driver.breakpoints.add(condition)
    pane = orders.window.parts.breakpoints
    pane.list.setCurrentItem(pane.list.topLevelItem(1))
    for left in (["error", "thought"], ["error"]):
        qtbot.keyClick(pane.list, Qt.Key.Key_Delete)
        assert [row.condition for row in pane.rows] == left
    qtbot.keyClick(pane.list, Qt.Key.Key_Return)
    field = pane.findChild(QLineEdit, "breakpoint_condition")
    qtbot.keyClicks(field, " and text")
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert field.text() == "" and [row.condition for row in pane.rows] == ["error"]


def test_a_breakpoint_stops_on_every_nth_hit(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    pane = orders.window.parts.breakpoints
    pane.findChild(QSpinBox, "breakpoint_every").setValue(2)
    driver.breakpoints.add("kind == 'tool call'")
    assert pane.list.topLevelItem(0).text(1) == "stops on every 2nd hit"
    driver.composer.send("a desk lamp")
    driver.run_until_held()
    assert [bool(event.get_function_calls()) for event in driver.stream.events()].count(True) == 2
    assert "(2nd hit)" in orders.window.parts.held.text
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        orders.window.commands.stop.trigger()


def test_arguments_that_do_not_fit_the_tool_are_reported_while_typing(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.breakpoints.add("", "before tool", "add_to_cart")
    driver.composer.send("40 boxes of A4 paper")
    driver.run_until_held()
    card = orders.window.parts.held
    call, problem = card.findChild(QPushButton, "held_call"), card.findChild(QLabel, "held_editor_problem")
    for text, expected in (
        ('{"sku": "PA4-80", "quantity": "four"}', 'quantity: a whole number is expected, not "four".'),
        ('{"sku": "PA4-80"}', "quantity: is missing."),
        ('{"sku": "PA4-80", "quantitiy": 4, "quantity": 4}', "quantitiy: there is no such argument. Known: sku, quantity."),
    ):
        driver.held.editor.setPlainText(text)
        assert problem.isVisible() and problem.text() == expected
        assert not call.isEnabled()
        orders.window.commands.step.trigger()
        assert orders.run.phase == "paused"
    driver.held.editor.setPlainText('{"sku": "PA4-80", "quantity": 4}')
    assert not problem.isVisible()
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        driver.held.press("held_call")
    assert driver.stream.results("add_to_cart")[0]["total"] == pytest.approx(16.8)


@pytest.mark.parametrize("how", ["F1", "breakpoint_help", "filter_help"])
def test_the_condition_help_opens(orders: Inspector, qtbot: QtBot, how: str) -> None:
    orders.window.workbench.raise_pane("breakpoints")
    if how == "F1":
        qtbot.keyClick(orders.window, Qt.Key.Key_F1)
    else:
        qtbot.mouseClick(orders.window.findChild(QAbstractButton, how), Qt.MouseButton.LeftButton)
    text = orders.window.findChild(QTextBrowser, "help_text")
    assert "`" not in text.toPlainText(), "rendered Markdown"
    assert "call.pay.args.amount > 5000" in text.toPlainText() and "comparison = " in text.toPlainText()
    orders.window.findChild(QDialog, "help_dialog").accept()


def test_a_logpoints_row_shows_its_message(orders: Inspector, driver: WindowDriver) -> None:
    driver.breakpoints.add("delta", log="cart is {state.cart}")
    rows = orders.window.parts.breakpoints.list
    assert rows.topLevelItem(0).text(1) == "logs: cart is {state.cart}"


def test_a_logpoint_logs_and_does_not_stop(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.breakpoints.add('response == "find_product"', log="found by {author}")
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        driver.composer.send("a desk lamp")
    assert "found by order_desk" in driver.log_text()
    assert [row.hits for row in orders.window.parts.breakpoints.rows] == [1]


def test_an_error_breakpoint_holds_a_failed_call(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.breakpoints.add("", "error")
    driver.composer.send("a desk lamp")
    driver.run_until_held()
    card = orders.window.parts.held
    assert card.text.startswith("Held at the failure of check_stock")
    assert re.search(r"TimeoutError: .*\nin check_stock, agent.py line \d+$", card.findChild(QLabel, "held_failure").text())
    assert not driver.held.editor.isVisible(), "the call was made: its arguments cannot be changed"
    driver.held.press("held_result")
    qtbot.keyClicks(driver.held.editor, '{"sku": "LMP-1", "in_stock": 77}')
    orders.window.commands.step.trigger()
    qtbot.waitUntil(lambda: {"sku": "LMP-1", "in_stock": 77} in driver.stream.results("check_stock"), timeout=10_000)
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        orders.window.commands.stop.trigger()


def _load(driver: WindowDriver, folder: Path) -> None:
    """Load an agent while another one's run is held."""
    inspector = driver.inspector
    with driver.qtbot.waitSignal(inspector.agents.agent_loaded, timeout=10_000):
        inspector.tasks.spawn(inspector.agents.open(str(folder)), "Loading")


def test_a_breakpoint_removed_after_a_reload_no_longer_holds_the_run(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.breakpoints.add("response")
    driver.composer.send("a desk lamp")
    driver.run_until_held()
    _load(driver, ORDERS)
    assert orders.window.run_bar.explained.endswith("breakpoint: response (1st hit)")
    orders.breakpoints.remove(1)
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        orders.window.commands.run.trigger()


def test_loading_another_agent_leaves_a_held_run_its_breakpoints(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.breakpoints.add("response")
    driver.composer.send("a desk lamp")
    driver.run_until_held()
    first = orders.features.stream.events.event_count
    _load(driver, STORY)
    assert driver.bench.parts.breakpoints.rows == []
    driver.breakpoints.add("error")
    assert orders.window.run_bar.explained.endswith("breakpoint: response (1st hit)"), (
        "the run's own breakpoint, not number 1 of the loaded agent"
    )
    orders.window.commands.run.trigger()
    driver.run_until(lambda: orders.run.phase == "paused" and orders.features.stream.events.event_count > first)
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        orders.window.commands.stop.trigger()


def test_stopping_before_a_call_records_a_cancelled_response(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.breakpoints.add("", "before tool", "find_product")
    driver.composer.send("a desk lamp")
    driver.run_until_held()
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000) as ended:
        orders.window.commands.stop.trigger()
    assert ended.args[0].error is None
    assert "cancelled" in driver.stream.results("find_product")[0]["error"]
    assert not orders.window.parts.held.isVisible()
    assert "find_product was not called" in driver.log_text()


def test_a_call_whose_event_the_run_is_held_at_was_not_called(orders: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    driver.breakpoints.add("call.find_product")
    driver.composer.send("a desk lamp")
    driver.run_until_held()
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        orders.window.commands.stop.trigger()
    assert "find_product was not called: it is recorded as cancelled." in driver.log_text()


def test_a_condition_with_an_unknown_name_is_a_warning(orders: Inspector, qtbot: QtBot) -> None:
    pane = orders.window.parts.breakpoints
    orders.window.workbench.raise_pane("breakpoints")
    field, add = pane.findChild(QLineEdit, "breakpoint_condition"), pane.findChild(QPushButton, "breakpoint_add")
    said = pane.findChild(QLabel, "breakpoint_problem")
    qtbot.keyClicks(field, "call.add_to_cart.args.quantitty > 5")
    assert said.text().startswith("Is this intended? `add_to_cart` has no argument `quantitty`; did you mean `quantity`?")
    assert said.isVisible() and said.property("role") == "warn"
    assert pane.form.problem == "" and add.isEnabled(), "it can still be added"
    qtbot.keyClicks(field, " and")
    assert said.property("role") == "bad" and pane.form.hint == "" and not add.isEnabled()
    field.setText("call.add_to_cart.args.quantity > 5")
    assert not said.isVisible() and pane.form.hint == ""
    combo = pane.findChild(QComboBox, "breakpoint_when")
    combo.setCurrentIndex(combo.findData("before tool"))
    qtbot.keyClicks(pane.findChild(QLineEdit, "breakpoint_tool"), "add_to_basket")
    assert "no tool `add_to_basket`; did you mean `add_to_cart`?" in said.text()


GUSHING = """
from google.genai import types
from runtime.agents import BaseAgent
from runtime.events import Event

class Gushing(BaseAgent):
    said: int = 0

    async def _run_async_impl(self, ctx):
        while self.said < 300_000:
            self.said += 1
            yield Event(author=self.name, partial=True, content=types.Content(role="model", parts=[types.Part(text=f"{self.said} ")]))

root_agent = Gushing(name="gushing")
"""


def test_an_agent_that_streams_faster_than_the_window_paints_can_be_stopped(
    inspector: Inspector, opened: Callable[..., None], tmp_path: Path, driver: WindowDriver, qtbot: QtBot
) -> None:
    (tmp_path / "gushing").mkdir()
    (tmp_path / "gushing" / "agent.py").write_text(GUSHING)
    trust_folder(inspector, tmp_path / "gushing")
    opened(tmp_path / "gushing")
    driver.composer.send("go")
    events = inspector.features.stream.events
    qtbot.waitUntil(
        lambda: any(re.search(r"\d \d", str(events.index(row, Column.EVENT).data())) for row in range(events.rowCount())), timeout=10_000
    )
    inspector.window.commands.stop.trigger()
    qtbot.waitUntil(lambda: inspector.run.phase == "idle", timeout=10_000)
    assert inspector.agents.loaded is not None
    said = inspector.agents.loaded.app.root_agent.said  # type: ignore[attr-defined]
    assert said < 100_000, "back-pressure: most of it was never produced"
