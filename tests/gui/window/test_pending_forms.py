"""Answering pending items: confirmations with a payload, long-running calls, credentials; by keyboard and across databases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, QSettings, Qt
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QTextBrowser,
    QTreeWidget,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.documents.session_address import SessionAddress
from inspector_app.running.pending_form import PendingForm
from inspector_app.running.pending_pane import PendingPane, PendingRow
from inspector_app.running.value_form import ValueForm
from inspector_app.widgets.value_tree import ValueNode, ValueTreeModel
from runtime.history.invocations import PendingItem
from runtime.sessions.session import SessionKey
from tests.gui.window.driver import WindowDriver

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
def asked(agent: Callable[[str, str], Inspector], driver: WindowDriver, qtbot: QtBot) -> Inspector:
    bank = agent("bank", TRANSFER)
    with qtbot.waitSignal(bank.run.run_ended, timeout=10_000):
        driver.composer.send("pay the rent")
    assert [row.item.kind for row in bank.window.parts.pending.rows] == ["confirmation"]
    return bank


def test_a_confirmation_is_approved_with_a_changed_payload(asked: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    pane = asked.window.parts.pending
    amount = pane.findChild(QLineEdit, "pending_payload_amount")
    approve = pane.findChild(QPushButton, "pending_approve")
    amount.setFocus()
    amount.setText("lots")
    assert not approve.isEnabled() and "number" in approve.toolTip()
    amount.setText("500")
    with qtbot.waitSignal(asked.run.run_ended, timeout=10_000) as ended:
        qtbot.keyClick(amount, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert ended.args[0].error is None
    assert driver.stream.results("transfer")[-1] == {"confirmed": True, "payload": {"amount": 500, "note": "rent", "urgent": False}}
    assert pane.rows == []


def test_a_confirmation_is_rejected_by_keyboard_from_the_list(asked: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    waiting = asked.window.parts.pending.findChild(QTreeWidget, "pending_list")
    waiting.setFocus()
    with qtbot.waitSignal(asked.run.run_ended, timeout=10_000):
        qtbot.keyClick(waiting, Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier)
    assert driver.stream.results("transfer")[-1]["confirmed"] is False


def test_pending_items_of_all_open_databases_are_listed(
    asked: Inspector, story_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(story_db)
    pane = asked.window.parts.pending
    qtbot.waitUntil(lambda: len(pane.rows) == 2)
    assert {row.address.database for row in pane.rows} == {asked.databases.unsaved[0].target, str(story_db)}
    waiting = pane.findChild(QTreeWidget, "pending_list")
    for number, row in enumerate(pane.rows):
        if row.address.database == str(story_db):
            waiting.setCurrentItem(waiting.topLevelItem(number))
    qtbot.waitUntil(lambda: asked.cursor.session is not None and asked.cursor.session.database == str(story_db))


def test_an_answer_goes_to_the_asking_session_even_if_another_is_displayed(asked: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    asking = asked.cursor.session
    asked.window.commands.new_session.trigger()
    qtbot.waitUntil(lambda: asked.cursor.session not in (asking, None) and not asked.tasks.running, timeout=10_000)
    pane = asked.window.parts.pending
    asked.cursor.select_session(None)
    assert pane.findChild(QPushButton, "pending_approve").isEnabled(), "the displayed session does not block the answer"
    with qtbot.waitSignal(asked.run.run_ended, timeout=10_000) as ended:
        qtbot.mouseClick(pane.findChild(QPushButton, "pending_approve"), Qt.MouseButton.LeftButton)
    assert ended.args[0].error is None and ended.args[0].address == asking == asked.cursor.session
    assert driver.stream.results("transfer")[-1]["confirmed"] is True


def test_a_form_keeps_the_types_of_its_values(qtbot: QtBot) -> None:
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


def test_fields_keep_their_height_and_scroll_in_a_low_form(qtbot: QtBot) -> None:
    form = ValueForm("form", "A form")
    qtbot.addWidget(form)
    form.set_value(dict.fromkeys(("one", "two", "three", "four", "five"), "x"))
    form.resize(400, 70)
    form.show()
    fields = [form.findChild(QLineEdit, f"form_{name}") for name in ("one", "two", "three", "four", "five")]
    assert all(field.height() >= field.sizeHint().height() for field in fields)
    assert all(above.geometry().bottom() < below.geometry().top() for above, below in pairwise(fields))
    assert form.findChild(QScrollArea).verticalScrollBar().maximum() > 0


def test_a_long_database_name_does_not_elide_the_pending_item(qtbot: QtBot) -> None:
    pane = PendingPane()
    qtbot.addWidget(pane)
    pane.resize(1260, 180)
    pane.show()
    address = SessionAddress("/long.db", SessionKey("app", "user", "s-1"))
    item = PendingItem("confirmation", "e-1", call_id="c-1", name="transfer_money")
    pane.set_rows([PendingRow(address, item, "a_database_with_quite_a_long_name_as_exports_have_them.db")], address)
    waiting = pane.findChild(QTreeWidget, "pending_list")
    assert waiting.columnWidth(0) >= waiting.sizeHintForColumn(0)
    assert sum(waiting.columnWidth(column) for column in range(4)) <= waiting.viewport().width()


@pytest.fixture
def form(qtbot: QtBot) -> Iterator[PendingForm]:
    above = QWidget()
    qtbot.addWidget(above)
    above.resize(500, 240)
    made = PendingForm(above)
    made.resize(above.size())
    above.show()
    yield made


def test_the_consent_page_can_be_copied_and_is_opened_after_confirmation(
    form: PendingForm, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    page = "https://consent.example/a?state=" + "s" * 300
    credential = {"authType": "oauth2", "oauth2": {"clientId": "c", "authUri": page}}
    config = {"authScheme": {"type": "oauth2", "flows": {}}, "exchangedAuthCredential": credential}
    form.show_item(PendingItem("credential", "e-1", call_id="c-1", name="calendar", auth_config=config))
    address = form.findChild(QLabel, "pending_consent")
    assert address.isVisible() and address.text() == page and form.minimumSizeHint().width() < 500
    qtbot.mouseClick(form.findChild(QPushButton, "pending_consent_copy"), Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == page
    qtbot.mouseClick(form.findChild(QPushButton, "pending_consent_open"), Qt.MouseButton.LeftButton)
    question = form.findChild(QMessageBox, "link_question")
    assert question.informativeText() == page and opened == []
    next(button for button in question.buttons() if button.text() == "Open in browser").click()
    assert opened == [page]
    form.show_item(PendingItem("credential", "e-1", call_id="c-2", name="calendar", auth_config={"authScheme": {"type": "apiKey"}}))
    assert not address.isVisible()


def test_google_adks_default_hint_is_replaced_by_a_question(form: PendingForm) -> None:
    stock = "Please approve or reject the tool call pay() by responding with a FunctionResponse with an expected ToolConfirmation payload."
    question = form.findChild(QLabel, "pending_question")
    form.show_item(PendingItem("confirmation", "e-1", call_id="c-1", name="pay", author="desk", hint=stock))
    assert question.text() == "desk asks to call pay. Allow it?"
    form.show_item(PendingItem("confirmation", "e-1", call_id="c-2", name="pay", author="desk", hint="Pay 5 to maria?"))
    assert question.text() == "Pay 5 to maria?"


PRINTER = '''
from typing import Literal
from google.genai import types
from pydantic import BaseModel
from runtime.agents import LlmAgent
from runtime.apps import App, ResumabilityConfig
from runtime.auth import AuthConfig
from runtime.models import ScriptedLlm
from runtime.models.scripted_llm import Reply, Rule
from runtime.tools import LongRunningFunctionTool, ToolContext


class Report(BaseModel):
    status: Literal["printed", "jammed"]
    pages: int
    note: str = ""


def print_it(title: str) -> Report | None:
    """Start printing."""


def look_up(tool_context: ToolContext) -> dict:
    """Look something up."""
    config = AuthConfig(auth_scheme={"type": "apiKey", "in": "header", "name": "X-Key"})
    given = tool_context.get_auth_response(config)
    if given is None:
        tool_context.request_credential(config)
        return {"status": "asked"}
    return {"key_length": len(given.api_key)}


root_agent = LlmAgent(
    name="office",
    model=ScriptedLlm(
        rules=[
            Rule(when="^print$", reply=Reply(calls=[("print_it", {"title": "A"})])),
            Rule(when="^look$", reply=Reply(calls=[("look_up", {})])),
            Rule(reply="Done."),
        ]
    ),
    tools=[LongRunningFunctionTool(print_it), look_up],
)
app = App(name="copy_shop", root_agent=root_agent, resumability_config=ResumabilityConfig(is_resumable=True))
'''


@pytest.fixture
def shop(agent: Callable[[str, str], Inspector]) -> Inspector:
    return agent("copy_shop", PRINTER)


def wait_for(driver: WindowDriver, text: str, kind: str) -> None:
    with driver.qtbot.waitSignal(driver.inspector.run.run_ended, timeout=10_000) as ended:
        driver.composer.send(text)
    assert ended.args[0].error is None
    assert [row.item.kind for row in driver.inspector.window.parts.pending.rows] == [kind]


def test_a_long_running_call_reports_progress_and_is_answered_in_a_form_of_its_schema(
    shop: Inspector, driver: WindowDriver, qtbot: QtBot
) -> None:
    wait_for(driver, "print", "long_running")
    pane = shop.window.parts.pending
    qtbot.keyClick(shop.window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
    status, pages = pane.findChild(QComboBox, "pending_payload_status"), pane.findChild(QLineEdit, "pending_payload_pages")
    assert status.hasFocus() and not pane.findChild(QPlainTextEdit, "pending_answer").isVisible()
    progress, respond = pane.findChild(QPushButton, "pending_progress"), pane.findChild(QPushButton, "pending_respond")
    status.setCurrentText("jammed")
    assert not respond.isEnabled() and "pages" in respond.toolTip()
    qtbot.keyClicks(pages, "1")
    count = shop.features.stream.events.event_count
    qtbot.keyClick(pages, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: shop.features.stream.events.event_count == count + 1, timeout=10_000)
    assert driver.stream.results("print_it") == [{"status": "jammed", "pages": 1}]
    so_far = pane.findChild(QLabel, "pending_so_far")
    qtbot.waitUntil(lambda: so_far.isVisible() and "jammed" in so_far.text(), timeout=10_000)
    assert shop.run.phase == "idle" and progress.isVisible()
    pane.findChild(QComboBox, "pending_payload_status").setCurrentText("printed")
    qtbot.keyClicks(pane.findChild(QLineEdit, "pending_payload_pages"), "3")
    with qtbot.waitSignal(shop.run.run_ended, timeout=10_000) as ended:
        qtbot.mouseClick(respond, Qt.MouseButton.LeftButton)
    assert ended.args[0].error is None
    assert driver.stream.results("print_it")[-1] == {"status": "printed", "pages": 3}
    assert pane.rows == []


def test_a_credential_is_entered_in_a_form_and_never_shown(shop: Inspector, tmp_path: Path, driver: WindowDriver, qtbot: QtBot) -> None:
    wait_for(driver, "look", "credential")
    pane = shop.window.parts.pending
    key = pane.findChild(QLineEdit, "pending_payload_apiKey")
    assert key.echoMode() == QLineEdit.EchoMode.Password
    key.setFocus()
    qtbot.keyClicks(key, "hush-hush")
    with qtbot.waitSignal(shop.run.run_ended, timeout=10_000) as ended:
        qtbot.keyClick(key, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert ended.args[0].error is None
    assert {"key_length": 9} in driver.stream.results("look_up")
    window, model = shop.window, shop.features.stream.events
    answer = next(index for index in range(model.event_count) if "hush-hush" in model.committed(index).model_dump_json())
    window.parts.stream.select_event(answer)
    detail = window.parts.detail
    for number in range(detail.tabs.count()):
        detail.tabs.setCurrentIndex(number)
    shown = [text.toPlainText() for text in window.findChildren(QPlainTextEdit)]
    shown += [line.text() for line in window.findChildren(QLineEdit)]
    shown += [model.stream_row(row).summary for row in range(model.rowCount())]
    detail.cards.show_tree(True)
    shown += [text.toPlainText() for text in window.findChildren(QTextBrowser)]
    shown += [str(node.value) for node in _nodes(detail.cards.model)]
    assert not any("hush-hush" in text for text in shown)
    assert any("•••" in text for text in shown)
    QSettings(str(tmp_path / "settings" / "settings.ini"), QSettings.Format.IniFormat).sync()  # shares the window's values
    kept = [file for file in (tmp_path / "settings").rglob("*") if file.is_file() and b"hush-hush" in file.read_bytes()]
    assert not [file for file in kept if not file.name.startswith("sessions-1.db")], "only the session itself has it, to be resumed"


def _nodes(model: ValueTreeModel) -> list[ValueNode]:
    found, left = [], list(model.node(QModelIndex()).children)
    while left:
        node = left.pop()
        found.append(node)
        left += node.children
    return found
