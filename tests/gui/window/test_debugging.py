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
from inspector_app.stream.event_cells import Column
from inspector_app.support.settings import Settings
from runtime.events.marks import EDITED
from tests.gui.window.debugging import ORDERS, add_breakpoint, editor, events_of, log_text, press, results, wait_until_held, write


def test_a_breakpoint_holds_a_tool_call_whose_arguments_are_then_edited(orders: Inspector, qtbot: QtBot) -> None:
    add_breakpoint(orders, qtbot, "call.add_to_cart.args.quantity > 10", "before tool", "add_to_cart")
    write(orders, "40 boxes of A4 paper", qtbot)
    wait_until_held(orders, qtbot)
    window, card = orders.window, orders.window.workbench.held
    count = orders.controller.events.event_count
    assert card.isVisible() and card.text.startswith("Held before add_to_cart breakpoint:") and "(1st hit)" in card.text
    assert window.run_bar.state_text == f"paused at {count}"
    assert window.run_bar.detail_text == "before tool call add_to_cart"
    assert window.status.text("run").startswith(f"paused at {count} · breakpoint: before tool add_to_cart")
    assert "1st hit" in window.status.findChild(QLabel, "status_run").toolTip()
    assert '"quantity": 40' in editor(orders).toPlainText()
    assert results(orders, "add_to_cart") == []

    editor(orders).setPlainText('{"sku": "PA4-80", "quantity": 4')
    call = card.findChild(QPushButton, "held_call")
    assert not call.isEnabled() and "Line 1" in call.toolTip()
    window.commands.run.trigger()
    assert orders.run.phase == "paused", "invalid text is kept, and the run does not continue"
    editor(orders).setPlainText('{"sku": "PA4-80", "quantity": 4}')
    assert call.text() == "Call it as edited"
    assert card.findChild(QPushButton, "held_reset").isVisible()
    side_by_side = sum(button.width() for button in card.findChildren(QPushButton) if button.isVisible())
    assert card.minimumSizeHint().width() < side_by_side, "another button does not widen the pane"
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        press(orders, "held_call", qtbot)
    assert not card.isVisible()
    assert results(orders, "add_to_cart")[0]["total"] == pytest.approx(16.8)
    marked = [event for event in events_of(orders) if EDITED in (event.custom_metadata or {})]
    assert len(marked) == 1
    row = orders.controller.events.stream_row(orders.controller.events.row_of(marked[0].id))  # type: ignore[arg-type]
    assert row.edited


def test_a_tool_call_is_replaced_by_a_result(orders: Inspector, qtbot: QtBot) -> None:
    add_breakpoint(orders, qtbot, "", "before tool", "find_product")
    write(orders, "a desk lamp", qtbot)
    wait_until_held(orders, qtbot)
    press(orders, "held_result", qtbot)
    submit = orders.window.workbench.held.findChild(QPushButton, "held_submit")
    assert not submit.isEnabled()
    qtbot.keyClicks(editor(orders), "[1]")
    assert not submit.isEnabled() and "object" in submit.toolTip()
    editor(orders).setPlainText('{"products": []}')
    orders.window.commands.step.trigger()
    qtbot.waitUntil(lambda: results(orders, "find_product") == [{"products": []}], timeout=10_000)
    wait_until_held(orders, qtbot)
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        orders.window.commands.stop.trigger()


def test_a_tool_call_is_replaced_by_an_exception(orders: Inspector, qtbot: QtBot) -> None:
    add_breakpoint(orders, qtbot, "", "before tool", "find_product")
    write(orders, "a desk lamp", qtbot)
    wait_until_held(orders, qtbot)
    press(orders, "held_raise", qtbot)
    qtbot.keyClicks(editor(orders), "the catalogue burned down")
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000) as ended:
        orders.window.commands.run.trigger()
    assert results(orders, "find_product") == [{"error": "the catalogue burned down"}]
    assert ended.args[0].error is None, "the sample handles the error"


def test_a_model_call_is_replaced_by_an_answer(orders: Inspector, qtbot: QtBot) -> None:
    add_breakpoint(orders, qtbot, "", "before model")
    write(orders, "a desk lamp", qtbot)
    wait_until_held(orders, qtbot)
    assert orders.window.workbench.held.text.startswith("Held before the model call of order_desk")
    assert '"contents"' in editor(orders).toPlainText() and "a desk lamp" in editor(orders).toPlainText()
    press(orders, "held_answer", qtbot)
    qtbot.keyClicks(editor(orders), "We are closed.")
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000) as ended:
        press(orders, "held_submit", qtbot)
    assert ended.args[0].error is None
    last = next(event for event in events_of(orders) if EDITED in (event.custom_metadata or {}))
    assert last.content is not None and last.content.parts is not None and last.content.parts[0].text == "We are closed."
    assert (last.custom_metadata or {})[EDITED] == {"model": {"answer": True}}
    focus = orders.window.focusWidget()
    assert focus is orders.window.workbench.stream.table, "not a widget where Ctrl+Enter has another effect"


def test_an_edited_request_is_checked_and_sent(orders: Inspector, qtbot: QtBot) -> None:
    add_breakpoint(orders, qtbot, "", "before model")
    write(orders, "a desk lamp", qtbot)
    wait_until_held(orders, qtbot)
    text = editor(orders).toPlainText()
    editor(orders).setPlainText(text.replace('"contents"', '"content"', 1))
    press(orders, "held_call", qtbot)
    assert orders.run.phase == "paused"
    problem = orders.window.workbench.held.findChild(QPlainTextEdit, "held_editor").property("state")
    assert problem == "wrong"
    editor(orders).setPlainText(text.replace("a desk lamp", "an office chair"))
    orders.window.commands.step.trigger()
    qtbot.waitUntil(lambda: "chair" in str(events_of(orders)[-1].get_function_calls()), timeout=10_000)
    assert "request" in (events_of(orders)[-1].custom_metadata or {})[EDITED]["model"]
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        orders.window.commands.stop.trigger()


def test_step_into_over_and_out(orders: Inspector, qtbot: QtBot) -> None:
    commands, bar = orders.window.commands, orders.window.run_bar
    assert not commands.step_into.isEnabled() and "not held" in commands.step_into.toolTip()
    orders.window.workbench.composer.set_text("a desk lamp")
    commands.step.trigger()
    wait_until_held(orders, qtbot)
    composer = orders.window.findChild(QPlainTextEdit, "composer_edit")
    assert composer.placeholderText().startswith("The run is held: F5 continues, F10 steps to the next event")
    header = [orders.controller.events.stream_row(0)]
    assert [row.event_kind for row in header] == ["held"]
    held = orders.window.workbench.held
    assert held.text == "Held after order_desk's tool call at the agent's first event · F5 continues, F10 steps to the next event"
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


def test_run_to_an_event_of_the_selected_kind(orders: Inspector, qtbot: QtBot) -> None:
    orders.window.workbench.composer.set_text("a desk lamp")
    orders.window.commands.step.trigger()
    wait_until_held(orders, qtbot)
    orders.window.commands.step.trigger()
    qtbot.waitUntil(lambda: orders.controller.events.event_count == 3 and orders.run.phase == "paused", timeout=10_000)
    orders.window.workbench.stream.select_event(1)
    assert "tool call" in orders.window.commands.run_to.toolTip()
    qtbot.keyClick(orders.window, Qt.Key.Key_F10, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: orders.controller.events.event_count > 3 and orders.run.phase == "paused", timeout=10_000)
    assert events_of(orders)[-1].get_function_calls()
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        orders.window.commands.stop.trigger()


def test_f9_on_a_past_event_proposes_a_breakpoint_and_the_gutter_removes_it(orders: Inspector, settings: Settings, qtbot: QtBot) -> None:
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        write(orders, "a desk lamp", qtbot)
    window, model = orders.window, orders.controller.events
    place = next(index for index, event in enumerate(events_of(orders)) if event.get_function_responses())
    window.workbench.stream.select_event(place)
    qtbot.keyClick(window, Qt.Key.Key_F9)
    field = window.findChild(QLineEdit, "breakpoint_condition")
    assert field.text() == 'response == "find_product"' and field.hasFocus()
    assert window.workbench.breakpoints.rows == []
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert [row.condition for row in window.workbench.breakpoints.rows] == ['response == "find_product"']
    row = model.row_of_index(place)
    assert row is not None and model.stream_row(row).breakpoint == "on"
    assert settings.breakpoints(ORDERS) != "", "stored for this agent"
    table = window.workbench.stream.table
    gutter = table.visualRect(model.index(row, Column.GUTTER)).center()
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(gutter))
    assert window.workbench.breakpoints.rows == [] and model.stream_row(row).breakpoint == ""


def test_breakpoints_are_restored_with_their_agent(orders: Inspector, opened: Callable[..., None], qtbot: QtBot) -> None:
    add_breakpoint(orders, qtbot, "error")
    opened(STORY)
    assert orders.window.workbench.breakpoints.rows == [], "another agent has its own breakpoints"
    opened(ORDERS)
    assert [row.condition for row in orders.window.workbench.breakpoints.rows] == ["error"]


def test_an_invalid_condition_is_marked_while_typing(orders: Inspector, qtbot: QtBot) -> None:
    orders.window.workbench.raise_pane("breakpoints")
    pane = orders.window.workbench.breakpoints
    field, add = pane.findChild(QLineEdit, "breakpoint_condition"), pane.findChild(QPushButton, "breakpoint_add")
    qtbot.keyClicks(field, "author ==")
    assert field.property("state") == "wrong" and "character" in pane.form.problem and not add.isEnabled()
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert pane.rows == []
    qtbot.keyClicks(field, ' "x"')
    assert field.property("state") == "good" and pane.form.problem == "" and add.isEnabled()


def test_a_breakpoint_is_disabled_changed_and_removed_in_the_list(orders: Inspector, qtbot: QtBot) -> None:
    add_breakpoint(orders, qtbot, "error")
    pane = orders.window.workbench.breakpoints
    pane.list.setCurrentItem(pane.list.topLevelItem(0))
    qtbot.keyClick(pane.list, Qt.Key.Key_Space)
    assert [row.enabled for row in pane.rows] == [False]
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        write(orders, "a desk lamp", qtbot)
    pane.list.itemActivated.emit(pane.list.topLevelItem(0), 0)
    field = pane.findChild(QLineEdit, "breakpoint_condition")
    assert field.text() == "error"
    field.setText('author == "user"')
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert [(row.condition, row.enabled) for row in pane.rows] == [('author == "user"', False)]
    pane.list.setCurrentItem(pane.list.topLevelItem(0))
    qtbot.keyClick(pane.list, Qt.Key.Key_Delete)
    assert pane.rows == []


def test_removing_a_breakpoint_selects_the_next_and_escape_cancels_a_change(orders: Inspector, qtbot: QtBot) -> None:
    for condition in ("error", "text", "thought"):
        add_breakpoint(orders, qtbot, condition)
    pane = orders.window.workbench.breakpoints
    pane.list.setCurrentItem(pane.list.topLevelItem(1))
    for left in (["error", "thought"], ["error"]):
        qtbot.keyClick(pane.list, Qt.Key.Key_Delete)
        assert [row.condition for row in pane.rows] == left
    qtbot.keyClick(pane.list, Qt.Key.Key_Return)
    field = pane.findChild(QLineEdit, "breakpoint_condition")
    qtbot.keyClicks(field, " and text")
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert field.text() == "" and [row.condition for row in pane.rows] == ["error"]


def test_a_breakpoint_stops_on_every_nth_hit(orders: Inspector, qtbot: QtBot) -> None:
    pane = orders.window.workbench.breakpoints
    pane.findChild(QSpinBox, "breakpoint_every").setValue(2)
    add_breakpoint(orders, qtbot, "kind == 'tool call'")
    assert pane.list.topLevelItem(0).text(1) == "stops on every 2nd hit"
    write(orders, "a desk lamp", qtbot)
    wait_until_held(orders, qtbot)
    assert [bool(event.get_function_calls()) for event in events_of(orders)].count(True) == 2
    assert "(2nd hit)" in orders.window.workbench.held.text
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        orders.window.commands.stop.trigger()


def test_arguments_that_do_not_fit_the_tool_are_reported_while_typing(orders: Inspector, qtbot: QtBot) -> None:
    add_breakpoint(orders, qtbot, "", "before tool", "add_to_cart")
    write(orders, "40 boxes of A4 paper", qtbot)
    wait_until_held(orders, qtbot)
    card = orders.window.workbench.held
    call, problem = card.findChild(QPushButton, "held_call"), card.findChild(QLabel, "held_editor_problem")
    for text, expected in (
        ('{"sku": "PA4-80", "quantity": "four"}', 'quantity: a whole number is expected, not "four".'),
        ('{"sku": "PA4-80"}', "quantity: is missing."),
        ('{"sku": "PA4-80", "quantitiy": 4, "quantity": 4}', "quantitiy: there is no such argument. Known: sku, quantity."),
    ):
        editor(orders).setPlainText(text)
        assert problem.isVisible() and problem.text() == expected
        assert not call.isEnabled()
        orders.window.commands.step.trigger()
        assert orders.run.phase == "paused"
    editor(orders).setPlainText('{"sku": "PA4-80", "quantity": 4}')
    assert not problem.isVisible()
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        press(orders, "held_call", qtbot)
    assert results(orders, "add_to_cart")[0]["total"] == pytest.approx(16.8)


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


def test_a_logpoints_row_shows_its_message(orders: Inspector, qtbot: QtBot) -> None:
    add_breakpoint(orders, qtbot, "delta", log="cart is {state.cart}")
    rows = orders.window.workbench.breakpoints.list
    assert rows.topLevelItem(0).text(1) == "logs: cart is {state.cart}"


def test_a_logpoint_logs_and_does_not_stop(orders: Inspector, qtbot: QtBot) -> None:
    add_breakpoint(orders, qtbot, 'response == "find_product"', log="found by {author}")
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        write(orders, "a desk lamp", qtbot)
    assert "found by order_desk" in log_text(orders)
    assert [row.hits for row in orders.window.workbench.breakpoints.rows] == [1]


def test_an_error_breakpoint_holds_a_failed_call(orders: Inspector, qtbot: QtBot) -> None:
    add_breakpoint(orders, qtbot, "", "error")
    write(orders, "a desk lamp", qtbot)
    wait_until_held(orders, qtbot)
    card = orders.window.workbench.held
    assert card.text.startswith("Held at the failure of check_stock")
    assert re.search(r"TimeoutError: .*\nin check_stock, agent.py line \d+$", card.findChild(QLabel, "held_failure").text())
    assert not editor(orders).isVisible(), "the call was made: its arguments cannot be changed"
    press(orders, "held_result", qtbot)
    qtbot.keyClicks(editor(orders), '{"sku": "LMP-1", "in_stock": 77}')
    orders.window.commands.step.trigger()
    qtbot.waitUntil(lambda: {"sku": "LMP-1", "in_stock": 77} in results(orders, "check_stock"), timeout=10_000)
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000):
        orders.window.commands.stop.trigger()


def test_stopping_before_a_call_records_a_cancelled_response(orders: Inspector, qtbot: QtBot) -> None:
    add_breakpoint(orders, qtbot, "", "before tool", "find_product")
    write(orders, "a desk lamp", qtbot)
    wait_until_held(orders, qtbot)
    with qtbot.waitSignal(orders.run.run_ended, timeout=10_000) as ended:
        orders.window.commands.stop.trigger()
    assert ended.args[0].error is None
    assert "cancelled" in results(orders, "find_product")[0]["error"]
    assert not orders.window.workbench.held.isVisible()
    assert "find_product was not called" in log_text(orders)


def test_a_condition_with_an_unknown_name_is_a_warning(orders: Inspector, qtbot: QtBot) -> None:
    pane = orders.window.workbench.breakpoints
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
    inspector: Inspector, opened: Callable[..., None], tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "gushing").mkdir()
    (tmp_path / "gushing" / "agent.py").write_text(GUSHING)
    inspector.settings.trust(tmp_path / "gushing")
    opened(tmp_path / "gushing")
    write(inspector, "go", qtbot)
    events = inspector.controller.events
    qtbot.waitUntil(
        lambda: any(re.search(r"\d \d", str(events.index(row, Column.EVENT).data())) for row in range(events.rowCount())), timeout=10_000
    )
    inspector.window.commands.stop.trigger()
    qtbot.waitUntil(lambda: inspector.run.phase == "idle", timeout=10_000)
    assert inspector.agents.loaded is not None
    said = inspector.agents.loaded.app.root_agent.said  # type: ignore[attr-defined]
    assert said < 100_000, "back-pressure: most of it was never produced"
