"""The model of the session tree."""

from __future__ import annotations

import random
from typing import Any

import pytest
from PySide6.QtCore import QModelIndex, Qt

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
        line = f"{node.name} {node.detail}".strip()
        inside = names(model, index)
        found.append([line, *inside] if inside else line)
    return found


@pytest.fixture
def sessions(tested) -> SessionTreeModel:
    model = tested(SessionTreeModel(now=lambda: 1000.0))
    summaries = [summary(key("maria", "s-1"), 3, 880.0), summary(key("maria", "s-2"), 3, 990.0), summary(key("joão", "s-3"), 3, 0.0)]
    model.set_database("orders", DatabaseInfo("orders.db", "v1 · live"), summaries)
    return model


def test_sessions_are_listed_newest_first_under_user_app_and_database(sessions: SessionTreeModel) -> None:
    sessions.set_database("old", DatabaseInfo("old.db", "v0", read_only=True), [])
    assert names(sessions) == [
        ["orders.db v1 · live", ["order_desk", ["joão 1", "s-3 16 min"], ["maria 2", "s-2 now", "s-1 2 min"]]],
        "old.db v0",
    ]
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


def test_the_filter_narrows_by_app_user_and_id(sessions: SessionTreeModel) -> None:
    sessions.set_filter(" MARIA s-2")
    assert names(sessions) == [["orders.db v1 · live", ["order_desk", ["maria 1", "s-2 now"]]]]
    assert not sessions.index_of("orders", key("joão", "s-3")).isValid()
    sessions.set_filter("no such user")
    assert sessions.shown_sessions == 0
    sessions.set_filter("")
    assert sessions.shown_sessions == 3


def test_a_session_is_updated_or_added_without_a_model_reset(sessions: SessionTreeModel, qtbot) -> None:
    with qtbot.assertNotEmitted(sessions.modelReset), qtbot.waitSignal(sessions.dataChanged):
        sessions.update_session("orders", summary(key("maria", "s-1"), 9, 1000.0))
    assert "s-1 now" in str(names(sessions))
    sessions.update_session("orders", summary(key("maria", "s-9"), 1, 1000.0))
    assert sessions.shown_sessions == 4
    sessions.update_session("no such database", summary(key("x", "y")))
    sessions.remove_database("orders")
    sessions.remove_database("orders")
    assert names(sessions) == []


def test_control_characters_and_markup_in_names_are_made_visible(sessions: SessionTreeModel) -> None:
    sessions.set_database("x", DatabaseInfo("x.db"), [summary(key("u\u202e", "<img src='file:///dev/zero'>\n"))])
    index = sessions.index_of("x", key("u\u202e", "<img src='file:///dev/zero'>\n"))
    assert "⏎" in index.data()
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
    assert pane.tree.currentIndex().data() == "s-1"
