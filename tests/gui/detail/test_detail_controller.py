"""The controller of the selected event's detail with the real detail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from PySide6.QtCore import QModelIndex, QObject
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from inspector_app.detail.detail_controller import DetailController
from inspector_app.detail.event_detail import EventDetail
from inspector_app.documents.past_at_event import Past
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_document import StateAtEvent
from inspector_app.workspace.cursor import Cursor
from runtime.history.scoped_state import ScopedState
from runtime.sessions.session import SessionKey
from runtime.sessions.state import Change
from tests.gui.events import said
from tests.gui.fake_owners import FakeCurrent, FakeRun, FakeSession

HERE = SessionAddress("story.db", SessionKey("story", "u", "s"))
EVENTS = [said("tell", author="user", id="a"), said("once", id="b")]


class FakeEdits(QObject):
    """Edits of state."""

    def __init__(self) -> None:
        super().__init__()
        self.reason: str | None = None
        self.selected: Any = None
        self.calls: list[tuple[Any, ...]] = []

    def edit(self, *change: Any) -> None:
        self.calls.append(("edit", *change))

    def undo(self) -> None:
        self.calls.append(("undo",))

    def blocked(self) -> str | None:
        return self.reason

    def selected_edit(self) -> Any:
        return self.selected


@dataclass
class Scene:
    """A controller with its fake owners and its real detail."""

    cursor: Cursor
    current: FakeCurrent
    run: FakeRun
    edits: FakeEdits
    detail: EventDetail

    def show(self, index: int, state: dict[str, Any] | None = None, **more: Any) -> None:
        past = Past(ScopedState(session=state), [Change("step", None, 1, "added")], {}, set()) if state is not None else None
        self.cursor.select_event(index)
        self.current.state_computed.emit(StateAtEvent(index, EVENTS[index], past, **more))

    def title(self) -> str:
        return self.detail.findChild(QLabel, "event_detail_title").text()

    def keys(self) -> list[str]:
        return [node.key for lane in self.detail.state.model.node(QModelIndex()).children for node in lane.children]

    def button(self, name: str) -> QPushButton:
        return self.detail.findChild(QPushButton, name)


@pytest.fixture
def scene(qtbot: QtBot) -> Scene:
    cursor, current, run, edits, detail = Cursor(), FakeCurrent(), FakeRun(), FakeEdits(), EventDetail()
    qtbot.addWidget(detail)
    detail.resize(500, 600)
    detail.show()
    detail.tabs.setCurrentIndex(1)
    DetailController(cursor, current, run, edits, detail)  # type: ignore[arg-type]
    cursor.select_session(HERE)
    current.show(FakeSession(HERE, EVENTS))
    return Scene(cursor, current, run, edits, detail)


def test_the_selected_event_is_shown_with_its_state_and_delta(scene: Scene) -> None:
    scene.show(1, {"step": 1})
    assert scene.title().startswith("writer · ") and scene.detail.event_id == "b"
    assert scene.keys() == ["step"]
    assert scene.detail.delta.model.rowCount() == 1


def test_without_an_event_the_detail_is_empty(scene: Scene) -> None:
    scene.show(1, {"step": 1})
    scene.current.state_computed.emit(None)
    assert scene.detail.event_id is None
    assert next(label.text() for label in scene.detail.findChildren(QLabel) if label.isVisible()) == "No event is selected"


def test_editing_is_blocked_for_a_reason(scene: Scene) -> None:
    scene.edits.reason = "A run is active."
    scene.show(1, {"step": 1})
    add = scene.button("state_add")
    assert not add.isEnabled() and "A run is active." in add.toolTip()
    scene.edits.reason = None
    scene.run.changed.emit()
    assert add.isEnabled()


def test_undo_is_offered_for_an_edit_alone(scene: Scene) -> None:
    scene.show(1, {"step": 1})
    undo = scene.button("state_undo")
    assert undo.isHidden()
    scene.edits.selected = EVENTS[1]
    scene.run.changed.emit()
    assert not undo.isHidden()
    undo.click()
    assert scene.edits.calls == [("undo",)]


@pytest.mark.parametrize(("index", "shown"), [(1, ["step", "draft"]), (0, ["step"])])
def test_uncommitted_state_is_shown_at_the_newest_event(scene: Scene, index: int, shown: list[str]) -> None:
    scene.run.address, scene.run.uncommitted = HERE, {"draft": "new"}
    scene.show(index, {"step": 1})
    assert sorted(scene.keys()) == sorted(shown)


def test_reading_the_past_shows_its_progress(scene: Scene) -> None:
    scene.current.past_progress.emit(30, 120)
    assert "Reading the past: 25%" in [label.text() for label in scene.detail.state.findChildren(QLabel)]
