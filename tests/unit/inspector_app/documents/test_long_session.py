"""What a long session finds in the background."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bench.generated import APP, SESSION, USER, add_events, write_database
from inspector_app.documents import long_session as module
from inspector_app.documents.long_session import LongSession, with_older
from runtime.history.invocations import Invocation, PendingItem
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.event_pages import EventPages

COUNT = 300


async def failures(file: Path) -> list[int]:
    session = LongSession(str(file), SessionKey(APP, USER, SESSION), None)
    try:
        await session.open(lambda: None)
        await session.latest_invocations()
        return [place async for found in session.find_failures() for place in found]
    finally:
        session.close()


def fail(file: Path, place: int) -> None:
    with closing(sqlite3.connect(file)) as connection:
        (data,) = connection.execute("SELECT event_data FROM events WHERE rowid = ?", (place + 1,)).fetchone()
        data = json.dumps({**json.loads(data), "error_code": "429", "error_message": "slow down"})
        connection.execute("UPDATE events SET event_data = ? WHERE rowid = ?", (data, place + 1))
        connection.commit()


async def test_failures_are_searched_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "cache_folder", lambda _: tmp_path / "cache")
    monkeypatch.setattr(module, "WORTH_SAVING", 0)
    file = tmp_path / "long.db"
    write_database(file, COUNT)
    fail(file, 20)
    fail(file, 250)
    read: list[tuple[int, int]] = []
    rows_with = EventPages.rows_with

    def counted(pages: EventPages, condition: module.Found, first: int, end: int) -> list[tuple[int, object]]:
        read.append((first, end))
        return rows_with(pages, condition, first, end)

    monkeypatch.setattr(EventPages, "rows_with", counted)
    assert await failures(file) == [20, 250]
    assert await failures(file) == [20, 250]
    assert read == [(0, COUNT)]
    with closing(sqlite3.connect(file)) as connection:
        add_events(connection, COUNT, COUNT + 10)
    fail(file, COUNT + 5)
    assert await failures(file) == [20, 250, COUNT + 5]
    assert read == [(0, COUNT), (COUNT, COUNT + 10)]
    fail(file, COUNT + 9)  # the last event that was read has changed
    assert await failures(file) == [20, 250, COUNT + 5, COUNT + 9]
    assert read[-1] == (0, COUNT + 10)


async def test_a_state_that_is_no_longer_wanted_is_not_computed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "cache_folder", lambda _: tmp_path / "cache")
    file = tmp_path / "long.db"
    write_database(file, COUNT)
    session = LongSession(str(file), SessionKey(APP, USER, SESSION), None)
    try:
        events, _ = await session.open(lambda: None)
        await session.latest_invocations()
        await session.read_history(lambda read, count: None)
        assert await session.past_at(20, events, None, lambda: False) is None
        assert await session.past_at(20, events) is not None
    finally:
        session.close()


def test_what_the_newest_events_follow_is_past() -> None:
    broken = Invocation("one", "interrupted", "no agent answered", "0", "0", {}, (PendingItem("interrupted", "one"),))
    newest = Invocation("two", "finished", "the agent answered", "1", "9", {})
    assert [found.is_past for found in with_older([newest], [broken])] == [True, False]
