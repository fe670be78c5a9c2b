"""The model request of the selected event."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QLabel, QPlainTextEdit
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.demo import STORY
from inspector_app.detail.request_values import NOT_RECORDED, RECONSTRUCTED
from inspector_app.resources.samples.orders import script


def shown(inspector: Inspector, index: int) -> list[str]:
    bench = inspector.window.workbench
    bench.stream.select_event(index)
    bench.detail.tabs.setCurrentIndex(2)
    return [node.key for node in bench.detail.request.model.node(QModelIndex()).children]


def test_the_request_of_a_recorded_run_is_complete(inspector: Inspector, opened: Callable[..., None], qtbot: QtBot) -> None:
    opened(STORY.parent / "orders")
    inspector.agents.loaded.app.root_agent.model = script.order_script(delay=0)  # type: ignore[union-attr]
    edit = inspector.window.findChild(QPlainTextEdit, "composer_edit")
    qtbot.keyClicks(edit, "2 boxes of A4 paper")
    with qtbot.waitSignal(inspector.run.run_ended, timeout=30_000):
        qtbot.keyClick(edit, Qt.Key.Key_Return)
    note = inspector.window.findChild(QLabel, "request_note")
    assert shown(inspector, 1)[:3] == ["model", "system instruction", "tools"]
    assert "conversation" in shown(inspector, 1)
    assert note.text() == ""
    tools = inspector.window.workbench.detail.request.model.node(QModelIndex()).children[2]
    assert "find_product" in tools.value
    assert shown(inspector, 0) == []


def test_the_conversation_of_a_stored_event_is_reconstructed_with_a_note(
    inspector: Inspector, story_db: Path, opened: Callable[..., None]
) -> None:
    opened(story_db)
    assert shown(inspector, 2) == ["conversation", "answer"]
    assert inspector.window.findChild(QLabel, "request_note").text() == NOT_RECORDED + RECONSTRUCTED
