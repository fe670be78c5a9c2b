"""The timeline of the selected event's invocation."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from bench.generated import PER_INVOCATION, write_database
from inspector_app.app import Inspector
from inspector_app.detail.timeline_view import ROW_HEIGHT
from inspector_app.detail.waterfall import timeline
from tests.gui.events import said


@pytest.fixture
def story(inspector: Inspector, story_db: Path, opened: Callable[..., None], qtbot: QtBot) -> Inspector:
    opened(story_db)
    inspector.window.workbench.raise_pane("timeline")
    qtbot.waitUntil(lambda: bool(rows(inspector)))
    return inspector


def rows(inspector: Inspector) -> list[str]:
    shown = inspector.window.workbench.timeline.chart.shown
    return [row.label for row in shown.rows] if shown is not None else []


def test_every_agent_and_its_model_calls_have_a_row(story: Inspector) -> None:
    assert rows(story)[:3] == ["StoryFlow", "StoryGenerator", "model"]
    assert {"CriticReviserLoop", "Critic", "Reviser"} <= set(rows(story))


def test_a_click_or_an_arrow_key_selects_the_event_of_a_bar(story: Inspector, qtbot: QtBot) -> None:
    chart = story.window.workbench.timeline.chart
    qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=chart.centre_of("model"))
    assert story.cursor.event_index == 2
    qtbot.keyClick(chart, Qt.Key.Key_Right)
    assert story.cursor.event_index == 6
    assert story.window.workbench.stream.table.currentIndex().row() == story.controller.events.row_of_index(6)
    qtbot.keyClick(chart, Qt.Key.Key_Left)
    assert story.cursor.event_index == 2


def test_only_the_selected_invocation_of_a_long_session_is_drawn(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    write_database(tmp_path / "long.db", 3_000)
    opened(tmp_path / "long.db")
    inspector.window.workbench.raise_pane("timeline")
    inspector.window.workbench.stream.select_event(1_234)
    chart = inspector.window.workbench.timeline.chart
    qtbot.waitUntil(lambda: chart.selected_index == 1_234)
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    places = [bar.index for row in chart.shown.rows for bar in row.bars]
    assert min(places) >= 1_230
    assert max(places) < 1_230 + PER_INVOCATION


def test_axis_labels_do_not_overlap(story: Inspector, qtbot: QtBot) -> None:
    """Check also a shortened pause that is narrower than its label."""
    chart = story.window.workbench.timeline.chart
    drawn = timeline([said("word", number=seconds) for seconds in (0, 1, 2, 4_000, 4_001, 90_000)])
    assert len(drawn.scale.pauses) == 2
    chart.set_timeline(drawn, {})
    for width in (400, 900, 2400):
        chart.resize(width, 200)
        edges = sorted((left, right) for left, right, _ in chart.axis_labels(drawn))
        assert len(edges) >= 2
        assert all(right < left for (_, right), (left, _) in pairwise(edges))


def test_after_a_pause_the_axis_counts_from_its_end(story: Inspector) -> None:
    chart = story.window.workbench.timeline.chart
    drawn = timeline([said("word", number=seconds) for seconds in (0, 1, 2, 8_000, 8_001, 8_002)])
    chart.set_timeline(drawn, {})
    chart.resize(1200, 200)
    assert [text for _, _, text in sorted(chart.axis_labels(drawn))][-3:] == ["+1.0 s", "+1.5 s", "+2.0 s"]


def test_the_selected_events_row_is_scrolled_into_view(story: Inspector, qtbot: QtBot) -> None:
    view = story.window.workbench.timeline
    story.window.workbench.stream.select_event(9)
    qtbot.waitUntil(lambda: view.chart.selected_index == 9)
    bar = view.chart.row_of(9)
    assert bar is not None and view.chart.shown.rows[bar].author == "Reviser"
    qtbot.waitUntil(lambda: 0 < view.chart.mapTo(view, view.chart.centre_of("Reviser")).y() + ROW_HEIGHT < view.height())
