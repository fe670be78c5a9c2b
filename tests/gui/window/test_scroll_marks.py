"""The marks on the event stream's scroll bar."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from bench.generated import write_database
from inspector_app.app import Inspector
from inspector_app.demo import STORY
from inspector_app.resources.samples.orders import script

FAILED_AT = (17, 1_200, 2_999)


@pytest.fixture(scope="module")
def long_db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a session that is read in pages, with three failures."""
    file = tmp_path_factory.mktemp("failures") / "long.db"
    write_database(file, 3_000)
    with closing(sqlite3.connect(file)) as database, database:
        rows = database.execute("SELECT id, event_data FROM events ORDER BY rowid").fetchall()
        for place in FAILED_AT:
            event_id, data = rows[place]
            changed = {**json.loads(data), "error_code": "503", "error_message": "overloaded"}
            database.execute("UPDATE events SET event_data = ? WHERE id = ?", (json.dumps(changed), event_id))
    database.close()
    return file


def failures(inspector: Inspector) -> list[int]:
    bar = inspector.window.parts.stream.table.bar
    bar.count_now()
    return next((list(marks.places) for marks in bar.marks() if marks.name == "failures"), [])


def test_failures_of_a_long_session_are_found_in_the_background_and_marked(
    inspector: Inspector, long_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(long_db)
    bar, events = inspector.window.parts.stream.table.bar, inspector.features.stream.events
    qtbot.waitUntil(lambda: failures(inspector) == list(FAILED_AT), timeout=10_000)
    rows, height = events.rowCount(), bar.height()
    expected = [events.row_of_index(place) * height // rows for place in FAILED_AT]
    assert [abs(pixel - wanted) <= 1 for pixel, wanted in zip(bar.lines["failures"], expected, strict=True)] == [True] * 3
    assert "3 failures" in bar.toolTip()


def test_a_filter_keeps_the_marks_of_shown_events(inspector: Inspector, long_db: Path, opened: Callable[..., None], qtbot: QtBot) -> None:
    opened(long_db)
    qtbot.waitUntil(lambda: failures(inspector) == list(FAILED_AT), timeout=10_000)
    inspector.window.parts.filter_bar.set_text("error")
    qtbot.waitUntil(lambda: not inspector.tasks.running, timeout=20_000)
    assert inspector.features.stream.events.shown_count == 3
    assert failures(inspector) == [0, 1, 2]


def test_events_where_a_breakpoint_held_stay_marked(inspector: Inspector, opened: Callable[..., None], qtbot: QtBot) -> None:
    opened(STORY.parent / "orders")
    assert inspector.agents.loaded is not None
    inspector.agents.loaded.app.root_agent.model = script.order_script(delay=0)  # type: ignore[attr-defined]
    bar, breakpoints = inspector.window.parts.stream.table.bar, inspector.breakpoints
    breakpoints.add({"condition": 'kind == "tool result"'})
    inspector.run.send("40 boxes of A4 paper")
    qtbot.waitUntil(lambda: inspector.run.phase == "paused", timeout=10_000)
    stopped = inspector.run.held
    assert stopped is not None
    bar.count_now()
    assert len(bar.lines["stops"]) == 1
    breakpoints.remove(next(iter(breakpoints)).id)
    with qtbot.waitSignal(inspector.run.run_ended, timeout=20_000):
        inspector.run.continue_run()
    marks = {marks.name: list(marks.places) for marks in bar.marks()}
    assert marks["stops"] == [inspector.features.stream.events.index_of(stopped.id)]
    assert len(marks["failures"]) == 1, "the tool that failed and was called again"
