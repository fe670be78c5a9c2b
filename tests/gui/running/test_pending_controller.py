"""The controller of pending items with the real pane."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QTreeWidget
from pytestqt.qtbot import QtBot

from inspector_app.documents.session_address import SessionAddress
from inspector_app.running import pending_controller
from inspector_app.running.pending_controller import PendingController
from inspector_app.running.pending_pane import PendingPane
from inspector_app.workspace.cursor import Cursor
from runtime.history.invocations import PendingItem
from runtime.sessions.session import SessionKey
from tests.gui.fake_owners import FakeCatalog, FakeRun, FakeTitles, fake_workspace
from tests.unit.inspector_app.workspace.fakes import FakeTasks

HERE, THERE = (SessionAddress("one.db", SessionKey("shop", "u", name)) for name in ("here", "there"))


@dataclass
class Scene:
    """A controller with its fake owners and its real pane."""

    cursor: Cursor
    catalog: FakeCatalog
    titles: FakeTitles
    run: FakeRun
    tasks: FakeTasks
    resumed: list[str]
    pane: PendingPane
    controller: PendingController

    def texts(self, column: int) -> list[str]:
        shown = self.pane.findChild(QTreeWidget, "pending_list")
        return [shown.topLevelItem(row).text(column) for row in range(shown.topLevelItemCount())]


@pytest.fixture
def scene(qtbot: QtBot) -> Scene:
    cursor, catalog, titles, run, tasks, pane = Cursor(), FakeCatalog(), FakeTitles(), FakeRun(), FakeTasks(), PendingPane()
    qtbot.addWidget(pane)
    pane.resize(900, 300)
    pane.show()
    cursor.select_session(HERE)
    resumed: list[str] = []
    controller = PendingController(
        fake_workspace(cursor=cursor, catalog=catalog, titles=titles, run=run, tasks=tasks),
        SimpleNamespace(ask=resumed.append),  # type: ignore[arg-type]
        pane,
    )
    return Scene(cursor, catalog, titles, run, tasks, resumed, pane, controller)


def approval(call_id: str) -> PendingItem:
    return PendingItem("confirmation", f"e-{call_id}", call_id=call_id, name=f"pay_{call_id}")


def asked(call_id: str, time: float) -> PendingItem:
    return replace(approval(call_id), asked_time=time)


def test_what_broke_off_is_not_pending_once_the_conversation_continues(scene: Scene) -> None:
    broken = PendingItem("interrupted", "e-0")
    scene.catalog.set_pending(HERE, [replace(broken, is_past=True), replace(approval("1"), is_past=True), broken])
    assert [(row.item.kind, row.item.is_past) for row in scene.pane.rows] == [("confirmation", True), ("interrupted", False)]


def test_the_oldest_item_is_first_and_a_new_one_moves_none(scene: Scene) -> None:
    scene.catalog.set_pending(THERE, [asked("1", 10.0)])
    scene.catalog.set_pending(HERE, [asked("2", 5.0), asked("3", 20.0), asked("4", 20.0)])
    assert [row.item.call_id for row in scene.pane.rows] == ["2", "1", "3", "4"]
    scene.catalog.set_pending(THERE, [asked("1", 10.0), asked("5", 30.0)])
    assert [row.item.call_id for row in scene.pane.rows] == ["2", "1", "3", "4", "5"]


def test_the_displayed_sessions_items_are_listed_among_too_many(scene: Scene) -> None:
    scene.catalog.set_pending(HERE, [asked("new", 1e9)])
    scene.catalog.set_pending(THERE, [asked(f"c{number}", float(number)) for number in range(pending_controller.MOST_LISTED)])
    shown = [row.item.call_id for row in scene.pane.rows]
    assert len(shown) == pending_controller.MOST_LISTED and (shown[0], shown[-1]) == ("c0", "new")


@pytest.mark.parametrize("name", ["pending_approve", "pending_reject"])
def test_a_second_click_on_the_same_point_answers_nothing_else(scene: Scene, qtbot: QtBot, name: str) -> None:
    first, second = asked("1", 1.0), asked("2", 2.0)
    scene.catalog.set_pending(HERE, [first, second])
    QApplication.processEvents()
    button = scene.pane.findChild(QPushButton, name)
    point = button.mapTo(scene.pane, button.rect().center())

    def click() -> None:
        target = scene.pane.childAt(point)
        assert target is not None
        qtbot.mouseClick(target, Qt.MouseButton.LeftButton, pos=target.mapFrom(scene.pane, point))

    click()
    scene.catalog.set_pending(HERE, [second])
    QApplication.processEvents()
    click()
    assert [item for _, item, _ in scene.run.calls] == [first]
    qtbot.keyClick(scene.pane.form, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert [item for _, item, _ in scene.run.calls] == [first], "nor does a second press of its key"
    qtbot.waitUntil(button.isEnabled)
    click()
    assert [item for _, item, _ in scene.run.calls] == [first, second]


def test_items_have_the_title_of_their_session(scene: Scene) -> None:
    scene.catalog.set_pending(HERE, [approval("1")])
    scene.titles.tell("one.db", {HERE.key: "A trip to Lisbon (fork at 4)"})
    assert scene.texts(1) == ["A trip to Lisbon (fork at 4) · title of one.db"]


def test_an_invocation_is_not_pending_while_it_is_resumed(scene: Scene, qtbot: QtBot) -> None:
    scene.catalog.set_pending(HERE, [PendingItem("interrupted", "e-1"), approval("2")])
    scene.run.phase, scene.run.address = "running", HERE
    with qtbot.waitSignal(scene.controller.listed) as listed:
        scene.run.run_started.emit(HERE)
    assert [row.item.kind for row in scene.pane.rows] == ["confirmation"]
    assert listed.args == [1, 1]


def test_an_answer_goes_to_the_run(scene: Scene, qtbot: QtBot) -> None:
    item = approval("1")
    scene.catalog.set_pending(HERE, [item])
    qtbot.mouseClick(scene.pane.findChild(QPushButton, "pending_approve"), Qt.MouseButton.LeftButton)
    ((call, answered, response),) = scene.run.calls
    assert (call, answered, response["confirmed"]) == ("respond", item, True)


def test_an_item_of_another_session_is_answered_after_going_there(scene: Scene, qtbot: QtBot) -> None:
    scene.catalog.set_pending(THERE, [approval("1")])
    qtbot.mouseClick(scene.pane.findChild(QPushButton, "pending_approve"), Qt.MouseButton.LeftButton)
    assert scene.run.calls == []
    asyncio.run(scene.tasks.run_all())
    assert scene.cursor.session == THERE
    assert [call for call, *_ in scene.run.calls] == ["respond"]


def test_resuming_an_interrupted_invocation_asks_first(scene: Scene, qtbot: QtBot) -> None:
    scene.catalog.set_pending(HERE, [PendingItem("interrupted", "e-7")])
    qtbot.mouseClick(scene.pane.findChild(QPushButton, "pending_resume"), Qt.MouseButton.LeftButton)
    assert (scene.resumed, scene.run.calls) == (["e-7"], [])


def test_a_reason_that_is_a_sentence_ends_with_one_full_stop(scene: Scene) -> None:
    scene.catalog.set_pending(HERE, [PendingItem("interrupted", "e-7", status="failed", reason="ValueError: Agent 'x' not found.")])
    assert "Invocation e-7 failed: ValueError: Agent 'x' not found." in [label.text() for label in scene.pane.findChildren(QLabel)]


@pytest.mark.parametrize(("kind", "wanted"), [("confirmation", True), ("interrupted", False)])
def test_the_pane_is_wanted_after_a_run_that_waits_for_an_answer(scene: Scene, kind: Any, wanted: bool) -> None:
    raised: list[bool] = []
    scene.controller.answer_wanted.connect(lambda: raised.append(True))
    scene.catalog.set_pending(HERE, [PendingItem(kind, "e-1", call_id="1", name="pay")])
    scene.run.run_ended.emit(SimpleNamespace(address=HERE))
    assert raised == [True] * wanted
