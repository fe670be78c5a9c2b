from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QToolButton

from inspector_app.stream.filter_bar import FilterBar


@pytest.fixture
def bar(qtbot) -> FilterBar:
    made = FilterBar()
    qtbot.addWidget(made)
    made.resize(600, 40)
    made.show()
    return made


def hits(bar: FilterBar) -> str:
    label = bar.findChild(QLabel, "filter_hits")
    return label.text() if label.isVisible() else ""


def test_a_typed_filter_is_applied_once_after_a_pause(qtbot, bar: FilterBar) -> None:
    asked: list[str] = []
    bar.filter_changed.connect(asked.append)
    with qtbot.waitSignal(bar.filter_changed):
        qtbot.keyClicks(bar.field, "pay")
    assert asked == ["pay"]


def test_a_filter_that_became_valid_is_no_longer_described_as_wrong(bar: FilterBar) -> None:
    bar.show_problem("At character 3: expected a value")
    assert bar.field.accessibleDescription() == "At character 3: expected a value"
    bar.show_hits(1, 2)
    assert (bar.field.accessibleDescription(), bar.field.toolTip()) == ("", "")


def test_enter_applies_the_filter_at_once_and_then_goes_from_hit_to_hit(qtbot, bar: FilterBar) -> None:
    said: list[str] = []
    bar.filter_changed.connect(said.append)
    bar.next_requested.connect(lambda: said.append("next"))
    bar.previous_requested.connect(lambda: said.append("previous"))
    qtbot.keyClicks(bar.field, "pay")
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    qtbot.keyClick(bar.field, Qt.Key.Key_Return)
    qtbot.keyClick(bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert said == ["pay", "next", "previous"]


def test_escape_removes_the_filter_and_then_leaves_the_bar(qtbot, bar: FilterBar) -> None:
    bar.set_text("pay")
    with qtbot.waitSignal(bar.filter_changed) as cleared:
        qtbot.keyClick(bar.field, Qt.Key.Key_Escape)
    assert cleared.args == [""]
    with qtbot.waitSignal(bar.left):
        qtbot.keyClick(bar.field, Qt.Key.Key_Escape)


def test_hits_and_progress_are_displayed(bar: FilterBar) -> None:
    assert hits(bar) == ""
    bar.show_hits(37, 142)
    assert hits(bar) == "37 of 142"
    assert bar.field.property("state") == "good"
    bar.show_hits(12, 1_000_000, progress=0.4)
    assert hits(bar) == "12 found · 40%"
    assert bar.findChild(QToolButton, "filter_stop").isVisible()
    bar.show_hits(None, 142)
    assert hits(bar) == ""
    assert bar.field.property("state") == ""


def test_an_invalid_filter_says_why(bar: FilterBar) -> None:
    bar.show_problem("a value is missing <b>here</b>")
    assert bar.field.property("state") == "wrong"
    assert "&lt;b&gt;here" in bar.field.toolTip()
    reason = bar.findChild(QLabel, "filter_reason")
    assert (reason.isVisible(), reason.text()) == (True, "a value is missing <b>here</b>")
    assert hits(bar) == ""
    bar.show_hits(1, 2)
    assert not reason.isVisible()


def test_earlier_filters_are_offered(qtbot, bar: FilterBar) -> None:
    bar.set_remembered(["one", "two"])
    bar.remember("two")
    assert bar.remembered == ["two", "one"]
    bar.focus()
    qtbot.keyClick(bar.field, Qt.Key.Key_Down)
    assert bar.field.completer().popup().isVisible()


def test_choosing_an_earlier_filter_or_escape_closes_the_list(qtbot, bar: FilterBar) -> None:
    bar.set_remembered(["one", "two"])
    popup = bar.field.completer().popup()
    qtbot.keyClick(bar.field, Qt.Key.Key_Down)
    for _ in range(2):
        qtbot.keyClick(popup, Qt.Key.Key_Down)
    with qtbot.waitSignal(bar.filter_changed) as asked:
        qtbot.keyClick(popup, Qt.Key.Key_Return)
    assert asked.args == ["two"]
    assert not popup.isVisible()
    qtbot.keyClick(bar.field, Qt.Key.Key_Down)
    assert popup.isVisible()
    qtbot.keyClick(popup, Qt.Key.Key_Escape)
    assert not popup.isVisible()
    assert bar.text == "two", "only the list is closed"
