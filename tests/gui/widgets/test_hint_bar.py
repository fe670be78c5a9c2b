"""Hints below the events: one at a time, by urgency, closable."""

from __future__ import annotations

import itertools

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from inspector_app.widgets.hint_bar import ANSWERS, SUGGESTS, WARNS, HintBar, OneHint


@pytest.fixture
def place(qtbot: QtBot) -> QWidget:
    place = QWidget()
    qtbot.addWidget(place)
    rows, one = QVBoxLayout(place), OneHint(place)
    for name, urgency in (("offer", SUGGESTS), ("fork", SUGGESTS), ("interrupted", WARNS), ("reload", WARNS), ("export", ANSWERS)):
        hint = HintBar(name, urgency)
        one.add(hint)
        rows.addWidget(hint)
    place.show()
    return place


def hint(place: QWidget, name: str) -> HintBar:
    return place.findChild(HintBar, name)


def shown(place: QWidget) -> list[str]:
    return [found.objectName() for found in place.findChildren(HintBar) if found.isVisible()]


def close(place: QWidget, name: str, qtbot: QtBot) -> None:
    qtbot.mouseClick(place.findChild(QToolButton, f"{name}_close"), Qt.MouseButton.LeftButton)


@pytest.mark.parametrize("order", list(itertools.permutations(("offer", "interrupted", "export"))))
def test_the_most_urgent_hint_is_displayed_in_any_order(place: QWidget, qtbot: QtBot, order: tuple[str, ...]) -> None:
    for name in order:
        hint(place, name).suggest(f"About {name}.", "Do it", "hand", "accent")
        assert len(shown(place)) == 1
    assert shown(place) == ["export"] and all(hint(place, name).text for name in order)
    close(place, "export", qtbot)
    assert shown(place) == ["interrupted"]
    hint(place, "interrupted").hide()
    assert shown(place) == ["offer"]
    close(place, "offer", qtbot)
    assert shown(place) == []


def test_of_two_equals_the_newest_is_displayed_and_saying_it_again_changes_nothing(place: QWidget) -> None:
    for name in ("interrupted", "reload", "interrupted"):
        hint(place, name).suggest(f"About {name}.", "Do it", "hand")
    assert shown(place) == ["reload"]
    hint(place, "interrupted").suggest("Another invocation was interrupted.", "Do it", "hand")
    assert shown(place) == ["interrupted"]


def test_a_closed_hint_stays_closed_until_it_says_something_else(place: QWidget, qtbot: QtBot) -> None:
    found = hint(place, "interrupted")
    for _ in range(2):
        found.suggest("Interrupted after event 2.", "Resume", "hand")
        close(place, "interrupted", qtbot)
        found.hide()
        found.suggest("Interrupted after event 2.", "Resume", "hand")
        assert (found.text, shown(place)) == ("", [])
        found.suggest("Interrupted after event 3.", "Resume", "hand")
        assert shown(place) == ["interrupted"]


def test_an_answer_to_what_a_person_does_comes_again(place: QWidget, qtbot: QtBot) -> None:
    for _ in range(2):
        hint(place, "export").suggest("The note was deleted.", "Undo", "hand", "accent")
        assert shown(place) == ["export"]
        close(place, "export", qtbot)


def test_a_question_that_needs_its_button_has_no_other_way_out(place: QWidget) -> None:
    hint(place, "export").suggest("Edit and send the message.", "Cancel", "hand", "accent", closable=False)
    assert not place.findChild(QToolButton, "export_close").isVisible()
