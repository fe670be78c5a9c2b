"""The controller of a held agent with the real card."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.running.held_card import HeldCard
from inspector_app.running.held_controller import HeldController
from runtime.debugger.calls import ToolCall
from runtime.debugger.hold import Hold
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
    scene.press("held_submit")
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
