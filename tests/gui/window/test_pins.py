"""Pinned keys, and the search in the state."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.widgets.value_tree import ValueNode


def lanes(inspector: Inspector) -> dict[str, list[str]]:
    model = inspector.window.parts.detail.state.model
    return {lane.key: [node.key for node in lane.children] for lane in model.node(QModelIndex()).children}


def test_a_key_is_pinned_by_keyboard_and_stays_pinned_for_its_app(
    inspector: Inspector, story_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(story_db)
    tree, model = inspector.window.parts.detail.state.tree, inspector.window.parts.detail.state.model
    session = model.index(0, 0)
    row = next(row for row in range(model.rowCount(session)) if model.index(row, 0, session).data() == "topic")
    tree.setCurrentIndex(model.index(row, 0, session))
    qtbot.keyClick(tree, Qt.Key.Key_P)
    assert lanes(inspector)["pinned"] == ["topic"]
    assert "topic" in lanes(inspector)["session"]
    assert tree.selected_key() == "topic", "the selection is kept"
    inspector.cursor.select_event(8)
    qtbot.waitUntil(lambda: model.headerData(0, Qt.Orientation.Horizontal) == "State at 9")
    assert tree.selected_key() == "topic"
    address = inspector.cursor.session
    inspector.cursor.select_session(None)
    inspector.cursor.select_session(address)
    qtbot.waitUntil(lambda: lanes(inspector).get("pinned") == ["topic"])
    pinned: ValueNode = model.node(model.index(0, 0, model.index(0, 0)))
    assert pinned.writer_index is not None
    tree.setCurrentIndex(model.index(0, 0, model.index(0, 0)))
    qtbot.keyClick(tree, Qt.Key.Key_P)
    assert "pinned" not in lanes(inspector)


def test_the_state_search_opens_with_its_command_and_closes_with_escape(
    inspector: Inspector, story_db: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    opened(story_db)
    view = inspector.window.parts.detail.state
    everything = lanes(inspector)
    inspector.window.commands.find_in_state.trigger()
    assert view.search.hasFocus()
    qtbot.keyClicks(view.search, "tone_")
    assert lanes(inspector)["session"] == ["tone_check_result"]
    qtbot.keyClick(view.search, Qt.Key.Key_Escape)
    assert not view.search.isVisible()
    assert lanes(inspector) == everything
