"""A session that is read again during its run contains the events committed meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from inspector_app.app import Inspector
from inspector_app.documents.long_session import LongSession
from inspector_app.documents.sources import Source
from inspector_app.workspace.action_availability import ActionAvailability
from runtime.sessions.session import SessionKey


def shown(inspector: Inspector) -> list[str]:
    session = inspector.current.session
    assert session is not None
    return session.events.last_ids(1_000)


def hold(inspector: Inspector, qtbot: QtBot) -> Source:
    inspector.run.send("a story about a ferry", paused=True)
    qtbot.waitUntil(lambda: inspector.run.phase == "paused", timeout=20_000)
    session = inspector.current.session
    assert session is not None
    return session.source


def step(inspector: Inspector, qtbot: QtBot) -> None:
    before = inspector.run.held
    inspector.run.step()
    qtbot.waitUntil(lambda: inspector.run.phase == "paused" and inspector.run.held is not before, timeout=20_000)


def ids_after_steps(
    inspector: Inspector, source: Source, reading: asyncio.Task[Any], begun: asyncio.Event, gate: asyncio.Event, qtbot: QtBot
) -> list[str]:
    """Step while the session is read again and once afterwards; return the ids of the stored events."""
    qtbot.waitUntil(begun.is_set)
    step(inspector, qtbot)
    gate.set()
    qtbot.waitUntil(reading.done)
    step(inspector, qtbot)
    assert inspector.cursor.session is not None
    stored = inspector.tasks.spawn(source.events(inspector.cursor.session.key), "Looking")
    qtbot.waitUntil(stored.done)
    return [event.id for event in stored.result()]


@pytest.mark.parametrize("where", ["database", "unsaved", "memory"])
def test_a_session_read_again_during_a_run_misses_no_event(
    story: Inspector, where: str, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    if where != "database":
        story.settings.unsaved_days = 30 if where == "unsaved" else 0
        story.cursor.select_session(None)
        qtbot.waitUntil(lambda: not story.tasks.running)
        monkeypatch.setattr(ActionAvailability, "new_session_source", lambda _: None)
    source = hold(story, qtbot)
    assert source.title == "story.db" if where == "database" else "not saved yet"
    read, gate, history = asyncio.Event(), asyncio.Event(), source.displayed_history

    async def slow_history(key: SessionKey) -> Any:
        found = await history(key)
        read.set()
        await gate.wait()
        return found

    monkeypatch.setattr(source, "displayed_history", slow_history)
    address = story.cursor.session
    assert address is not None
    again = story.tasks.spawn(story.current.load_session(address), "Reading again")
    stored = ids_after_steps(story, source, again, read, gate, qtbot)
    assert shown(story) == stored
    story.run.stop()
    qtbot.waitUntil(lambda: story.run.phase == "idle")


def test_a_long_session_read_again_during_a_run_duplicates_no_event(
    story: Inspector, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector_app.documents.sources.LONG", 3)
    source, opened, begun, gate = hold(story, qtbot), LongSession.open, asyncio.Event(), asyncio.Event()

    async def slow_open(long: LongSession, *more: Any) -> Any:
        begun.set()
        await gate.wait()
        return await opened(long, *more)

    monkeypatch.setattr(LongSession, "open", slow_open)
    address = story.cursor.session
    assert address is not None
    again = story.tasks.spawn(story.current.load_session(address, assume=False), "Reading again")
    stored = ids_after_steps(story, source, again, begun, gate, qtbot)
    session = story.current.session
    assert session is not None and session.pages is not None
    assert len(session.events) == len(stored)
    assert shown(story) == stored
    story.run.stop()
    qtbot.waitUntil(lambda: story.run.phase == "idle")


def test_groups_read_after_an_event_was_committed_contain_it_once(story: Inspector, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inspector_app.documents.sources.LONG", 3)
    hold(story, qtbot)
    gate, latest = asyncio.Event(), LongSession.latest_invocations

    async def slow_latest(long: LongSession) -> Any:
        await gate.wait()
        return await latest(long)

    monkeypatch.setattr(LongSession, "latest_invocations", slow_latest)
    address = story.cursor.session
    assert address is not None
    again = story.tasks.spawn(story.current.load_session(address, assume=False), "Reading again")
    qtbot.waitUntil(again.done)
    step(story, qtbot)
    gate.set()
    session = story.current.session
    assert session is not None
    qtbot.waitUntil(lambda: session.past is not None)
    assert sum(group.count for group in session.groups) == len(session.events)
    story.run.stop()
    qtbot.waitUntil(lambda: story.run.phase == "idle")
