"""Databases of a newer google-adk are read as far as possible, reported as newer, and written only where that is safe."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from runtime.errors import StaleSessionError, StorageError
from runtime.events import Event
from runtime.sessions import DatabaseSessionService, SqliteSessionService
from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.writing.convert import convert
from tests.fixture_paths import copy_of

KEY = SessionKey("trip_planner", "maria", "s-1")
NAMES: dict[str, Any] = {"app_name": "trip_planner", "user_id": "maria", "session_id": "s-1"}
STRICT = """
    ALTER TABLE events RENAME TO old;
    CREATE TABLE events (id TEXT, app_name TEXT, user_id TEXT, session_id TEXT, invocation_id TEXT, timestamp, event_data,
        mood TEXT NOT NULL, PRIMARY KEY (id, app_name, user_id, session_id));
    INSERT INTO events SELECT id, app_name, user_id, session_id, invocation_id, timestamp, event_data, 'calm' FROM old ORDER BY old.rowid;
    DROP TABLE old;
"""


def changed(folder: Path, change: str, layout: str = "v1") -> Path:
    file = copy_of(f"open/adk2.13.0-{layout}-chat_tools.db", folder)
    file.chmod(0o644)
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(change)
    return file


def files(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def read(file: Path, *, is_newer: bool = False) -> tuple[list[Event], str]:
    """Return the events and the note on the layout."""
    with StoredDatabase.open(str(file)) as database:
        assert database.layout.is_newer == is_newer
        assert database.history(KEY).state_at(9).merged() == database.state(KEY)
        return database.events(KEY), database.layout.note or ""


async def test_a_newer_version_is_read_but_not_written(tmp_path: Path) -> None:
    file = changed(tmp_path, "UPDATE adk_internal_metadata SET value = '7'")
    before = file.read_bytes()
    events, note = read(file, is_newer=True)
    assert len(events) == 10
    assert "version 7" in note
    with pytest.raises(StorageError, match="newer than this program"):
        convert(str(file), str(tmp_path / "new.db"))
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        with pytest.raises(StorageError, match=r"version 7, which this program does not know\. It can only be read"):
            await service.create_session(app_name="a", user_id="u")
    assert file.read_bytes() == before
    assert files(tmp_path) == [file.name]


@pytest.mark.parametrize("layout", ["v1", "sqlite"])
async def test_an_unknown_nullable_column_is_kept(layout: str, tmp_path: Path) -> None:
    file = changed(tmp_path, "ALTER TABLE events ADD COLUMN mood TEXT; UPDATE events SET mood = 'calm'", layout)
    events, note = read(file)
    assert len(events) == 10
    assert "mood" in note
    convert(str(file), str(tmp_path / "new.db"))
    assert len(read(tmp_path / "new.db")[0]) == 10, "the owner's column is not google-adk's"
    service = DatabaseSessionService(f"sqlite:///{file}") if layout == "v1" else SqliteSessionService(file)
    async with service:
        session = await service.get_session(**NAMES)
        assert session is not None
        await service.append_event(session, Event(author="me"))
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT mood, count(*) FROM events GROUP BY mood ORDER BY mood").fetchall() == [(None, 1), ("calm", 10)]


async def test_an_unknown_required_column_is_reported_and_nothing_is_written(tmp_path: Path) -> None:
    file = changed(tmp_path, STRICT)
    events, note = read(file)
    assert len(events) == 10
    assert "mood" in note
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await service.get_session(**NAMES)
        assert session is not None
        with pytest.raises(StorageError, match=r"events\.mood") as caught:
            await service.append_event(session, Event(author="me"))
        assert not isinstance(caught.value, StaleSessionError)
        assert list(session.events) == events
        again = await service.get_session(**NAMES)
        assert again is not None
        assert list(again.events) == events


def test_unknown_fields_at_every_depth_are_kept_unchanged(tmp_path: Path) -> None:
    unknown = {"$.mood": '"calm"', "$.actions.mood": "[1]", "$.content.mood": "2", "$.content.parts[0].mood": '{"x": null}'}
    pairs = ", ".join(f"'{path}', json('{value}')" for path, value in unknown.items())
    file = changed(tmp_path, f"UPDATE events SET event_data = json_set(event_data, {pairs}) WHERE rowid <= 4")
    with StoredDatabase.open(str(file)) as database:
        events = database.events(KEY)
    for event in events[:4]:
        shown = json.loads(event.model_dump_json())
        assert (shown["mood"], shown["actions"]["mood"], shown["content"]["mood"]) == ("calm", [1], 2)
        assert shown["content"]["parts"][0]["mood"] == {"x": None}
    assert "mood" not in json.loads(events[4].model_dump_json())


def test_fields_of_an_unexpected_type_are_kept(tmp_path: Path) -> None:
    odd = "json_set(event_data, '$.content', 'a text', '$.actions.state_delta', json('[1]'), '$.partial', json('{}'))"
    file = changed(tmp_path, f"UPDATE events SET event_data = {odd} WHERE rowid = 2")
    with StoredDatabase.open(str(file)) as database:
        events = database.events(KEY)
        database.history(KEY).state_at(9)
    shown = json.loads(events[1].model_dump_json())
    assert shown["content"] == "a text"
    assert "[1]" in events[1].model_dump_json()
    assert len(events) == 10
