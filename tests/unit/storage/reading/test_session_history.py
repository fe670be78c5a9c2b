"""What is known of a session that has not begun, in a database of another program."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.genai import types

from runtime.events import Event, EventActions
from runtime.sessions.database_session_service import DatabaseSessionService
from runtime.sessions.lineage import SessionCopy
from runtime.sessions.session import SessionKey
from runtime.sessions.sqlite_session_service import SqliteSessionService
from runtime.storage.connections import sqlite_file
from runtime.storage.layouts.table_names import COMMITS
from runtime.storage.reading.reader import StoredDatabase
from tests.unit.storage.tail.sql_writer import SqlWriter

KEY = SessionKey("shop", "maria", "new")


@pytest.fixture(params=[DatabaseSessionService, SqliteSessionService])
async def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a file without our record: another session has set shared keys, and one has only been created."""
    file = tmp_path / "some.db"
    async with request.param(f"sqlite:///{file}" if request.param is DatabaseSessionService else str(file)) as service:
        old = await service.create_session(app_name="shop", user_id="maria", session_id="old", state={"app:currency": "EUR"})
        await service.append_event(old, _event({"user:language": "pt"}))
        await service.create_session(app_name="shop", user_id="maria", session_id="new", state={"cart": []})
    writer = SqlWriter(file)
    writer.run(f"DROP TABLE {COMMITS}")
    writer.close()
    return file


def _event(delta: dict[str, object]) -> Event:
    return Event(author="agent", invocation_id="i", actions=EventActions(state_delta=delta))


def test_the_first_event_of_a_new_session_finds_known_values(file: Path) -> None:
    with StoredDatabase.open(str(file)) as database:
        assert not database.layout.ours
        history = database.history(KEY)
    history.append(_event({"cart": [1], "total": 3, "user:language": "es", "user:name": "M", "app:currency": "USD", "app:vat": 7}))
    assert [(change.key, change.before, change.kind) for change in history.delta_at(0)] == [
        ("cart", [], "changed"),
        ("total", None, "added"),
        ("user:language", "pt", "changed"),
        ("user:name", None, "added"),
        ("app:currency", "EUR", "changed"),
        ("app:vat", None, "added"),
    ]
    state = history.state_at(0)
    assert (state.session, state.unknown) == ({"cart": [1], "total": 3}, [])
    assert (state.user, state.app) == ({"user:language": "es", "user:name": "M"}, {"app:currency": "USD", "app:vat": 7})


async def test_what_a_begun_session_had_before_is_not_guessed(file: Path) -> None:
    writer = SqlWriter(file)
    writer.run(
        "INSERT INTO events (id, app_name, user_id, session_id, invocation_id, timestamp, event_data) VALUES ('e', 'shop', 'maria', 'new',"
        """ 'i', '2026-01-01 00:00:00', '{"author": "agent", "actions": {"state_delta": {"cart": [1]}}}')"""
    )
    writer.close()
    with StoredDatabase.open(str(file)) as database:
        assert [change.kind for change in database.history(KEY).delta_at(0)] == ["written"]


async def test_a_session_whose_creation_is_not_recorded_has_the_same_past_in_pages(tmp_path: Path) -> None:
    file = tmp_path / "some.db"
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        new = await service.create_session(app_name="shop", user_id="maria", session_id="new")
        other = await service.create_session(app_name="shop", user_id="maria", session_id="other")
        for session, delta in ((new, {"cart": [1]}), (other, {"user:language": "pt"}), (new, {"cart": [2]}), (other, {"app:vat": 7})):
            await service.append_event(session, _event(delta))
    writer = SqlWriter(file)
    writer.run(f"DELETE FROM {COMMITS} WHERE event_id IS NULL")
    writer.close()
    with StoredDatabase.open(str(file)) as database:
        whole, long = database.history(KEY), database.long_history(KEY, database.pages(KEY))
    assert [(write.before, write.delta) for write in whole.writes_before(9)] == [(1, {"user:language": "pt"}), (2, {"app:vat": 7})]
    assert long.writes_before(9) == whole.writes_before(9)


async def test_the_decoding_of_many_events_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_file, "_PATIENCE", 0.3)  # seconds: less than decoding takes, and more than reading
    monkeypatch.setattr(sqlite_file, "_BYTES_PER_SECOND", 1e12)
    said = types.Content(role="model", parts=[types.Part(text="x")] * 40)
    events = [Event(id=str(number), author="a", invocation_id="i", timestamp=1.0, content=said) for number in range(3_000)]
    async with DatabaseSessionService(f"sqlite:///{tmp_path / 'many.db'}") as service:
        copy = SessionCopy(events, {}, baseline={}, user={}, app={}, shared=[], temp={}, created=1.0, lineage=None)
        await service.store_copy(KEY, copy)
    with StoredDatabase.open(str(tmp_path / "many.db")) as database:
        assert len(database.history(KEY)) == 3_000
