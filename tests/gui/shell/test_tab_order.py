"""Tab moves from an editor to its buttons in order: a skipped button could be pressed by an unnoticed space."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from inspector_app.branches.compare_page import ComparePage
from inspector_app.branches.override_card import OverrideCard
from inspector_app.evals.eval_page import EvalPage
from inspector_app.presentation.form_fields import FormField
from inspector_app.running.held_card import HeldCard
from inspector_app.running.value_form import ValueForm
from inspector_app.state.state_edit_bar import StateEditBar


def tab_order(widget: QWidget) -> list[str]:
    """Return the object names of the tab stops inside a widget, in order."""
    found, after = [], widget.nextInFocusChain()
    while after is not widget:
        if after.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.isAncestorOf(after) and after.objectName():
            found.append(after.objectName())
        after = after.nextInFocusChain()
    return found


def test_editors_come_before_their_buttons(qtbot: QtBot) -> None:
    for card, names in (
        (StateEditBar(), ["state_scope", "state_key", "state_value", "state_set", "state_cancel"]),
        (OverrideCard(), ["override_editor", "override_submit", "override_cancel"]),
        (HeldCard(), ["held_editor", "held_call", "held_result", "held_raise"]),
    ):
        qtbot.addWidget(card)
        assert [name for name in tab_order(card) if name in names] == names


def test_the_comparisons_tab_order_goes_from_events_to_aspects_to_values(qtbot: QtBot) -> None:
    page = ComparePage()
    qtbot.addWidget(page)
    names = tab_order(page)
    assert names == ["compare_previous", "compare_next", "compare_close", "compare_table", "compare_aspects", *names[-2:]]
    assert names[-2:] == ["compare_left_text", "compare_right_text"]


def test_buttons_above_results_are_reached_as_they_are_laid_out(qtbot: QtBot) -> None:
    page = EvalPage()
    qtbot.addWidget(page)
    ways = ["cancel", "run_all", "run_one", "session", "compare", "agent", "open", "close", "cases"]
    assert tab_order(page)[: len(ways)] == [f"eval_{way}" for way in ways], "what stops a run is first, and there only while it runs"


def test_fields_created_later_come_before_the_buttons(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    form, button = ValueForm("form", "Requested value", window), QPushButton("Send", window)
    button.setObjectName("send")
    rows = QHBoxLayout(window)
    rows.addWidget(form)
    rows.addWidget(button)
    form.set_fields([FormField(key="days", label="Days", kind="text"), FormField(key="why", label="Why", kind="text")])
    assert tab_order(window) == ["form_json", "form_days", "form_why", "send"]
