"""Tab leads around the window and back, whichever pane is in front, also where panes are empty."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from inspector_app.app import Inspector
from tests.gui.window.driver import WindowDriver

PANES = ("pending", "breakpoints", "timeline", "charts", "graph", "writers", "log", "findings")
MOST_STOPS = 80


@pytest.mark.parametrize("pane", PANES)
@pytest.mark.parametrize("is_selected", [True, False])
def test_tab_comes_back_to_the_events(
    driver: WindowDriver, inspector: Inspector, opened: Callable[..., None], story_db: Path, pane: str, is_selected: bool
) -> None:
    opened(story_db)
    bench = driver.bench
    if not is_selected:
        inspector.cursor.select_session(None)
    bench.raise_pane(pane)
    driver.run_until_idle()
    start = bench.stream.table if bench.stream.table.isVisible() else bench.filter_bar.field
    start.setFocus()
    stops: list[QWidget | None] = [QApplication.focusWidget()]
    while len(stops) < MOST_STOPS:
        driver.qtbot.keyClick(stops[-1], Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        assert focused is not stops[-1], f"Tab does not leave {focused.objectName()}"
        if focused is stops[0]:
            return
        stops.append(focused)
    raise AssertionError([stop and stop.objectName() for stop in stops])
