"""The guided tour explains five parts of the window and is walked by keyboard alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QApplication, QDockWidget, QFrame, QLabel
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.shell.tour import TourCard


def tour_of(inspector: Inspector) -> TourCard:
    inspector.window.commands.tour.trigger()
    return inspector.window.tour_card


def title(card: TourCard) -> str:
    return card.findChild(QLabel, "tour_title").text()


def press(qtbot: QtBot, key: Qt.Key) -> None:
    focused = QApplication.focusWidget()
    assert focused is not None
    qtbot.keyClick(focused, key)


@pytest.mark.parametrize("size", [(1280, 800), (2560, 1440)])
def test_the_tour_shows_each_part_beside_its_card(story: Inspector, qtbot: QtBot, size: tuple[int, int]) -> None:
    story.window.resize(*size)
    card, seen = tour_of(story), []
    body = card.parentWidget()
    frame = body.findChild(QFrame, "tour_frame")
    while card.isVisible():
        seen.append(title(card))
        assert body.rect().contains(card.geometry())
        assert frame.isVisible() and frame.width() > 100
        text = card.findChild(QLabel, "tour_text")
        assert text.height() >= text.heightForWidth(text.width()), "no line is cut off"
        press(qtbot, Qt.Key.Key_Return)
    assert seen == ["Sessions", "Events", "The selected event", "Write and step", "Pending"]
    assert not frame.isVisible()


def test_the_arrow_keys_change_the_card_and_escape_ends_the_tour(story: Inspector, qtbot: QtBot) -> None:
    table = story.window.parts.stream.table
    table.setFocus()
    card = tour_of(story)
    press(qtbot, Qt.Key.Key_Right)
    press(qtbot, Qt.Key.Key_Right)
    press(qtbot, Qt.Key.Key_Left)
    assert title(card) == "Events"
    frame = card.parentWidget().findChild(QFrame, "tour_frame")
    assert frame.geometry().intersects(QRect(table.mapTo(card.parentWidget(), QPoint()), table.size()))
    press(qtbot, Qt.Key.Key_Escape)
    assert not card.isVisible() and table.hasFocus()


def test_the_tour_begins_and_ends_on_the_start_page_too(inspector: Inspector, qtbot: QtBot) -> None:
    card = tour_of(inspector)
    assert card.isVisible() and inspector.window.page is inspector.window.workbench
    body, sessions = card.parentWidget(), inspector.window.parts.sessions
    frame = body.findChild(QFrame, "tour_frame")
    qtbot.waitUntil(lambda: inspector.window.workbench.layout_of_docks.saved_layout() is not None)  # the page was never displayed before
    place = QRect(sessions.mapTo(body, QPoint()), sessions.size())
    qtbot.waitUntil(lambda: frame.geometry() == place.adjusted(-2, -2, 2, 2).intersected(body.rect()))
    press(qtbot, Qt.Key.Key_Escape)
    assert inspector.window.page is inspector.window.parts.welcome


def test_a_pane_that_is_closed_or_behind_another_is_shown(story: Inspector, qtbot: QtBot) -> None:
    bench = story.window.workbench
    bench.findChild(QDockWidget, "dock_detail").close()
    bench.raise_pane("breakpoints")
    card = tour_of(story)
    bench.raise_pane("breakpoints")  # as a saved layout does that is restored when the page gets its size
    for part in (bench.parts.stream, bench.parts.detail, bench.parts.composer, bench.parts.pending):
        press(qtbot, Qt.Key.Key_Right)
        assert part.isVisible() and not part.visibleRegion().isEmpty(), title(card)


def test_what_is_opened_meanwhile_ends_the_tour(inspector: Inspector, story_db: Path, opened: Callable[..., None], tmp_path: Path) -> None:
    card = tour_of(inspector)
    opened(story_db)
    assert card.isVisible() and inspector.window.page is inspector.window.workbench
    card.end()
    assert inspector.window.page is inspector.window.workbench, "not the start page again"
    tour_of(inspector)
    opened(tmp_path / "missing.db")
    assert not card.isVisible() and inspector.window.page is inspector.window.parts.problem
