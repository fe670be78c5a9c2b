"""The Request tab of a run that another program made and recorded: sources, sizes, events, differences."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QLabel, QToolButton
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.detail.prose import Prose


def node_values(inspector: Inspector) -> dict[str, Any]:
    return {node.key: node.value for node in inspector.window.parts.detail.request.model.node(QModelIndex()).children}


def show_request(inspector: Inspector, index: int, qtbot: QtBot) -> dict[str, Any]:
    bench = inspector.window.workbench
    bench.parts.stream.select_event(index)
    bench.parts.detail.tabs.setCurrentIndex(2)
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=20_000)
    return node_values(inspector)


def test_a_recorded_request_says_where_everything_comes_from(
    inspector: Inspector, recorded_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(recorded_db)
    last = inspector.features.stream.events.event_count - 1
    values = show_request(inspector, last, qtbot)
    sources = values["system instruction"]
    assert list(sources) == ["global instruction", "instruction", "name and description", "planner", "transfer"]
    assert sources["instruction"].startswith("You are the guide of Whitby.") and sources["instruction"].endswith("name your source.")
    assert list(values["tools"]) == ["transfer_to_agent", "look_up"]
    assert values["answer"]["prompt tokens"] == 1_700 and values["answer"]["cached tokens"] == 1_024
    assert values["answer"]["cost"].startswith("$0.00")
    assert "first piece after" in values["time"]
    bar = inspector.window.parts.detail.request.bar
    assert [part.name for part in bar.parts] == ["system instruction", "tools", "user", "model", "tool calls", "tool results"]
    assert sum(part.tokens or 0 for part in bar.parts) == pytest.approx(1_700, abs=6)
    assert "1,700 of 1,048,576 tokens (0.2%) · 1,024 cached" in bar.accessibleName()
    assert bar.isVisible() and bar.height() > 30


def test_the_first_call_has_no_previous_one(inspector: Inspector, recorded_db: Path, opened: Callable[..., None], qtbot: QtBot) -> None:
    opened(recorded_db)
    values = show_request(inspector, 1, qtbot)
    assert inspector.window.parts.detail.request.findChild(QToolButton, "request_since").isHidden()
    assert "(redacted)" in str(values["conversation"])
    assert show_request(inspector, 0, qtbot) == {}
    assert inspector.window.parts.detail.request.bar.parts == ()


def read(inspector: Inspector, name: str) -> str:
    """Return the text of a section of the document; nothing if it is not displayed."""
    card = inspector.window.parts.detail.request.cards[name]
    return card.findChild(Prose, f"request_{name}_text").toPlainText() if not card.isHidden() else ""


def test_a_request_is_read_as_a_document(inspector: Inspector, recorded_db: Path, opened: Callable[..., None], qtbot: QtBot) -> None:
    opened(recorded_db)
    last = inspector.features.stream.events.event_count - 1
    show_request(inspector, last, qtbot)
    view = inspector.window.parts.detail.request
    assert "You are the guide of Whitby" in read(inspector, "instruction") and "{town}" in read(inspector, "instruction")
    assert "look_up(" in read(inspector, "tools")
    for left_out in ("Left out: events 3, 4 · a rewind took it back", "Left out: event 5 · it is a rewind"):
        assert left_out in read(inspector, "conversation")
    assert [f"event {told}" in read(inspector, "conversation") for told in (2, 6, 8)] == [True] * 3
    assert read(inspector, "answer")
    assert not view.tree.isVisible()
    since = view.findChild(QToolButton, "request_since")
    assert since.text().startswith("Since call ")
    since.click()
    assert "unchanged message" in read(inspector, "conversation") and read(inspector, "tools") == read(inspector, "instruction") == ""
    show_request(inspector, 1, qtbot)
    assert since.isHidden() and read(inspector, "conversation"), "the first call has no other form"
    assert since.isChecked(), "the chosen form returns with the next call that has it"


def test_a_previous_request_that_became_no_event_has_no_number(
    inspector: Inspector, recorded_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    with closing(sqlite3.connect(recorded_db.with_name("town.rec.db"))) as recording, recording:
        calls = recording.execute("SELECT id, agent FROM inspector_model_calls ORDER BY id").fetchall()
        before = max(number for number, agent in calls[:-1] if agent == calls[-1][1])
        recording.execute("UPDATE inspector_model_calls SET event_id = NULL WHERE id = ?", (before,))
    opened(recorded_db)
    show_request(inspector, inspector.features.stream.events.event_count - 1, qtbot)
    since = inspector.window.parts.detail.request.findChild(QToolButton, "request_since")
    assert since.isVisible() and since.text() == "Since its last call"


def test_the_calls_before_and_after_are_one_click_away(
    inspector: Inspector, recorded_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(recorded_db)
    last = inspector.features.stream.events.event_count - 1
    show_request(inspector, last, qtbot)
    detail = inspector.window.parts.detail
    words = detail.findChild(QLabel, "request_call")
    count = int(words.text().rpartition(" ")[2])
    assert words.text() == f"call {count} of {count}" and not detail.findChild(QToolButton, "request_next").isEnabled()
    back = detail.findChild(QToolButton, "request_previous")
    for number in range(count - 1, 0, -1):
        back.click()
        qtbot.waitUntil(lambda: words.text() == f"call {number} of {count}")  # noqa: B023
        assert detail.request.isVisible()
    assert not back.isEnabled()
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=20_000)


def test_the_tree_of_a_request_is_under_json(inspector: Inspector, recorded_db: Path, opened: Callable[..., None], qtbot: QtBot) -> None:
    opened(recorded_db)
    last = inspector.features.stream.events.event_count - 1
    show_request(inspector, last, qtbot)
    detail = inspector.window.parts.detail
    button = detail.findChild(QToolButton, "event_json")
    button.click()
    assert detail.request.tree.isVisible() and button.isChecked()
    inspector.window.parts.stream.select_event(1)
    qtbot.waitUntil(lambda: "(redacted)" in str(node_values(inspector).get("conversation")))
    detail.findChild(QToolButton, "json_of_event").click()
    assert detail.json.isVisible() and detail.event_id in detail.json.text
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=20_000)
