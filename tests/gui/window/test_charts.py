"""The charts over the turns of a session."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from bench.generated import write_database
from inspector_app.app import Inspector
from inspector_app.timeline.turns_painter import CHARTS, Layout
from inspector_app.timeline.turns_view import TurnsView
from tests.gui.window.driver import WindowDriver
from tests.recorded_desk import write_desk


@pytest.fixture
def charts(inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot) -> TurnsView:
    write_desk(tmp_path / "desk.db")
    opened(tmp_path / "desk.db")
    inspector.window.workbench.raise_pane("timeline")
    inspector.features.timeline.pane.show_charts()
    view = inspector.window.parts.charts
    qtbot.waitUntil(lambda: len(view.charts.turns) == 3)
    return view


def test_turns_are_summed_with_the_recorded_times(charts: TurnsView) -> None:
    assert charts.note.startswith("3 turns · 14,947 tokens in, 458 out · cost $0.00")
    assert [round(turn.tool_seconds, 2) for turn in charts.charts.turns] == [2.21, 3.6, 0.0]
    text = charts.charts.describe(charts.charts.centre_of(1))
    assert "Send me 40 boxes" in text and "waited 10 min 0 s for a person" in text and "1 failed" in text


def test_a_click_or_a_key_selects_the_turns_first_event(charts: TurnsView, inspector: Inspector, qtbot: QtBot) -> None:
    for number in range(len(CHARTS)):
        qtbot.mouseClick(charts.charts.viewport(), Qt.MouseButton.LeftButton, pos=charts.charts.centre_of(0, number))
        assert inspector.cursor.event_index == 0
        qtbot.mouseClick(charts.charts.viewport(), Qt.MouseButton.LeftButton, pos=charts.charts.centre_of(1, number))
        assert inspector.cursor.event_index == 6
    qtbot.keyClick(charts.charts, Qt.Key.Key_Right)
    assert inspector.cursor.event_index == 15
    assert "You are" not in charts.charts.accessibleDescription() and "Thanks." in charts.charts.accessibleDescription()
    inspector.window.parts.stream.select_event(10)
    assert charts.charts.selected == 1


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_charts_are_saved_as_a_picture(charts: TurnsView, tmp_path: Path, suffix: str, driver: WindowDriver) -> None:
    file = tmp_path / f"charts.{suffix}"
    charts.picture.save(str(file))
    assert f"The picture is in {file}." in driver.log_text()
    if suffix == "png":
        assert not QImage(str(file)).isNull()
    else:
        assert "Input from the cache" in file.read_text("utf-8")


def test_the_newest_turns_of_a_long_session_are_visible(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    write_database(tmp_path / "long.db", 6_000)
    opened(tmp_path / "long.db")
    inspector.window.workbench.raise_pane("timeline")
    inspector.features.timeline.pane.show_charts()
    charts = inspector.window.parts.charts.charts
    qtbot.waitUntil(lambda: len(charts.turns) == 600, timeout=20_000)
    bar = charts.horizontalScrollBar()
    assert bar.maximum() > 0 and charts.layout_now.turn_at(charts.centre_of(599).x(), charts.centre_of(599).y()) == 599
    qtbot.keyClick(charts, Qt.Key.Key_Home)
    assert bar.value() == 0 and inspector.cursor.event_index == 0


def test_colour_is_not_the_only_sign_of_a_part() -> None:
    for chart in CHARTS:
        assert len({series.lines for series in chart.series}) == len(chart.series)


def test_charts_behind_another_pane_are_not_computed(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    write_desk(tmp_path / "desk.db")
    opened(tmp_path / "desk.db")
    view = inspector.window.parts.charts
    assert not view.displayed.now
    assert not view.charts.turns
    inspector.window.workbench.raise_pane("timeline")
    inspector.features.timeline.pane.show_charts()
    qtbot.waitUntil(lambda: len(view.charts.turns) == 3 and view.charts.isVisible())
    inspector.window.workbench.raise_pane("pending")
    inspector.current.session_loaded.emit(inspector.current.session)
    assert not view.charts.isVisible() and not view.note, "what it showed may be out of date when it is in front again"
    inspector.window.workbench.raise_pane("timeline")
    inspector.features.timeline.pane.show_charts()
    qtbot.waitUntil(lambda: len(view.charts.turns) == 3 and view.charts.isVisible())


def test_turns_are_counted_once_at_a_time(charts: TurnsView, inspector: Inspector, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    session = inspector.current.session
    assert session is not None
    read, begun, may_read = session.source.recorded_calls, [], asyncio.Event()

    async def slow(*asked: Any) -> Any:
        begun.append(asked)
        await may_read.wait()
        return await read(*asked)

    qtbot.waitUntil(lambda: not inspector.tasks.running)
    monkeypatch.setattr(session.source, "recorded_calls", slow)
    for _ in range(3):
        inspector.current.session_loaded.emit(session)
        qtbot.waitUntil(lambda: len(begun) == 1)
    may_read.set()
    qtbot.waitUntil(lambda: len(begun) == 2)  # counted once more, as the session has changed meanwhile
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    assert len(begun) == 2 and charts.note.startswith("3 turns")


@pytest.mark.parametrize(("size", "columns"), [((1262, 132), 4), ((900, 300), 2), ((900, 500), 1)])
def test_charts_are_beside_each_other_in_a_low_pane(size: tuple[int, int], columns: int) -> None:
    layout = Layout(*size, 0, 10)
    assert layout.columns == columns
    places = [layout.place(number) for number in range(len(CHARTS))]
    assert all(not one.intersects(other) for one in places for other in places if one is not other)
    assert all(place.right() <= size[0] and place.bottom() <= size[1] for place in places)
