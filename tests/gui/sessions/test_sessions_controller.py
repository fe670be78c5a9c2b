"""The controller of the session list with the real list."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import pytest
from PySide6.QtCore import QModelIndex, Qt
from pytestqt.qtbot import QtBot

from inspector_app.documents.session_address import SessionAddress
from inspector_app.presentation.costs import CostSum
from inspector_app.presentation.session_info import ForkInfo
from inspector_app.sessions.session_tree import SessionTreeModel
from inspector_app.sessions.sessions_controller import SessionsController
from inspector_app.sessions.sessions_pane import SessionsPane
from inspector_app.workspace.cursor import Cursor
from runtime.history.invocations import PendingItem
from tests.gui.fake_owners import FakeCatalog, FakeCosts, FakeCurrent, FakeTitles
from tests.gui.sessions.summaries import key, summary
from tests.unit.inspector_app.workspace.fakes import FakeSource

OLD, NEW = key("maria", "old"), key("maria", "new")


@dataclass
class Scene:
    """A controller with its fake owners and its real list."""

    cursor: Cursor
    catalog: FakeCatalog
    titles: FakeTitles
    costs: FakeCosts
    current: FakeCurrent
    model: SessionTreeModel
    pane: SessionsPane

    def list_sessions(self) -> None:
        self.catalog.listed.emit(FakeSource(), [summary(OLD, 3, 100.0), summary(NEW, 3, 900.0)])

    def tooltip(self, session: str) -> str:
        return str(self.model.index_of("story.db", key("maria", session)).data(Qt.ItemDataRole.ToolTipRole))


@pytest.fixture
def scene(qtbot: QtBot) -> Scene:
    cursor, catalog, current, model = Cursor(), FakeCatalog(), FakeCurrent(), SessionTreeModel(now=lambda: 1000.0)
    titles, costs = FakeTitles(), FakeCosts()
    pane = SessionsPane(model)
    qtbot.addWidget(pane)
    pane.resize(240, 400)
    pane.show()
    SessionsController(cursor, catalog, titles, costs, current, model, pane)  # type: ignore[arg-type]
    return Scene(cursor, catalog, titles, costs, current, model, pane)


def test_a_database_is_listed_with_its_marks_and_removed(scene: Scene) -> None:
    scene.catalog.marks_of[SessionAddress("story.db", OLD)] = "interrupted"
    scene.list_sessions()
    assert scene.model.shown_sessions == 2
    assert "interrupted" in scene.tooltip("old") and "interrupted" not in scene.tooltip("new")
    scene.catalog.removed.emit("story.db")
    assert scene.model.database_count == 0


def test_earlier_messages_without_an_answer_are_in_the_tooltip(scene: Scene) -> None:
    scene.list_sessions()
    address = SessionAddress("story.db", OLD)
    scene.catalog.marks_of[address] = "finished"
    scene.catalog.pending[address] = [PendingItem("interrupted", "e-0", is_past=True)]
    scene.catalog.marks_changed.emit("story.db", [OLD])
    assert "finished, 1 earlier message without an answer" in scene.tooltip("old")


def test_a_read_only_database_is_marked(scene: Scene) -> None:
    scene.catalog.listed.emit(FakeSource(writing_allowed=False), [summary(OLD)])
    node = scene.model.node(scene.model.index(0, 0))
    assert (node.icon, node.detail) == ("lock", "1 session · v1 · read-only")


def test_marks_and_forks_appear_when_they_are_found(scene: Scene) -> None:
    scene.list_sessions()
    scene.catalog.set_mark(SessionAddress("story.db", NEW), "held")
    assert "held" in scene.tooltip("new")
    scene.catalog.set_forks("story.db", {NEW: ForkInfo(OLD, "fork at 3", "Fork of session old")})
    node = scene.model.node(scene.model.index_of("story.db", NEW))
    assert (node.pieces[1], node.parent.session) == ("fork at 3", OLD)


def test_titles_costs_and_new_names_are_passed_on(scene: Scene) -> None:
    scene.list_sessions()
    index = scene.model.index_of("story.db", OLD)
    assert scene.titles.wanted == [("story.db", NEW), ("story.db", OLD)]
    scene.titles.tell("story.db", {OLD: "A trip to Lisbon"})
    assert index.data() == "A trip to Lisbon"
    scene.cursor.select_session(SessionAddress("story.db", OLD))
    scene.costs.tell(CostSum(2, cost=Decimal("0.5")))
    assert "$0.50" in scene.model.node(index).detail
    scene.model.setData(index, "Mine")
    assert scene.titles.renamed == [(SessionAddress("story.db", OLD), "Mine")]


def test_a_changed_and_a_removed_session_are_updated(scene: Scene) -> None:
    scene.list_sessions()
    scene.catalog.sessions_changed.emit("story.db", [summary(OLD, 7, 950.0)], [NEW])
    assert scene.model.shown_sessions == 1
    assert "7 events" in scene.tooltip("old")


def test_a_click_selects_the_session(scene: Scene, qtbot: QtBot) -> None:
    scene.list_sessions()
    tree = scene.pane.tree
    place = tree.visualRect(scene.model.index_of("story.db", OLD)).center()
    qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert scene.cursor.session == SessionAddress("story.db", OLD)


def test_the_list_follows_the_displayed_session(scene: Scene) -> None:
    scene.list_sessions()
    scene.current.session_loading.emit(SessionAddress("story.db", NEW))
    assert scene.pane.tree.currentIndex() == scene.model.index_of("story.db", NEW)
    scene.current.session_loading.emit(None)
    assert not scene.pane.tree.selectionModel().isSelected(scene.model.index_of("story.db", NEW))
    assert scene.pane.tree.currentIndex() == QModelIndex()
