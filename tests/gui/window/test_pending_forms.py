"""Answering what waits: a confirmation with a payload, by keyboard, over two open databases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QPushButton, QTreeWidget
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.cursor import MEMORY
from inspector_app.views.value_form import ValueForm
from tests.gui.window.test_debugging import results, write
from tests.gui.window.test_held_branches import agent  # noqa: F401

TRANSFER = '''
from google.genai import types
from runtime.agents import LlmAgent
from runtime.apps import App, ResumabilityConfig
from runtime.models.llm_response import LlmResponse
from runtime.models.base_llm import BaseLlm
from runtime.tools import ToolContext


class Banker(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        answered = any(part.function_response for content in llm_request.contents for part in content.parts or [])
        call = types.FunctionCall(name="transfer", args={"amount": 900, "to": "maria"})
        part = types.Part(text="Done.") if answered else types.Part(function_call=call)
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


def transfer(amount: int, to: str, tool_context: ToolContext) -> dict:
    """Transfer money."""
    asked = tool_context.tool_confirmation
    if asked is None:
        tool_context.request_confirmation(hint="Transfer 900 to maria?", payload={"amount": 900, "note": "rent", "urgent": False})
        return {"status": "asked"}
    return {"confirmed": asked.confirmed, "payload": asked.payload}


root_agent = LlmAgent(name="banker", model=Banker(model="banker"), tools=[transfer])
app = App(name="bank", root_agent=root_agent, resumability_config=ResumabilityConfig(is_resumable=True))
'''


@pytest.fixture
def asked(agent: Callable[[str, str], Inspector], qtbot: QtBot) -> Inspector:  # noqa: F811
    bank = agent("bank", TRANSFER)
    with qtbot.waitSignal(bank.run.run_ended, timeout=10_000):
        write(bank, "pay the rent", qtbot)
    assert [row.item.kind for row in bank.window.workbench.pending.rows] == ["confirmation"]
    return bank


def test_a_confirmation_is_approved_with_a_changed_payload(asked: Inspector, qtbot: QtBot) -> None:
    pane = asked.window.workbench.pending
    amount = pane.findChild(QLineEdit, "pending_payload_amount")
    approve = pane.findChild(QPushButton, "pending_approve")
    amount.setFocus()
    amount.setText("lots")
    assert not approve.isEnabled() and "number" in approve.toolTip()
    amount.setText("500")
    with qtbot.waitSignal(asked.run.run_ended, timeout=10_000) as ended:
        qtbot.keyClick(amount, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert ended.args[0].error is None
    assert results(asked, "transfer")[-1] == {"confirmed": True, "payload": {"amount": 500, "note": "rent", "urgent": False}}
    assert pane.rows == []


def test_rejecting_by_keyboard_from_the_list(asked: Inspector, qtbot: QtBot) -> None:
    waiting = asked.window.workbench.pending.findChild(QTreeWidget, "pending_list")
    waiting.setFocus()
    with qtbot.waitSignal(asked.run.run_ended, timeout=10_000):
        qtbot.keyClick(waiting, Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier)
    assert results(asked, "transfer")[-1]["confirmed"] is False


def test_the_inbox_holds_what_waits_in_every_open_database(
    asked: Inspector, story_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(story_db)
    pane = asked.window.workbench.pending
    qtbot.waitUntil(lambda: len(pane.rows) == 2)
    assert {row.address.database for row in pane.rows} == {MEMORY, str(story_db)}
    waiting = pane.findChild(QTreeWidget, "pending_list")
    for number, row in enumerate(pane.rows):
        if row.address.database == str(story_db):
            waiting.setCurrentItem(waiting.topLevelItem(number))
    qtbot.waitUntil(lambda: asked.cursor.session is not None and asked.cursor.session.database == str(story_db))


def test_a_form_keeps_the_kinds_of_its_values(qtbot: QtBot) -> None:
    form = ValueForm("form", "A form")
    qtbot.addWidget(form)
    form.set_value({"count": 2, "name": "x", "free": None, "ok": True, "share": 0.5})
    assert form.value == {"count": 2, "name": "x", "free": None, "ok": True, "share": 0.5}
    count = form.findChild(QLineEdit, "form_count")
    count.setText("2.5")
    assert "whole number" in form.problem
    count.setText("3")
    form.findChild(QLineEdit, "form_name").setText("3")
    form.findChild(QLineEdit, "form_free").setText('"three"')
    assert form.problem == "" and form.value == {"count": 3, "name": "3", "free": "three", "ok": True, "share": 0.5}
    form.set_value([1, {"deep": []}])
    assert form.value == [1, {"deep": []}]
