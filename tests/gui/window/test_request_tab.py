"""The model request of the selected event."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QApplication, QLabel, QPlainTextEdit, QToolButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.demo import STORY
from inspector_app.detail.request_values import NOT_RECORDED, RECONSTRUCTED
from inspector_app.documents.instruction_sources import OTHER
from inspector_app.resources.samples.orders import script
from inspector_app.support.settings import Settings
from inspector_app.workspace.messages import MessageBus
from runtime.errors import StorageError
from runtime.storage.recordings.recording import Recording
from tests.gui.window.driver import WindowDriver


def shown(inspector: Inspector, index: int, qtbot: QtBot) -> list[str]:
    bench = inspector.window.workbench
    bench.parts.stream.select_event(index)
    bench.parts.detail.tabs.setCurrentIndex(2)
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=20_000)
    return [node.key for node in bench.parts.detail.request.model.node(QModelIndex()).children]


def test_the_request_of_a_recorded_run_is_complete(inspector: Inspector, opened: Callable[..., None], qtbot: QtBot) -> None:
    opened(STORY.parent / "orders")
    inspector.agents.loaded.app.root_agent.model = script.order_script(delay=0)  # type: ignore[union-attr]
    edit = inspector.window.findChild(QPlainTextEdit, "composer_edit")
    qtbot.keyClicks(edit, "2 boxes of A4 paper")
    with qtbot.waitSignal(inspector.run.run_ended, timeout=30_000):
        qtbot.keyClick(edit, Qt.Key.Key_Return)
    note = inspector.window.findChild(QLabel, "request_note")
    assert shown(inspector, 1, qtbot)[:3] == ["model", "system instruction", "tools"]
    assert "conversation" in shown(inspector, 1, qtbot)
    assert note.text() == ""
    tools = inspector.window.parts.detail.request.model.node(QModelIndex()).children[2]
    assert "find_product" in tools.value
    assert shown(inspector, 0, qtbot) == []


def test_the_conversation_of_a_stored_event_is_reconstructed_with_a_note(
    inspector: Inspector, story_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(story_db)
    assert shown(inspector, 2, qtbot) == ["conversation", "answer"]
    assert inspector.window.findChild(QLabel, "request_note").text() == NOT_RECORDED + RECONSTRUCTED


def test_a_recorded_request_is_shown_after_a_restart(
    story: Inspector,
    story_db: Path,
    driver: WindowDriver,
    qapp: QApplication,
    settings: Settings,
    opened: Callable[..., None],
    qtbot: QtBot,
) -> None:
    before = story.features.stream.events.event_count
    driver.run_message("one more")
    answered = next(index for index in range(before, story.features.stream.events.event_count) if shown(story, index, qtbot))
    expected = tree(story)
    assert {"model", "system instruction", "conversation", "answer"} <= expected.keys()
    recording = story_db.with_name("story.rec.db")
    qtbot.waitUntil(lambda: bool(recorded(recording)), timeout=20_000)
    again = Inspector(qapp, settings, MessageBus())
    try:
        again.show((1280, 800))
        again.tasks.spawn(again.open([str(story_db)]), "Opening")
        qtbot.waitUntil(lambda: not again.tasks.running, timeout=20_000)
        assert "time" in shown(again, answered, qtbot)
        assert again.window.findChild(QLabel, "request_note").text() == ""
        assert tree(again) | {"time": ""} == expected | {"time": ""}
    finally:
        with qtbot.waitSignal(again.closed, timeout=10_000):
            again.window.close()


@pytest.mark.parametrize("is_recorded", [True, False])
def test_a_request_has_the_same_sources_and_changes_with_and_without_a_recording(
    story: Inspector, driver: WindowDriver, qtbot: QtBot, is_recorded: bool
) -> None:
    if not is_recorded:
        story.window.commands.record_requests.trigger()
    before = story.features.stream.events.event_count
    driver.run_message("one more")
    driver.run_message("and one more")
    last = [one for one in range(before, story.features.stream.events.event_count) if shown(story, one, qtbot)][-1]
    shown(story, last, qtbot)
    found = tree(story)
    assert "instruction" in found["system instruction"] and OTHER not in found["system instruction"]
    assert story.window.findChild(QToolButton, "request_since").isVisible()


def test_a_request_of_a_held_run_has_its_sources(orders: Inspector, driver: WindowDriver) -> None:
    driver.breakpoints.add("", "before tool", "find_product")
    driver.composer.send("a desk lamp")
    driver.run_until_held()
    driver.bench.parts.stream.select_event(1)
    driver.bench.parts.detail.tabs.setCurrentIndex(2)
    driver.run_until(lambda: "system instruction" in tree(orders))
    found = tree(orders)["system instruction"]
    assert "instruction" in found and OTHER not in found


@pytest.mark.parametrize("model", ["gemini-2.5-flash", "claude-x"])
def test_a_request_to_gemini_is_copied_as_curl(orders: Inspector, driver: WindowDriver, qtbot: QtBot, model: str) -> None:
    orders.agents.loaded.app.root_agent.model.model = model  # type: ignore[union-attr]
    driver.run_message("2 boxes of A4 paper")
    shown(orders, 1, qtbot)
    QApplication.clipboard().setText("")
    if model == "claude-x":
        driver.click(driver.bench.parts.detail.request, "copy_curl")
        driver.run_until_idle()
        assert "Only requests to Gemini" in driver.log_text() and QApplication.clipboard().text() == ""
        return
    menu = driver.bench.parts.stream.context_menu(orders.features.stream.events.row_of_index(1))
    next(action for action in menu.actions() if action.text() == "Copy its request as cURL").trigger()
    driver.run_until_idle()
    copied = QApplication.clipboard().text()
    assert copied.startswith("curl https://") and "$GEMINI_API_KEY" in copied and "2 boxes of A4 paper" in copied
    assert "The request was copied" in driver.log_text()
    menu.deleteLater()


def test_runs_are_not_recorded_if_that_is_turned_off(story: Inspector, story_db: Path, driver: WindowDriver, settings: Settings) -> None:
    story.window.commands.record_requests.trigger()
    assert not settings.records_requests
    driver.run_message("one more")
    assert not story_db.with_name("story.rec.db").exists()


def test_a_damaged_recording_is_reported_above_the_conversation(
    inspector: Inspector, story_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    story_db.with_name("story.rec.db").write_bytes(b"no database" * 500)
    opened(story_db)
    assert shown(inspector, 2, qtbot) == ["conversation", "answer"]
    assert "story.rec.db is not an SQLite database" in inspector.window.findChild(QLabel, "request_note").text()


def tree(inspector: Inspector) -> dict[str, str]:
    """Return the parts of the displayed request."""
    return {node.key: str(node.value) for node in inspector.window.parts.detail.request.model.node(QModelIndex()).children}


def recorded(file: Path) -> int:
    """Return how many model calls a recording has."""
    if not file.exists():
        return 0
    try:
        with closing(Recording(file)) as recording:
            return len(recording.model_calls())
    except StorageError:  # its tables are being created
        return 0
