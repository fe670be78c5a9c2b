"""The controller of pinned keys with the real state pane."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from inspector_app.documents.session_address import SessionAddress
from inspector_app.state.pin_controller import PinController
from inspector_app.state.state_view import StateView
from inspector_app.support.preferences import Preferences
from inspector_app.workspace.cursor import Cursor
from runtime.history.scoped_state import ScopedState
from runtime.sessions.session import SessionKey


@dataclass
class Scene:
    """A controller with a real cursor, preferences and state pane."""

    cursor: Cursor
    preferences: Preferences
    view: StateView

    def select(self, app: str) -> None:
        self.cursor.select_session(SessionAddress("one.db", SessionKey(app, "u", "s")))

    def lanes(self) -> list[str]:
        return [str(self.view.model.index(row, 0).data()) for row in range(self.view.model.rowCount())]


@pytest.fixture
def scene(qtbot: QtBot, tmp_path: Path) -> Scene:
    cursor, preferences, view = Cursor(), Preferences(tmp_path / "preferences.json"), StateView()
    qtbot.addWidget(view)
    PinController(cursor, preferences, view)
    view.set_state(ScopedState(session={"step": 1, "cart": 2}), [], "State at 3")
    return Scene(cursor, preferences, view)


def test_a_pinned_key_is_listed_first_and_remembered_for_its_app(scene: Scene) -> None:
    scene.select("shop")
    assert scene.lanes()[0] == "session"
    scene.view.tree.pin_requested.emit("step")
    scene.view.tree.pin_requested.emit("cart")
    assert scene.lanes()[0] == "pinned" and scene.view.model.pinned == ["step", "cart"]
    assert scene.preferences.pinned("shop") == ["step", "cart"]


def test_pinning_a_pinned_key_unpins_it(scene: Scene) -> None:
    scene.select("shop")
    for key in ("step", "cart", "step"):
        scene.view.tree.pin_requested.emit(key)
    assert scene.view.model.pinned == scene.preferences.pinned("shop") == ["cart"]


def test_each_app_has_its_own_pinned_keys(scene: Scene) -> None:
    scene.preferences.keep_pinned("shop", ["cart"])
    scene.select("shop")
    assert scene.view.model.pinned == ["cart"]
    scene.select("story")
    assert scene.view.model.pinned == []
    scene.cursor.select_session(None)
    scene.view.tree.pin_requested.emit("step")
    assert scene.preferences.pinned("story") == [], "without a session, a pin belongs to no app"
