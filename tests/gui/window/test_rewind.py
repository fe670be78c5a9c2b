"""Rewinding: the card with its effects, the rewind, and the fork offered instead."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from runtime.storage.reading.reader import StoredDatabase
from tests.gui.window.driver import WindowDriver
from tests.gui.window.stored_sessions import event_ids

REWIND_KEY = (Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)


@pytest.fixture
def asked(story: Inspector, qtbot: QtBot) -> Inspector:
    bench = story.window.workbench
    bench.parts.stream.select_event(4)
    qtbot.keyClick(story.window, *REWIND_KEY)
    qtbot.waitUntil(lambda: bench.parts.rewind_card.title != "", timeout=10_000)
    return story


def facts(inspector: Inspector) -> list[str]:
    card = inspector.window.parts.rewind_card
    return [label.text() for label in card.findChildren(QLabel) if label.objectName().startswith("rewind_card_line")]


def test_the_card_lists_the_effects_and_offers_a_fork_first(asked: Inspector, story_db: Path) -> None:
    card = asked.window.parts.rewind_card
    assert "undoes 1 invocation" in card.title
    assert any("north light" in fact for fact in facts(asked))
    assert any(fact.startswith("current_story: ") and fact.endswith("→ cleared (null)") for fact in facts(asked))
    fork = card.button("fork")
    assert fork is not None and fork.text() == "Fork instead" and fork.property("primary") is True


def test_a_rewind_undoes_the_invocation_and_deletes_nothing(asked: Inspector, story_db: Path, qtbot: QtBot) -> None:
    assert asked.cursor.session is not None
    key, before = asked.cursor.session.key, event_ids(story_db, asked.cursor.session.key)
    button = asked.window.parts.rewind_card.button("rewind")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not asked.tasks.running)
    after = event_ids(story_db, key)
    assert after[: len(before)] == before and len(after) == len(before) + 1, "nothing is deleted"
    assert asked.features.stream.events.event_count == len(after)
    assert asked.current.session is not None
    assert asked.current.session.invocations[0].status == "rewound"
    assert asked.window.parts.pending.rows == [], "its interrupted invocation is no longer pending"
    with StoredDatabase.open(str(story_db)) as stored:
        state = stored.history(key).state_at(len(after) - 1).merged()
    assert all(value is None for name, value in state.items() if not name.startswith(("user:", "app:")))


def test_forking_instead_leaves_the_session_unchanged(asked: Inspector, story_db: Path, driver: WindowDriver, qtbot: QtBot) -> None:
    original = asked.cursor.session
    assert original is not None
    before = event_ids(story_db, original.key)
    card = asked.window.parts.rewind_card
    qtbot.keyClick(card.button("fork"), Qt.Key.Key_Return)
    fork = driver.fork.wait(original)
    assert event_ids(story_db, fork.key) == [] and event_ids(story_db, original.key) == before


def test_escape_cancels_the_rewind(asked: Inspector, story_db: Path, qtbot: QtBot) -> None:
    assert asked.cursor.session is not None
    before = event_ids(story_db, asked.cursor.session.key)
    qtbot.keyClick(asked.window.parts.rewind_card, Qt.Key.Key_Escape)
    assert asked.window.parts.rewind_card.title == "" and event_ids(story_db, asked.cursor.session.key) == before


def test_a_session_cannot_be_rewound_while_its_agent_is_held(story: Inspector, qtbot: QtBot) -> None:
    story.run.send("a story about a ferry", paused=True)
    qtbot.waitUntil(lambda: story.run.phase == "paused", timeout=20_000)
    bench = story.window.workbench
    bench.parts.stream.select_event(4)
    qtbot.keyClick(story.window, *REWIND_KEY)
    qtbot.waitUntil(lambda: bench.parts.rewind_card.title != "", timeout=10_000)
    rewind = bench.parts.rewind_card.button("rewind")
    assert rewind is not None and not rewind.isEnabled()
    assert "A run is in progress: stop it first (Shift+F5)." in rewind.toolTip()
    story.run.stop()
    qtbot.waitUntil(lambda: story.run.phase == "idle")
