"""The tool bar and the status bar: where their words stand."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QLabel, QWidget

from inspector_app.app import Inspector
from inspector_app.widgets.icon_label import IconLabel


def _right_of(part: QWidget, window: QWidget) -> int:
    return part.mapTo(window, QPoint(part.width(), 0)).x()


def test_what_the_run_does_ends_where_the_panes_end(story: Inspector) -> None:
    window = story.window
    state, detail = (window.run_bar.findChild(QLabel, name) for name in ("run_state", "run_detail"))
    edge = _right_of(window.workbench, window)
    for phase, text, more, last in (("interrupted", "interrupted", "StoryFlow", detail), ("idle", "idle", "", state)):
        window.run_bar.show_state(phase, text, more)
        window.run_bar.layout().activate()
        assert _right_of(last, window) - last.contentsMargins().right() == edge, phase


def test_an_icon_is_close_to_its_own_word(story: Inspector) -> None:
    status = story.window.status
    for name in ("run", "tail", "live"):
        label = status.findChild(QLabel, f"status_{name}")
        icon = label.parent().findChild(IconLabel)
        assert icon.isVisible() and 4 <= label.x() - icon.geometry().right() <= 8, name
    words = [status.findChild(QLabel, f"status_{name}") for name in ("run", "database", "session")]
    ends = [(word.mapTo(status, QPoint()).x(), _right_of(word, status)) for word in words]
    assert all(16 <= after[0] - before[1] <= 20 for before, after in pairwise(ends))
