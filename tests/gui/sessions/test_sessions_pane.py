from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from inspector_app.presentation.session_info import DatabaseInfo, ForkInfo
from inspector_app.sessions.session_tree import SessionTreeModel
from inspector_app.sessions.sessions_pane import SessionsPane
from inspector_app.widgets import theme
from runtime.sessions.session import SessionKey
from tests.gui.sessions.summaries import key, summary


@pytest.fixture
def model(qtbot) -> SessionTreeModel:
    return SessionTreeModel(now=lambda: 1000.0)


@pytest.fixture
def pane(qtbot, model: SessionTreeModel) -> SessionsPane:
    made = SessionsPane(model)
    qtbot.addWidget(made)
    made.resize(240, 400)
    made.show()
    return made


def fill(model: SessionTreeModel) -> None:
    keys = [key("maria", "s-1"), key("maria", "s-2"), key("joão", "s-3")]
    model.set_database("orders", DatabaseInfo("orders.db", "v1"), [summary(session) for session in keys])


def test_without_a_database_the_pane_says_what_to_do(pane: SessionsPane, model: SessionTreeModel) -> None:
    assert not pane.tree.isVisible()
    fill(model)
    assert pane.tree.isVisible()
    model.remove_database("orders")
    assert not pane.tree.isVisible()


def test_escape_clears_the_filter_and_then_leaves_the_field(qtbot, pane: SessionsPane, model: SessionTreeModel) -> None:
    fill(model)
    pane.activateWindow()
    pane.focus_filter()
    qtbot.keyClicks(pane.filter, "s-2")
    qtbot.keyClick(pane.filter, Qt.Key.Key_Escape)
    assert pane.filter.text() == "" and pane.filter.hasFocus()
    qtbot.keyClick(pane.filter, Qt.Key.Key_Escape)
    assert pane.tree.hasFocus()


def test_selecting_and_activating_a_session(qtbot, pane: SessionsPane, model: SessionTreeModel) -> None:
    fill(model)
    with qtbot.waitSignal(pane.session_selected) as selected:
        assert pane.select_session("orders", key("maria", "s-2"))
    assert selected.args == ["orders", key("maria", "s-2")]
    with qtbot.waitSignal(pane.session_activated) as activated:
        qtbot.keyClick(pane.tree, Qt.Key.Key_Return)
    assert activated.args == ["orders", key("maria", "s-2")]
    assert not pane.select_session("orders", key("maria", "unknown"))


def test_a_click_selects_and_a_double_click_activates_once(qtbot, pane: SessionsPane, model: SessionTreeModel) -> None:
    fill(model)
    spot = pane.tree.visualRect(model.index_of("orders", key("joão", "s-3"))).center()
    activated: list[SessionKey] = []
    pane.session_activated.connect(lambda _database, session: activated.append(session))
    with qtbot.waitSignal(pane.session_selected):
        qtbot.mouseClick(pane.tree.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    qtbot.mouseDClick(pane.tree.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert activated == [key("joão", "s-3")]


def test_the_filter_keeps_the_selection_and_the_expanded_branches(qtbot, pane: SessionsPane, model: SessionTreeModel) -> None:
    fill(model)
    pane.select_session("orders", key("maria", "s-2"))
    selected: list[object] = []
    pane.session_selected.connect(lambda *found: selected.append(found))
    user = model.index_of("orders", key("joão", "s-3")).parent()
    pane.tree.collapse(user)
    pane.focus_filter()
    qtbot.keyClicks(pane.filter, "s-2")
    assert model.shown_sessions == 1
    assert model.node(pane.tree.currentIndex()).session == key("maria", "s-2")
    qtbot.keyClicks(pane.filter, "zzz")
    assert not pane.tree.isVisible()
    pane.filter.clear()
    assert pane.tree.isVisible()
    assert not pane.tree.isExpanded(model.index_of("orders", key("joão", "s-3")).parent())
    assert model.node(pane.tree.currentIndex()).session == key("maria", "s-2")
    assert selected == [], "the selection never changed"


def test_rows_are_copied(pane: SessionsPane, model: SessionTreeModel) -> None:
    fill(model)
    session = model.index_of("orders", key("maria", "s-1"))
    menu = pane.context_menu(session)
    assert menu is not None
    actions = {action.text(): action for action in menu.actions()}
    actions["Copy session id"].trigger()
    assert QGuiApplication.clipboard().text() == "s-1"
    actions["Copy as JSON"].trigger()
    assert json.loads(QGuiApplication.clipboard().text())["user_id"] == "maria"
    actions["Copy as command line"].trigger()
    assert QGuiApplication.clipboard().text() == "agent-inspector events orders --app order_desk --user maria --session s-1"
    top = pane.context_menu(model.index(0, 0))
    assert top is not None
    top.actions()[0].trigger()
    assert QGuiApplication.clipboard().text() == "orders"


def test_a_branch_of_many_sessions_stays_collapsed_until_the_user_expands_it(qtbot, pane: SessionsPane, model: SessionTreeModel) -> None:
    with qtbot.waitSignal(model.modelReset):
        model.set_database("big", DatabaseInfo("big.db"), [summary(key(name, f"s-{number}")) for name in "uv" for number in range(20_000)])
    user = model.index_of("big", key("u", "s-1")).parent().parent()
    assert not pane.tree.isExpanded(user)
    pane.tree.expand(user)
    with qtbot.waitSignal(model.modelReset):
        model.set_database(
            "big", DatabaseInfo("big.db"), [summary(key(f"{name}", f"n-{number}")) for name in "uv" for number in range(20_000)]
        )
    assert pane.tree.isExpanded(model.index_of("big", key("u", "n-1")).parent().parent())


def test_hostile_names_are_painted(pane: SessionsPane, model: SessionTreeModel) -> None:
    fill(model)
    model.set_marks("orders", {key("maria", "s-1"): "held"})
    model.set_database("hostile", DatabaseInfo("x" * 500, "y" * 500, True), [summary(key("u" * 500, "\u202e" * 500))])
    pane.grab()


def test_forks_tell_their_change_and_filter_hits_are_underlined(qtbot, pane: SessionsPane, model: SessionTreeModel) -> None:
    keys = [key("maria", name) for name in ("s-1", "s-2", "s-3")]
    model.set_database("orders", DatabaseInfo("orders.db", "v1"), [summary(session) for session in keys])
    model.set_forks("orders", {keys[1]: ForkInfo(keys[0], "fork at 1", ""), keys[2]: ForkInfo(key("maria", "gone"), "fork at 1", "")})
    titles = {keys[0]: "s-1", keys[1]: "s-1 (fork at 1)", keys[2]: "s-3"}
    model.set_titles("orders", titles, keys)
    nodes = [model.node(model.index_of("orders", session)) for session in keys]
    assert [(node.name, node.pieces[1]) for node in nodes] == [("s-1", ""), ("s-1 (fork at 1)", ""), ("s-3", "fork at 1")]
    assert [node.parent.kind for node in nodes] == ["database", "session", "database"], "only the first is displayed below its parent"
    plain = pane.tree.grab().toImage()
    qtbot.keyClicks(pane.filter, "s-")
    marked, accent = pane.tree.grab().toImage(), theme.color("accent").rgb()
    for session in keys:
        row = pane.tree.visualRect(model.index_of("orders", session)).translated(pane.tree.viewport().pos())
        pixels = [(x, y) for x in range(row.left(), row.right()) for y in range(row.top(), row.center().y() + 1)]
        assert any(marked.pixel(*pixel) == accent for pixel in pixels) and not any(plain.pixel(*pixel) == accent for pixel in pixels)


def test_selecting_a_session_out_of_view_scrolls_it_to_the_middle(pane: SessionsPane, model: SessionTreeModel) -> None:
    model.set_database("big", DatabaseInfo("big.db"), [summary(key("u", f"s-{number:03}")) for number in range(150)])
    assert pane.select_session("big", key("u", "s-100"))
    place = pane.tree.visualRect(model.index_of("big", key("u", "s-100"))).center().y()
    assert abs(place - pane.tree.viewport().height() // 2) < 40
