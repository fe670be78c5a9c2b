"""The controller of a held agent with the real card."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector_app.running.held_card import HeldCard
from inspector_app.running.held_controller import HeldController
from runtime.debugger.calls import ToolCall
from runtime.debugger.hold import Hold, Place
from tests.gui.fake_owners import FakeRun


@dataclass
class Scene:
    """A controller with a fake run and its real card."""

    run: FakeRun
    card: HeldCard
    controller: HeldController
    qtbot: QtBot

    def hold_before(self, call: ToolCall) -> None:
        self.run.hold_at(Hold("before tool", "step", "before the call", "clerk", None, call=call))

    def press(self, name: str) -> None:
        self.qtbot.mouseClick(self.card.findChild(QPushButton, name), Qt.MouseButton.LeftButton)

    def press_link(self, name: str) -> None:
        self.qtbot.mouseClick(self.card.findChild(QToolButton, name), Qt.MouseButton.LeftButton)

    def write(self, text: str) -> None:
        self.card.findChild(QPlainTextEdit, "held_editor").setPlainText(text)


@pytest.fixture
def scene(qtbot: QtBot) -> Scene:
    run, card = FakeRun(), HeldCard()
    qtbot.addWidget(card)
    controller = HeldController(run, SimpleNamespace(loaded=None), card)  # type: ignore[arg-type]
    return Scene(run, card, controller, qtbot)


def test_the_card_is_shown_until_the_agent_continues(scene: Scene) -> None:
    scene.hold_before(ToolCall("pay", "c", {"amount": 3}))
    assert scene.card.text.startswith("Held before pay")
    scene.run.hold_at(None)
    assert scene.card.isHidden()


def test_an_unchanged_call_is_made_as_it_is(scene: Scene) -> None:
    call = ToolCall("pay", "c", {"amount": 3})
    scene.hold_before(call)
    scene.press("held_call")
    assert scene.run.calls == [("continue_run",)]
    assert (call.args, call.edits) == ({"amount": 3}, {})


def test_changed_arguments_are_applied_before_the_agent_continues(scene: Scene) -> None:
    call = ToolCall("pay", "c", {"amount": 3})
    scene.hold_before(call)
    scene.write('{"amount": 4}')
    scene.press("held_call")
    assert (call.args, scene.run.calls) == ({"amount": 4}, [("continue_run",)])


def test_a_result_replaces_the_call(scene: Scene) -> None:
    call = ToolCall("pay", "c", {"amount": 3})
    scene.hold_before(call)
    scene.press("held_result")
    scene.write('{"paid": true}')
    scene.press("held_call")
    assert (call.result, scene.run.calls) == ({"paid": True}, [("continue_run",)])


def test_invalid_text_keeps_the_agent_held(scene: Scene) -> None:
    call = ToolCall("pay", "c", {"amount": 3})
    scene.hold_before(call)
    scene.write('{"amount": ')
    scene.controller.release(scene.run.continue_run)
    assert (call.args, scene.run.calls) == ({"amount": 3}, [])
    assert scene.card.findChild(QPlainTextEdit, "held_editor").property("state") == "wrong"


def test_a_decision_taken_back_leaves_no_trace(scene: Scene) -> None:
    call = ToolCall("pay", "c", {"amount": 3})
    call.give_result({"paid": False})  # as if the user had decided so before
    scene.hold_before(call)
    scene.press("held_call")
    assert (call.result, call.edits) == (None, {})


SCHEMA = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "amount": {"type": "integer"}, "urgent": {"type": "boolean"}},
    "required": ["to", "amount"],
}
KINDS: tuple[tuple[Place, ToolCall], ...] = (
    ("before tool", ToolCall("pay", "c", {"to": "Ann", "amount": 3}, schema=lambda: SCHEMA)),
    ("before tool", ToolCall("pay", "c", {"to": "Ann", "amount": 3})),
    ("before tool", ToolCall("pay", "c", {"to": "Ann", "amount": "3"}, schema=lambda: SCHEMA)),
    ("error", ToolCall("pay", "c", {"to": "Ann"}, ValueError("no money"), schema=lambda: SCHEMA)),
)


@pytest.fixture
def docked(scene: Scene) -> Iterator[Scene]:
    """Yield the card at the bottom of a pane, as in the window."""
    pane = QWidget()
    scene.qtbot.addWidget(pane)
    rows = QVBoxLayout(pane)
    rows.addWidget(QPlainTextEdit(), 5)
    rows.addWidget(scene.card, 4)
    pane.resize(420, 700)
    pane.show()
    scene.qtbot.waitExposed(pane)
    yield scene
    scene.card.setParent(None)


def _places(scene: Scene) -> dict[str, QRect]:
    for _ in range(4):
        QApplication.processEvents()
    window = scene.card.window()
    shown = (button for button in scene.card.findChildren(QPushButton) if button.isVisible())
    return {button.objectName(): QRect(button.mapTo(window, QPoint()), button.size()) for button in shown}


@pytest.mark.parametrize("number", range(len(KINDS)))
def test_the_buttons_stay_where_they_are(docked: Scene, number: int) -> None:
    place, call = KINDS[number]
    docked.run.hold_at(Hold(place, "step", "before the call", "clerk", None, call=call, error=call.error))
    card, qtbot = docked.card, docked.qtbot
    before = _places(docked)
    assert list(before) and len(before) == 3
    if (field := card.findChild(QLineEdit, "held_field_amount")) is not None and field.isVisible():
        for text in ("", "four", "4", "3"):
            field.setText(text)
            assert _places(docked) == before, text
        docked.press_link("held_json")
        assert _places(docked) == before
        docked.write("{")
        assert _places(docked) == before
        docked.press_link("held_undo")
        assert _places(docked) == before
    for name in ("held_result", "held_raise", "held_raise"):
        docked.press(name)
        assert _places(docked) == before, name
    docked.press("held_result")
    qtbot.keyClicks(card.findChild(QPlainTextEdit, "held_editor"), "[1]")
    assert _places(docked) == before
    qtbot.keyClick(card, Qt.Key.Key_Escape)
    assert _places(docked) == before
    assert not card.findChild(QPushButton, "held_result").isChecked()


def test_a_field_is_checked_below_it_and_its_value_is_used(docked: Scene) -> None:
    call = ToolCall("pay", "c", {"to": "Ann", "amount": 3}, schema=lambda: SCHEMA)
    docked.hold_before(call)
    card = docked.card
    amount, rule = card.findChild(QLineEdit, "held_field_amount"), card.findChild(QLabel, "held_field_amount_rule")
    assert rule.text() == "whole number, required" and not card.findChild(QPlainTextEdit, "held_editor").isVisible()
    amount.setText("four")
    assert rule.text() == "a whole number is expected." and rule.property("role") == "bad"
    assert not card.findChild(QPushButton, "held_call").isEnabled()
    docked.press("held_call")
    docked.controller.release(docked.run.continue_run)
    assert docked.run.calls == [] and amount.hasFocus()
    amount.setText("4")
    assert rule.text() == "whole number, required"
    assert card.findChild(QToolButton, "held_undo").isVisible()
    docked.press("held_call")
    assert (call.args, docked.run.calls) == ({"to": "Ann", "amount": 4}, [("continue_run",)])


def test_undo_restores_the_arguments(docked: Scene) -> None:
    call = ToolCall("pay", "c", {"to": "Ann", "amount": 3, "urgent": True}, schema=lambda: SCHEMA)
    docked.hold_before(call)
    card = docked.card
    box = card.findChild(QCheckBox, "held_field_urgent")
    box.setChecked(False)
    docked.qtbot.keyClick(box, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    box = card.findChild(QCheckBox, "held_field_urgent")
    assert box.isChecked() and not card.findChild(QToolButton, "held_undo").isVisible()
    docked.press("held_call")
    assert call.edits == {}


def test_json_and_fields_show_the_same_arguments(docked: Scene) -> None:
    docked.hold_before(ToolCall("pay", "c", {"to": "Ann", "amount": 3}, schema=lambda: SCHEMA))
    card = docked.card
    card.findChild(QLineEdit, "held_field_amount").setText("4")
    docked.press_link("held_json")
    editor = card.findChild(QPlainTextEdit, "held_editor")
    assert json.loads(editor.toPlainText()) == {"to": "Ann", "amount": 4}
    editor.setPlainText('{"to": "Bob", "amount": 5}')
    docked.press_link("held_json")
    assert card.findChild(QLineEdit, "held_field_to").text() == "Bob" and not editor.isVisible()
    docked.press_link("held_json")
    editor.setPlainText('{"to": ["a"], "amount": 5, "more": 1}')
    docked.press_link("held_json")
    assert editor.isVisible(), "an argument that the tool does not have fits into no field"


def test_a_second_click_on_the_same_point_decides_nothing_about_the_next_hold(docked: Scene) -> None:
    docked.hold_before(ToolCall("pay", "c", {"to": "Ann", "amount": 3}, schema=lambda: SCHEMA))
    before = _places(docked)
    button = docked.card.findChild(QPushButton, "held_call")
    point = button.mapTo(docked.card.window(), button.rect().center())

    def click() -> None:
        target = docked.card.window().childAt(point) or docked.card.window()
        docked.qtbot.mouseClick(target, Qt.MouseButton.LeftButton, pos=target.mapFrom(docked.card.window(), point))

    click()
    assert docked.run.calls == [("continue_run",)]
    docked.run.hold_at(None)
    docked.hold_before(ToolCall("pay", "d", {"to": "Ann", "amount": 900}, schema=lambda: SCHEMA))
    assert _places(docked) == before
    click()
    assert docked.run.calls == [("continue_run",)], "the second click was meant for the first call"
    docked.qtbot.waitUntil(button.isEnabled)
    click()
    assert docked.run.calls == [("continue_run",)] * 2


@pytest.mark.parametrize("width", [260, 380, 700])
def test_a_narrow_card_cuts_no_line(scene: Scene, width: int) -> None:
    around = QWidget()
    scene.qtbot.addWidget(around)
    rows = QVBoxLayout(around)
    rows.addWidget(QWidget(), 5)
    rows.addWidget(scene.card, 4)
    around.resize(width, 500)
    around.show()
    scene.run.hold_at(Hold("event", "start", "at the first event of an agent", "customer_service_agent", None))
    QApplication.processEvents()
    why = scene.card.findChild(QLabel, "held_why")
    assert why.isVisible() and why.height() >= why.heightForWidth(why.width())
    scene.card.setParent(None)
