"""Alignment in the tool bar and the status bar."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QLabel, QWidget

from inspector_app.app import Inspector
from inspector_app.widgets.icon_label import IconLabel


def _right_of(part: QWidget, window: QWidget) -> int:
    return part.mapTo(window, QPoint(part.width(), 0)).x()


def test_the_run_state_is_aligned_with_the_right_edge_of_the_panes(story: Inspector) -> None:
    window = story.window
    state, detail = (window.run_bar.findChild(QLabel, name) for name in ("run_state", "run_detail"))
    edge = _right_of(window.workbench, window)
    for phase, text, more, last in (("interrupted", "interrupted", "StoryFlow", detail), ("idle", "idle", "", state)):
        window.run_bar.show_state(phase, text, more)
        window.run_bar.layout().activate()
        assert _right_of(last, window) - last.contentsMargins().right() == edge, phase


def test_status_icons_are_closer_to_their_own_label_than_to_others(story: Inspector) -> None:
    status = story.window.status
    for name in ("run", "tail", "live"):
        label = status.findChild(QLabel, f"status_{name}")
        icon = label.parent().findChild(IconLabel)
        assert icon.isVisible() and 4 <= label.x() - icon.geometry().right() <= 8, name
    words = [status.findChild(QLabel, f"status_{name}") for name in ("run", "database", "session")]
    ends = [(word.mapTo(status, QPoint()).x(), _right_of(word, status)) for word in words]
    assert all(16 <= after[0] - before[1] <= 20 for before, after in pairwise(ends))
