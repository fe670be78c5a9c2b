"""Alignment in the tool bar and the status bar."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.widgets.icon_label import IconLabel


def _right_of(part: QWidget, window: QWidget) -> int:
    return part.mapTo(window, QPoint(part.width(), 0)).x()


def test_the_pill_is_at_the_right_edge_of_the_panes_and_says_all_it_has_room_for(story: Inspector, qtbot: QtBot) -> None:
    window = story.window
    pill, state, detail = (window.run_bar.findChild(QWidget, name) for name in ("run_pill", "run_state", "run_detail"))
    edge = _right_of(window.workbench, window)
    for phase, text, more in (
        ("interrupted", "interrupted", "StoryFlow"),
        ("running", "running", ""),
        ("held", "held at 12", "before tool call search_flights"),
        ("waiting", "waiting", "for an answer to book_trip"),
        ("held", "held at 12", "before the model call of " + "researcher " * 40),
    ):
        window.run_bar.show_state(phase, text, more, "by Step")
        qtbot.waitUntil(lambda: _right_of(pill, window) == edge)
        assert state.width() >= state.fontMetrics().horizontalAdvance(text), phase
        assert len(more) > 100 or not more or detail.width() >= detail.fontMetrics().horizontalAdvance(more), phase
        assert pill.accessibleDescription().splitlines() == [f"{text} {more}".strip(), "by Step"]
        assert all(button.isVisible() for button in window.run_bar._buttons.values()), "nothing moved behind the extension arrow"
    window.run_bar.show_state("idle", "idle", "")
    assert not pill.isVisible()


def test_status_icons_are_closer_to_their_own_label_than_to_others(story: Inspector) -> None:
    status = story.window.status
    for name in ("tail", "live"):
        label = status.findChild(QLabel, f"status_{name}")
        icon = label.parent().findChild(IconLabel)
        assert icon.isVisible() and 4 <= label.x() - icon.geometry().right() <= 8, name
    words = [status.findChild(QLabel, f"status_{name}") for name in ("database", "session", "position")]
    ends = [(word.mapTo(status, QPoint()).x(), _right_of(word, status)) for word in words]
    assert all(16 <= after[0] - before[1] <= 20 for before, after in pairwise(ends))
