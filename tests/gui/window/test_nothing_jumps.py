"""Hints and question cards do not move what the user may be about to click."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QModelIndex, QPoint, QRect, QSize
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from tests.gui.window.driver import WindowDriver


def _places(driver: WindowDriver) -> dict[str, QRect]:
    """Return the places of the parts around the events, and of the first row."""
    bench = driver.bench
    table = bench.parts.stream.table
    parts: dict[str, QWidget] = {
        "sessions": bench.parts.sessions,
        "filter": bench.parts.filter_bar,
        "headings": table.horizontalHeader(),
        "composer": bench.parts.composer,
        "detail": bench.parts.detail,
        "pending": bench.parts.pending,
    }
    places = {name: QRect(part.mapTo(part.window(), QPoint()), part.size()) for name, part in parts.items()}
    # A scroll bar that appears takes from the width of the headings.
    return places | {"headings": QRect(places["headings"].topLeft(), QSize()), "first row": table.visualRect(table.model().index(0, 0))}


APPEARANCES: dict[str, Callable[[WindowDriver], None]] = {
    "a hint": lambda driver: driver.bench.parts.agent_hint.suggest("The code of story has changed.", "Reload", "rotate", "accent"),
    "a question": lambda driver: driver.fork.ask(2),
    "a preflight": lambda driver: driver.inspector.window.commands.resume.trigger(),
    "a message": lambda driver: driver.inspector.messages.warning("The disk is nearly full."),
}


@pytest.mark.parametrize("what", list(APPEARANCES))
def test_what_appears_moves_nothing(story: Inspector, driver: WindowDriver, what: str, qtbot: QtBot) -> None:
    driver.stream.select(0)
    driver.bench.parts.stream.set_following(False)
    driver.run_until_idle()
    before = _places(driver)
    if what == "a message":  # it takes its height from the end of the lower panes
        before["pending"].setHeight(0)
    APPEARANCES[what](driver)
    driver.run_until_idle()
    qtbot.waitUntil(lambda: driver.bench.parts.composer.isVisible())
    after = _places(driver)
    if what == "a message":
        after["pending"].setHeight(0)
    assert after == before


def test_rows_under_the_mouse_stay_where_they_are(
    story: Inspector, driver: WindowDriver, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = driver.bench
    table = bench.parts.stream.table
    bench.parts.stream.setMaximumHeight(200)  # fewer rows than there are
    driver.run_until(lambda: table.verticalScrollBar().maximum() > 0)
    table.clearSelection()
    table.setCurrentIndex(QModelIndex())
    bench.parts.stream.set_following(True)
    last = table.model().index(table.model().rowCount() - 2, 0)
    before = table.visualRect(last)
    monkeypatch.setattr(type(table.viewport()), "underMouse", lambda _viewport: True)
    bench.parts.stream.setMaximumHeight(150)
    driver.run_until(lambda: table.height() <= 150)
    assert table.visualRect(last) == before
    monkeypatch.undo()
    qtbot.mouseMove(bench.parts.filter_bar)
    bench.parts.stream.eventFilter(table.viewport(), QEvent(QEvent.Type.Leave))
    assert table.verticalScrollBar().value() == table.verticalScrollBar().maximum()


@pytest.mark.parametrize("following", [True, False])
@pytest.mark.parametrize("place", ["first", "last", "second last"])
@pytest.mark.parametrize("mouse", ["over the rows", "elsewhere"])
def test_a_hint_leaves_the_selected_event_in_view(
    story: Inspector, driver: WindowDriver, place: str, mouse: str, following: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = driver.bench
    stream, table = bench.parts.stream, bench.parts.stream.table
    stream.setFixedHeight(200)
    driver.run_until(lambda: table.verticalScrollBar().maximum() > 0)
    stream.set_following(True)
    table.scrollToBottom()
    seen = [row for row in range(table.model().rowCount()) if 0 <= table.rowViewportPosition(row) < table.viewport().height()]
    row = {"first": seen[0], "last": seen[-1], "second last": seen[-2]}[place]
    table.setCurrentIndex(table.model().index(row, 1))
    stream.set_following(following)
    monkeypatch.setattr(type(table.viewport()), "underMouse", lambda _viewport: mouse == "over the rows")
    stream.setFixedHeight(140)  # what a hint takes
    driver.run_until(lambda: table.height() <= 140)
    for leaves in (False, True):
        if leaves:
            stream.eventFilter(table.viewport(), QEvent(QEvent.Type.Leave))
        shown = table.visualRect(table.currentIndex())
        assert shown.top() >= 0 and shown.bottom() <= table.viewport().height(), (shown, table.viewport().height())
    assert stream.following or not following, "the hint let the tail go"
