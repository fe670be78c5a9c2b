"""The writers of a state value: by menu and by shortcut, with parallel overwrites and the requests that read it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QModelIndex, Qt
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.documents.session_address import SessionAddress
from runtime.events import Event, EventActions
from runtime.sessions.database_session_service import DatabaseSessionService
from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from tests.gui.window.stored_sessions import store_sessions

WHO_WROTE = (Qt.Key.Key_W, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)


def index_of(inspector: Inspector, key: str) -> QModelIndex:
    model = inspector.window.parts.detail.state.model
    for lane in range(model.rowCount()):
        parent = model.index(lane, 0)
        for row in range(model.rowCount(parent)):
            if model.index(row, 0, parent).data() == key:
                return model.index(row, 0, parent)
    raise AssertionError(key)


def test_every_writer_and_every_reading_prompt_is_listed(story: Inspector, story_db: Path, qtbot: QtBot) -> None:
    bench = story.window.workbench
    tree = bench.parts.detail.state.tree
    tree.setCurrentIndex(index_of(story, "current_story"))
    tree.setFocus()
    qtbot.keyClick(story.window, *WHO_WROTE)
    pane = bench.parts.detail.writers
    qtbot.waitUntil(lambda: pane.rows != [], timeout=10_000)
    assert story.cursor.session is not None
    with StoredDatabase.open(str(story_db)) as stored:
        events = stored.events(story.cursor.session.key)
    wrote = [event for event in events if "current_story" in event.actions.state_delta]
    assert [row.event_id for row in pane.rows if row.kind == "write"] == [event.id for event in wrote]
    assert [row.who for row in pane.rows if row.kind == "write"] == [event.author for event in wrote]
    assert pane.title.startswith(f"current_story: {len(wrote)} write")
    readers = {row.who for row in pane.rows if row.kind == "reading"}
    assert "read by Critic's prompt" in readers, "its instruction names {current_story}"
    first = pane.tree.topLevelItem(0)
    assert first is not None
    pane.tree.itemClicked.emit(first, 0)
    place = next(index for index, event in enumerate(events) if event.id == wrote[0].id)
    qtbot.waitUntil(lambda: story.cursor.event_index == place)


def test_the_write_of_the_displayed_value_is_selected(story: Inspector, qtbot: QtBot) -> None:
    bench = story.window.workbench
    bench.parts.stream.select_event(4)
    qtbot.waitUntil(lambda: story.cursor.event_index == 4)
    assert "StoryGenerator" in bench.parts.detail.state.model.node(index_of(story, "current_story")).writer
    bench.parts.detail.state.tree.setCurrentIndex(index_of(story, "current_story"))
    bench.parts.detail.state.tree.setFocus()
    qtbot.keyClick(story.window, *WHO_WROTE)
    pane = bench.parts.detail.writers
    qtbot.waitUntil(lambda: pane.rows != [], timeout=10_000)
    selected = pane.tree.currentItem()
    assert selected is not None and selected.text(0) == "StoryGenerator" and selected.text(1) == "3"
    assert [row.who for row in pane.rows if row.kind == "write"][-1] == "Reviser", "a later writer"


def test_parallel_overwrites_are_marked(inspector: Inspector, opened: Callable[..., None], tmp_path: Path, qtbot: QtBot) -> None:
    events = [
        Event(invocation_id="e-1", author=name, branch=f"fan.{name}", actions=EventActions(state_delta={"best": name}))
        for name in ("anna", "ben")
    ]
    opened(store_sessions(tmp_path / "fan.db", {SessionKey("app", "u", "fan"): events}))
    menu = inspector.window.parts.detail.state.tree.context_menu(index_of(inspector, "best"))
    assert menu is not None
    next(action for action in menu.actions() if action.text().startswith("Who wrote")).trigger()
    pane = inspector.window.parts.detail.writers
    qtbot.waitUntil(lambda: pane.rows != [], timeout=10_000)
    assert [(row.kind, row.who) for row in pane.rows] == [("parallel", "anna · in parallel"), ("parallel", "ben · in parallel")]
    assert "The last write won" in pane.rows[0].note and pane.rows[1].change == '"anna" → "ben"'
    assert pane.rows[0].where == "fan.anna · this session"
    assert "Load the agent" in pane.title


def test_the_writers_of_the_same_key_are_shown_for_another_session(
    inspector: Inspector, opened: Callable[..., None], tmp_path: Path, qtbot: QtBot
) -> None:
    def drafts(*texts: str) -> list[Event]:
        return [Event(invocation_id="e-1", author="writer", actions=EventActions(state_delta={"draft": text})) for text in texts]

    sessions = {SessionKey("app", "u", "one"): drafts("a", "b", "c"), SessionKey("app", "u", "two"): drafts("A")}
    opened(store_sessions(tmp_path / "two.db", sessions))
    bench = inspector.window.workbench
    pane, shown = bench.parts.detail.writers, inspector.cursor.session
    assert shown is not None

    def go_to(name: str) -> None:
        inspector.cursor.select_session(SessionAddress(shown.database, SessionKey("app", "u", name)))
        qtbot.waitUntil(lambda: not inspector.tasks.running)

    go_to("one")
    inspector.window.commands.who_wrote.trigger()
    assert [message.text for message in inspector.window.message_bar.messages] == ["Select a key of the state first."]
    bench.parts.detail.state.tree.writers_requested.emit("draft")
    qtbot.waitUntil(lambda: [row.place for row in pane.rows] == ["1", "2", "3"])
    assert inspector.window.message_bar.messages == [], "a key was chosen"
    go_to("two")
    assert [(row.place, row.change) for row in pane.rows] == [("1", '"A"')]
    assert pane.title.startswith("draft: 1 write.")
    bench.parts.detail.tabs.setCurrentIndex(0)
    go_to("one")
    assert pane.rows == [], "a hidden card does not search"
    bench.parts.detail.state.tree.writers_requested.emit("draft")
    qtbot.waitUntil(lambda: pane.rows != [] and pane.tree.hasFocus() and pane.isVisible())
    qtbot.keyClick(pane.tree, Qt.Key.Key_Escape)
    assert pane.isHidden() and bench.parts.detail.state.tree.hasFocus()
    go_to("two")
    assert pane.isHidden(), "a closed card does not search"


async def two_sessions(file: Path) -> None:
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        for name, tier in (("first", "silver"), ("second", "gold")):
            session = await service.create_session(app_name="shop", user_id="u", session_id=name)
            await service.append_event(session, Event(author="desk", actions=EventActions(state_delta={"user:tier": tier, "own": 1})))


def writers(inspector: Inspector) -> dict[str, str]:
    model = inspector.window.parts.detail.state.model
    return {node.key: node.writer for lane in model.node(QModelIndex()).children for node in lane.children}


def test_a_key_changed_by_a_later_session_is_marked(
    inspector: Inspector, tmp_path: Path, opened: Callable[..., None], qtbot: QtBot
) -> None:
    inspector.tasks.spawn(two_sessions(tmp_path / "shop.db"), "Writing")
    qtbot.waitUntil(lambda: not inspector.tasks.running)
    opened(tmp_path / "shop.db")
    for name, mark in (("first", " · changed since"), ("second", "")):
        inspector.cursor.select_session(SessionAddress(str(tmp_path / "shop.db"), SessionKey("shop", "u", name)))
        qtbot.waitUntil(lambda: not inspector.tasks.running)
        assert writers(inspector) == {"user:tier": f"#1 desk{mark}", "own": "#1 desk"}
