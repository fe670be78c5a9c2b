"""A recorded request sent again: the agent that is needed, what it costs, and both answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLabel, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.demo import STORY
from tests.gui.window.driver import WindowDriver
from tests.gui.window.test_request_tab import shown


def child(parent: QDialog, kind: type, name: str) -> QPlainTextEdit:
    found = parent.findChild(kind, name)
    assert found is not None
    return found  # type: ignore[no-any-return]


def open_dialog(inspector: Inspector, qtbot: QtBot) -> QDialog:
    button = inspector.window.findChild(QPushButton, "send_again")
    assert button.isVisible() and button.isEnabled()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    dialog = inspector.window.findChild(QDialog, "send_again_dialog")
    assert dialog is not None
    return dialog


def test_an_edited_request_is_answered_beside_the_original(story: Inspector, driver: WindowDriver, qtbot: QtBot) -> None:
    before = story.features.stream.events.event_count
    driver.run_message("one more")
    answered = next(index for index in range(before, story.features.stream.events.event_count) if shown(story, index, qtbot))
    shown(story, answered, qtbot)
    committed = story.features.stream.events.event_count
    dialog = open_dialog(story, qtbot)
    words = dialog.findChild(QLabel, "send_again_before").text()
    assert "Its price is unknown" in words and "Nothing is stored" in words
    original = child(dialog, QPlainTextEdit, "send_again_original").toPlainText()
    assert original
    edit, send = child(dialog, QPlainTextEdit, "send_again_request"), dialog.findChild(QPushButton, "send_again_send")
    request = json.loads(edit.toPlainText())
    edit.setPlainText("{")
    assert not send.isEnabled()
    request["contents"][0]["parts"].append({"text": " And be quick."})
    edit.setPlainText(json.dumps(request))
    qtbot.mouseClick(send, Qt.MouseButton.LeftButton)
    answer = child(dialog, QPlainTextEdit, "send_again_answer")
    qtbot.waitUntil(lambda: bool(answer.toPlainText()), timeout=10_000)
    assert not answer.toPlainText().startswith("No answer")
    assert "cost unknown" in dialog.findChild(QLabel, "send_again_facts").text()
    edit.setPlainText('{"contents": 7}')
    qtbot.mouseClick(send, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: answer.toPlainText().startswith("No answer"), timeout=10_000)
    assert story.features.stream.events.event_count == committed
    dialog.reject()


def test_without_its_agent_the_button_says_what_is_missing(
    inspector: Inspector, recorded_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(recorded_db)
    button, reason = (
        inspector.window.findChild(QPushButton, "send_again"),
        inspector.window.parts.detail.request.findChild(QLabel, "send_again_blocked"),
    )
    shown(inspector, 1, qtbot)
    assert button.isVisible() and not button.isEnabled()
    assert reason.text().startswith("Open the agent of town first")
    opened(STORY.parent / "orders")
    shown(inspector, 1, qtbot)
    assert not button.isEnabled()
