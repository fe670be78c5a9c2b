"""Tab leads around the window and back, whichever pane is in front, also where panes are empty."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QTextBrowser, QWidget

from inspector_app.app import Inspector
from tests.gui.window.driver import WindowDriver

PANES = ("pending", "breakpoints", "timeline", "graph", "log", "findings")
MOST_STOPS = 80
MOST_LINKS = 10


@pytest.mark.parametrize("is_selected", [True, False])
def test_tab_comes_back_to_the_events(
    driver: WindowDriver, inspector: Inspector, opened: Callable[..., None], story_db: Path, is_selected: bool
) -> None:
    opened(story_db)
    bench = driver.bench
    if not is_selected:
        inspector.cursor.select_session(None)
    for pane in PANES:
        bench.raise_pane(pane)
        driver.run_until_idle()
        start = bench.parts.stream.table if bench.parts.stream.table.isVisible() else bench.parts.filter_bar.field
        start.setFocus()
        stops = tab_around(driver)
        assert stops[-1] is stops[0], (pane, [stop.objectName() for stop in stops])


def tab_around(driver: WindowDriver) -> list[QWidget]:
    """Press Tab until the focus is where it began; return where it was."""
    stops = [focused()]
    while len(stops) < MOST_STOPS:
        for _ in range(MOST_LINKS if isinstance(stops[-1], QTextBrowser) else 1):  # each link of a text is a stop
            if focused() is stops[-1]:
                driver.qtbot.keyClick(stops[-1], Qt.Key.Key_Tab)
        assert focused() is not stops[-1], f"Tab does not leave {focused().objectName()}"
        stops.append(focused())
        if stops[-1] is stops[0]:
            break
    return stops


def focused() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None
    return widget
