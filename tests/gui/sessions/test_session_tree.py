"""The model of the session tree."""

from __future__ import annotations

import random
from typing import Any

import pytest
from PySide6.QtCore import QModelIndex, Qt

from inspector_app.presentation.session_figures import EventFigures
from inspector_app.presentation.session_info import DatabaseInfo
from inspector_app.sessions.session_order import ORDERS
from inspector_app.sessions.session_tree import SessionTreeModel
from inspector_app.sessions.sessions_pane import SessionsPane
from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import SessionSummary
from tests.gui.sessions.summaries import key, summary


def names(model: SessionTreeModel, parent: QModelIndex | None = None) -> list[Any]:
    above = parent or QModelIndex()
    found = []
    for row in range(model.rowCount(above)):
        index = model.index(row, 0, above)
        node = model.node(index)
        name = node.session.session_id if node.session is not None else node.name
        line = f"{name} {node.detail}".strip()
        inside = names(model, index)
        found.append([line, *inside] if inside else line)
    return found


@pytest.fixture
def sessions(tested) -> SessionTreeModel:
    model = tested(SessionTreeModel(now=lambda: 1000.0))
    summaries = [summary(key("maria", "s-1"), 3, 880.0), summary(key("maria", "s-2"), 3, 990.0), summary(key("joão", "s-3"), 3, 0.0)]
    model.set_database("orders", DatabaseInfo("orders.db", "v1 · live"), summaries)
    return model


def test_sessions_are_listed_newest_first_under_user_and_database(sessions: SessionTreeModel) -> None:
    sessions.set_database("old", DatabaseInfo("old.db", "v0", read_only=True), [])
    joao, maria = ["joão 1", "s-3 3 events · 16 min"], ["maria 2", "s-2 3 events · now", "s-1 3 events · 2 min"]
    assert names(sessions) == [["orders.db 3 sessions · v1 · live", joao, maria], "old.db 0 sessions · v0"]
    assert sessions.node(sessions.index(1, 0)).icon == "lock"
    assert "read-only" in sessions.index(1, 0).data(Qt.ItemDataRole.AccessibleTextRole)


def test_marks_have_an_icon_and_text(sessions: SessionTreeModel) -> None:
    sessions.set_marks("orders", {key("maria", "s-1"): "interrupted", key("maria", "gone"): "held"})
    index = sessions.index_of("orders", key("maria", "s-1"))
    assert sessions.node(index).icon == "triangle-exclamation"
    assert "interrupted" in index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert "interrupted" in index.data(Qt.ItemDataRole.ToolTipRole)
    sessions.set_mark("orders", key("maria", "s-1"), None)
    assert "interrupted" not in index.data(Qt.ItemDataRole.ToolTipRole)
    sessions.set_mark("orders", key("maria", "s-2"), "running")
    sessions.set_marks("orders", {})
    assert sessions.node(sessions.index_of("orders", key("maria", "s-2"))).role == "dim"


def test_apps_and_users_are_headings_only_where_there_is_more_than_one(sessions: SessionTreeModel) -> None:
    sessions.update_sessions("orders", [], [key("joão", "s-3")])
    assert names(sessions) == [["orders.db 2 sessions · v1 · live", "s-2 3 events · now", "s-1 3 events · 2 min"]]
    other = summary(key("ana", "x", "desk"), 1, 990.0)
    sessions.update_session("orders", other)
    assert names(sessions)[0][1:] == [["desk 1", "x 1 event · now"], ["order_desk 2", "s-2 3 events · now", "s-1 3 events · 2 min"]]
    assert sessions.sessions_below(sessions.node(sessions.index_of("orders", other.key)).parent) == [other.key]
    sessions.update_sessions("orders", [], [other.key])
    assert len(names(sessions)[0]) == 3


def test_a_session_is_called_by_its_title(sessions: SessionTreeModel, qtbot) -> None:
    first, second = key("maria", "s-1"), key("maria", "s-2")
    wanted: list[SessionKey] = []
    sessions.title_wanted.connect(lambda _database, session: wanted.append(session))
    sessions.set_mark("orders", first, "held")
    index = sessions.index_of("orders", first)
    assert index.data() == "reading…" and set(wanted) == {first}
    titles = {first: "Forty boxes of paper"}
    with qtbot.waitSignal(sessions.dataChanged):
        sessions.set_titles("orders", titles, [first])
    assert index.data() == "Forty boxes of paper" and "s-1" in index.data(Qt.ItemDataRole.ToolTipRole)
    sessions.set_filter("BOXES")
    assert sessions.shown_sessions == 1
    titles[second] = "More boxes"
    with qtbot.waitSignal(sessions.modelReset):
        sessions.set_titles("orders", titles, [second])
    assert sessions.shown_sessions == 2, "a title that is read later passes the filter, too"
    sessions.set_titles("no such database", {}, [first])


def test_the_second_line_tells_state_events_cost_and_age(sessions: SessionTreeModel) -> None:
    session = key("maria", "s-1")
    node = sessions.node(sessions.index_of("orders", session))
    sessions.set_cost("orders", session, "$0.0077")
    sessions.set_waiting("orders", session, 1, "book_\u202etrip")
    sessions.set_mark("orders", session, "confirmation")
    assert node.detail == "waiting: book_⟨U+202E⟩trip · 3 events · $0.0077 · 2 min"
    sessions.set_mark("orders", session, "held")
    assert node.detail.startswith("held · 3 events")


def test_a_session_is_renamed_in_place(sessions: SessionTreeModel, qtbot) -> None:
    session = key("maria", "s-1")
    sessions.set_titles("orders", {session: "Paper"}, [session])
    index = sessions.index_of("orders", session)
    assert index.flags() & Qt.ItemFlag.ItemIsEditable and not index.parent().flags() & Qt.ItemFlag.ItemIsEditable
    with qtbot.assertNotEmitted(sessions.renamed):
        sessions.setData(index, "Paper")
    with qtbot.waitSignal(sessions.renamed) as renamed:
        sessions.setData(index, "Mine")
    assert renamed.args == ["orders", session, "Mine"]


def test_the_filter_narrows_by_app_user_and_id(sessions: SessionTreeModel) -> None:
    sessions.set_filter(" MARIA s-2")
    assert names(sessions) == [["orders.db 3 sessions · v1 · live", "s-2 3 events · now"]]
    assert not sessions.index_of("orders", key("joão", "s-3")).isValid()
    sessions.set_filter("no such user")
    assert sessions.shown_sessions == 0
    sessions.set_filter("")
    assert sessions.shown_sessions == 3


def test_a_session_is_updated_or_added_without_a_model_reset(sessions: SessionTreeModel, qtbot) -> None:
    with qtbot.assertNotEmitted(sessions.modelReset), qtbot.waitSignal(sessions.dataChanged):
        sessions.update_session("orders", summary(key("maria", "s-1"), 9, 1000.0))
    assert "s-1 9 events · now" in str(names(sessions))
    sessions.update_session("orders", summary(key("maria", "s-9"), 1, 1000.0))
    assert sessions.shown_sessions == 4
    sessions.update_session("no such database", summary(key("x", "y")))
    sessions.remove_database("orders")
    sessions.remove_database("orders")
    assert names(sessions) == []


def test_control_characters_and_markup_in_names_are_made_visible(sessions: SessionTreeModel) -> None:
    sessions.set_database("x", DatabaseInfo("x.db"), [summary(key("u\u202e", "<img src='file:///dev/zero'>\n"))])
    index = sessions.index_of("x", key("u\u202e", "<img src='file:///dev/zero'>\n"))
    assert "⏎" in index.data(Qt.ItemDataRole.ToolTipRole)
    assert "<img" not in index.data(Qt.ItemDataRole.ToolTipRole)


@pytest.mark.parametrize("order", list(ORDERS))
def test_incremental_updates_give_the_same_tree_as_a_new_one(tested, order: str) -> None:
    chance = random.Random(7)
    one_by_one, rebuilt = tested(SessionTreeModel(now=lambda: 1000.0)), SessionTreeModel(now=lambda: 1000.0)
    one_by_one.set_order(order)
    rebuilt.set_order(order)
    one_by_one.set_database("orders", DatabaseInfo("orders.db"), [])
    there: dict[SessionKey, SessionSummary] = {}
    for _ in range(60):
        changed = [
            summary(
                SessionKey(chance.choice("ab"), chance.choice("uvw"), f"s{chance.randrange(9)}"), chance.randrange(5), chance.random() * 99
            )
            for _ in range(chance.randrange(3))
        ]
        there.update({entry.key: entry for entry in changed})
        removed = chance.sample(sorted(there), min(len(there), chance.randrange(3)))
        for session in removed:
            del there[session]
        one_by_one.update_sessions("orders", [entry for entry in changed if entry.key in there], removed)
        rebuilt.set_database("orders", DatabaseInfo("orders.db"), list(there.values()))
        assert names(one_by_one) == names(rebuilt)


def test_removing_the_selected_session_selects_no_other(qtbot, tested) -> None:
    model = tested(SessionTreeModel(now=lambda: 1000.0))
    pane = SessionsPane(model)
    qtbot.addWidget(pane)
    model.set_database("orders", DatabaseInfo("orders.db"), [summary(key("maria", f"s-{number}")) for number in range(3)])
    pane.select_session("orders", key("maria", "s-1"))
    with qtbot.assertNotEmitted(pane.session_selected):
        model.update_sessions("orders", [summary(key("maria", "s-9"), 1, 2000.0)], [key("maria", "s-1")])
    assert not pane.tree.currentIndex().isValid()
    model.update_sessions("orders", [summary(key("maria", "s-1"))])
    assert model.node(pane.tree.currentIndex()).session == key("maria", "s-1")


def figured(sessions: SessionTreeModel) -> list[str]:
    return [each.key.session_id for user in sessions.node(sessions.index(0, 0)).branches for each in user.summaries]


def test_the_filter_takes_conditions_over_figures(sessions: SessionTreeModel, qtbot) -> None:
    dear, cheap, other = key("maria", "s-1"), key("maria", "s-2"), key("joão", "s-3")
    wanted: list[bool] = []
    problems: list[str] = []
    sessions.figures_wanted.connect(wanted.append)
    sessions.filter_read.connect(problems.append)
    sessions.set_filter("events >= 3 and age < 500")
    assert (sessions.shown_sessions, wanted, problems) == (2, [False], [""])
    sessions.set_filter("cost > 0.05")
    assert (sessions.shown_sessions, wanted[-1]) == (0, True), "nothing is known yet"
    figures = {dear: EventFigures(900, 0.5, 10.0, 1), cheap: EventFigures(5, 0.01, 20.0, 0)}
    with qtbot.waitSignal(sessions.modelReset):
        sessions.set_figures("orders", figures)
    assert sessions.index_of("orders", dear).isValid() and sessions.shown_sessions == 1
    sessions.set_filter("cost > ")
    assert problems[-1].startswith("At character 7: expected") and sessions.shown_sessions == 1, "a mistake changes nothing"
    sessions.set_filter("waiting")
    assert sessions.shown_sessions == 0
    sessions.set_waiting("orders", other, 2, "pay")
    with qtbot.waitSignal(sessions.modelReset):
        sessions.set_mark("orders", other, "confirmation")
    assert sessions.index_of("orders", other).isValid()
    sessions.set_filter("maria and joão")
    assert sessions.shown_sessions == 0, "these are words"
    sessions.set_filter("")
    assert sessions.shown_sessions == 3


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("Highest cost first", ["s-1", "s-2"]),
        ("Longest first", ["s-2", "s-1"]),
        ("Most tokens first", ["s-1", "s-2"]),
        ("Most errors first", ["s-1", "s-2"]),
        ("By title", ["s-2", "s-1"]),
        ("Waiting first", ["s-1", "s-2"]),
        ("Newest first", ["s-2", "s-1"]),
    ],
)
def test_sessions_are_sorted_by_their_figures(sessions: SessionTreeModel, order: str, expected: list[str]) -> None:
    dear, cheap, other = key("maria", "s-1"), key("maria", "s-2"), key("joão", "s-3")
    sessions.set_titles("orders", {dear: "b", cheap: "A"})
    sessions.set_figures("orders", {dear: EventFigures(900, 0.5, 10.0, 1), cheap: EventFigures(5, 0.01, 20.0, 0)})
    sessions.set_waiting("orders", dear, 1, "pay")
    sessions.set_order(order)
    assert figured(sessions) == [other.session_id, *expected]
    sessions.update_sessions("orders", [summary(dear, 4, 880.0)])
    assert figured(sessions) == [other.session_id, *expected], "also after a change"
    assert sessions.node(sessions.index_of("orders", dear)).session == dear
    sessions.set_filter("events > 3")
    assert sessions.index_of("orders", dear).isValid() and not sessions.index_of("orders", cheap).isValid()
