"""The Request tab of a run that another program made and recorded: sources, sizes, events, differences."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QModelIndex
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector


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
    outside = next(value for title, value in values["events before"].items() if title.startswith("not in the request"))
    assert [reason.split(":")[0] for reason in outside.values()] == ["a rewind took it back", "a rewind took it back", "it is a rewind"]
    inside = next(value for title, value in values["events before"].items() if title.startswith("in the request"))
    assert list(inside) == ["#1 user", "#2 guide", "#6 user", "#7 guide", "#8 guide"]
    changed = values["changed since the previous call"]
    assert list(changed) == ["conversation"] and [key[0] for key in changed["conversation"]] == ["+", "+"]
    bar = inspector.window.parts.detail.request.bar
    assert [part.name for part in bar.parts] == ["system instruction", "tools", "user", "model", "tool calls", "tool results"]
    assert sum(part.tokens or 0 for part in bar.parts) == pytest.approx(1_700, abs=6)
    assert "1,700 of 1,048,576 tokens (0.2%) · 1,024 cached" in bar.accessibleName()
    assert bar.isVisible() and bar.height() > 30


def test_the_first_call_has_no_previous_one(inspector: Inspector, recorded_db: Path, opened: Callable[..., None], qtbot: QtBot) -> None:
    opened(recorded_db)
    values = show_request(inspector, 1, qtbot)
    assert "changed since the previous call" not in values
    assert values["events before"] == {"in the request (1)": {"#1 user": "My key is password: horse-battery-7"}}
    assert "(redacted)" in str(values["conversation"])
    assert show_request(inspector, 0, qtbot) == {}
    assert inspector.window.parts.detail.request.bar.parts == ()
