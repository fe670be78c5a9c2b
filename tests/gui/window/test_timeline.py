"""The timeline of the selected event's invocation."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QWheelEvent
from PySide6.QtWidgets import QApplication, QComboBox
from pytestqt.qtbot import QtBot

from bench.generated import PER_INVOCATION, write_database
from inspector_app.app import Inspector
from inspector_app.presentation.spans import activity
from inspector_app.presentation.timeline_rows import Section, Timeline, timeline
from inspector_app.support.settings import Settings
from inspector_app.timeline.timeline_painter import axis_height, row_height
from inspector_app.workspace.messages import MessageBus
from tests.gui.events import said
from tests.gui.window.driver import WindowDriver
from tests.recorded_desk import write_desk


@pytest.fixture
def stored(inspector: Inspector, story_db: Path, opened: Callable[..., None], qtbot: QtBot) -> Inspector:
    opened(story_db)
    inspector.window.workbench.raise_pane("timeline")
    qtbot.waitUntil(lambda: bool(rows(inspector)))
    return inspector


def drawn(seconds: tuple[int, ...]) -> Timeline:
    return timeline([Section("", activity([said("word", number=second) for second in seconds]))])


def rows(inspector: Inspector) -> list[str]:
    shown = inspector.window.parts.timeline.chart.shown
    return [row.label for row in shown.rows] if shown is not None else []


def test_every_agent_and_its_model_calls_have_a_row(stored: Inspector) -> None:
    assert rows(stored)[:3] == ["StoryFlow", "StoryGenerator", "model"]
    assert {"CriticReviserLoop", "Critic", "Reviser"} <= set(rows(stored))


def test_a_click_or_an_arrow_key_selects_the_event_of_a_bar(stored: Inspector, qtbot: QtBot) -> None:
    chart = stored.window.parts.timeline.chart
    chart.verticalScrollBar().setValue(0)
    qtbot.mouseClick(chart.viewport(), Qt.MouseButton.LeftButton, pos=chart.centre_of("model"))
    assert stored.cursor.event_index == 2
    qtbot.keyClick(chart, Qt.Key.Key_Right)
    assert stored.cursor.event_index == 6
    assert stored.window.parts.stream.table.currentIndex().row() == stored.features.stream.events.row_of_index(6)
    qtbot.keyClick(chart, Qt.Key.Key_Left)
    assert stored.cursor.event_index == 2


def test_only_the_selected_invocation_of_a_long_session_is_drawn(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    write_database(tmp_path / "long.db", 3_000)
    opened(tmp_path / "long.db")
    inspector.window.workbench.raise_pane("timeline")
    inspector.window.parts.stream.select_event(1_234)
    chart = inspector.window.parts.timeline.chart
    qtbot.waitUntil(lambda: chart.selected_index == 1_234)
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    places = [bar.index for row in chart.shown.rows for bar in row.bars]
    assert min(places) >= 1_230
    assert max(places) < 1_230 + PER_INVOCATION


def test_axis_labels_do_not_overlap(stored: Inspector, qtbot: QtBot) -> None:
    """Check also a shortened pause that is narrower than its label."""
    chart = stored.window.parts.timeline.chart
    shown = drawn((0, 1, 2, 4_000, 4_001, 90_000))
    assert len(shown.scale.pauses) == 2
    chart.set_timeline(shown, {})
    for width in (400, 900, 2400):
        chart.resize(width, 200)
        edges = sorted((left, right) for left, right, _ in chart.axis_labels())
        assert len(edges) >= 2
        assert all(right < left for (_, right), (left, _) in pairwise(edges))


def test_after_a_pause_the_axis_counts_from_its_end(stored: Inspector) -> None:
    chart = stored.window.parts.timeline.chart
    chart.set_timeline(drawn((0, 1, 2, 8_000, 8_001, 8_002)), {})
    chart.resize(1200, 200)
    assert [text for _, _, text in sorted(chart.axis_labels())][-3:] == ["+1.0 s", "+1.5 s", "+2.0 s"]


def test_the_selected_events_row_is_scrolled_into_view(stored: Inspector, qtbot: QtBot) -> None:
    view = stored.window.parts.timeline
    stored.window.parts.stream.select_event(9)
    qtbot.waitUntil(lambda: view.chart.selected_index == 9)
    bar = view.chart.row_of(9)
    assert bar is not None and view.chart.shown.rows[bar].author == "Reviser"
    qtbot.waitUntil(lambda: axis_height() <= view.chart.centre_of("Reviser").y() < view.chart.viewport().height() - row_height() // 2)


@pytest.fixture
def desk(inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot) -> Inspector:
    write_desk(tmp_path / "desk.db")
    opened(tmp_path / "desk.db")
    show_event(inspector, 9, qtbot)
    return inspector


def show_event(inspector: Inspector, index: int, qtbot: QtBot) -> None:
    bench = inspector.window.workbench
    bench.raise_pane("timeline")
    bench.parts.stream.select_event(index)
    qtbot.waitUntil(lambda: bench.parts.timeline.chart.selected_index == index and not inspector.tasks.running)


def choose_range(inspector: Inspector, name: str, qtbot: QtBot) -> None:
    combo = inspector.window.parts.timeline.findChild(QComboBox, "timeline_range")
    combo.setCurrentIndex(combo.findData(name))
    before = inspector.window.parts.timeline.chart.shown
    qtbot.waitUntil(lambda: inspector.window.parts.timeline.chart.shown is not before)


def test_recorded_times_are_shown_and_described(desk: Inspector) -> None:
    view = desk.window.parts.timeline
    assert view.note.startswith("Times of calls as recorded")
    text = view.chart.describe(view.chart.centre_of("check_stock"))
    assert text.splitlines() == ["check_stock · tool of desk", "3.0 s (as recorded) · events 8 to 9", "failed, on the critical path"]
    view.chart.verticalScrollBar().setValue(1_000)
    assert view.chart.describe(view.chart.centre_of("approve_discount")).startswith("approve_discount · waits for a person, called by desk")


def test_the_invocation_before_is_drawn_above(desk: Inspector, qtbot: QtBot) -> None:
    choose_range(desk, "previous", qtbot)
    shown = desk.window.parts.timeline.chart.shown
    titles = [row.label.partition(" · ")[2] for row in shown.rows if row.kind == "section"]
    assert titles == ["invocation i-1", "invocation i-2"]
    assert [row.label for row in shown.rows].count("desk") == 2


def test_a_compared_event_brings_its_invocation(desk: Inspector, qtbot: QtBot) -> None:
    desk.cursor.compare_with(16)
    show_event(desk, 3, qtbot)
    choose_range(desk, "compared", qtbot)
    titles = [row.label.partition(" · ")[2] for row in desk.window.parts.timeline.chart.shown.rows if row.kind == "section"]
    assert titles == ["invocation i-1", "invocation i-3"]


def test_a_whole_session_is_drawn_on_one_axis(desk: Inspector, qtbot: QtBot) -> None:
    choose_range(desk, "session", qtbot)
    labels = [row.label for row in desk.window.parts.timeline.chart.shown.rows]
    assert labels.count("desk") == 1
    assert {"shipping", "check_stock", "approve_discount"} <= set(labels)


def test_the_wheel_keys_and_the_mouse_zoom_and_pan(desk: Inspector, qtbot: QtBot) -> None:
    chart = desk.window.parts.timeline.chart
    whole = chart.visible_part
    qtbot.keyClick(chart, Qt.Key.Key_Plus)
    first, last = chart.visible_part
    assert last - first == pytest.approx((whole[1] - whole[0]) / 1.5)
    qtbot.keyClick(chart, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert chart.visible_part[0] > first
    place = QPointF(600, 60)
    turned = QWheelEvent(
        place, chart.viewport().mapToGlobal(place), QPoint(), QPoint(0, 240), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.ControlModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(chart.viewport(), turned)
    zoomed = chart.visible_part
    assert zoomed[1] - zoomed[0] == pytest.approx((last - first) / 1.5**2)
    selected = desk.cursor.event_index
    qtbot.mousePress(chart.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(600, 60))
    qtbot.mouseMove(chart.viewport(), QPoint(500, 60))
    qtbot.mouseRelease(chart.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(500, 60))
    assert chart.visible_part[0] > zoomed[0]
    assert desk.cursor.event_index == selected, "panning chooses nothing"
    qtbot.keyClick(chart, Qt.Key.Key_0)
    assert chart.visible_part == whole


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_a_picture_has_all_rows(desk: Inspector, tmp_path: Path, suffix: str) -> None:
    view = desk.window.parts.timeline
    file = tmp_path / f"timeline.{suffix}"
    view.picture.save(str(file))
    if suffix == "svg":
        assert "approve_discount" in file.read_text("utf-8")
    else:
        image = QImage(str(file))
        assert image.height() == 2 * view.chart.picture_size.height()
        assert len({image.pixel(x, 70) for x in range(0, image.width(), 5)}) > 3


def test_a_picture_that_cannot_be_written_is_reported(desk: Inspector, tmp_path: Path, driver: WindowDriver) -> None:
    for suffix in ("png", "svg"):
        file = tmp_path / "missing" / f"timeline.{suffix}"
        desk.window.parts.timeline.picture.save(str(file))
        assert f"{file} could not be written." in driver.log_text()


def test_a_recorded_run_has_the_same_times_after_a_restart(
    story: Inspector, story_db: Path, driver: WindowDriver, qapp: QApplication, settings: Settings, qtbot: QtBot
) -> None:
    def sources(inspector: Inspector) -> str:
        return inspector.window.parts.timeline.note

    driver.run_message("one more")
    show_event(story, len(driver.stream.events()) - 1, qtbot)
    qtbot.waitUntil(lambda: "as recorded" in sources(story), timeout=20_000)
    again = Inspector(qapp, settings, MessageBus())
    try:
        again.show((1280, 800))
        again.tasks.spawn(again.open([str(story_db)]), "Opening")
        qtbot.waitUntil(lambda: not again.tasks.running, timeout=20_000)
        show_event(again, again.features.stream.events.event_count - 1, qtbot)
        qtbot.waitUntil(lambda: sources(again) == sources(story), timeout=20_000)
    finally:
        with qtbot.waitSignal(again.closed, timeout=10_000):
            again.window.close()
