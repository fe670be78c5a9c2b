"""Conversion keeps all the data and does not change the old database."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from runtime.errors import NotASessionDatabaseError, StorageError
from runtime.events import Event, EventActions
from runtime.sessions import DatabaseSessionService, SessionKey, SqliteSessionService
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.writing.convert import convert
from tests.fixture_paths import copy_of, fixtures_dir, varied

HAND_MADE = sorted(f"hand/{path.name}" for path in (fixtures_dir() / "hand").glob("*.db"))
DATABASES = [f"open/{entry['file']}" for entry in varied()] + HAND_MADE


def everything(file: Path) -> tuple[dict[Any, Any], list[Any]]:
    with StoredDatabase.open(str(file)) as database:
        sessions: dict[Any, Any] = {}
        for summary in database.sessions():
            key = summary.key
            events = [json.loads(event.model_dump_json(exclude_none=True)) for event in database.events(key)]
            sessions[key] = (summary.event_count, database.state(key), events)
        order = database.read(
            lambda connection: connection.execute("SELECT app_name, user_id, session_id, id FROM events ORDER BY rowid").fetchall()
        )
        return sessions, order


def put_back(event: dict[str, Any]) -> dict[str, Any]:
    """Return an event with its unknown actions moved back."""
    moved = event.get("custom_metadata", {}).pop("inspector_unknown_actions", {})
    event["actions"].update(moved)
    if not event.get("custom_metadata"):
        event.pop("custom_metadata", None)
    return event


def backups(folder: Path) -> list[Path]:
    return list(folder.glob("*.backup*"))


def digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


@pytest.mark.sweep
@pytest.mark.parametrize("name", DATABASES)
def test_conversion_loses_nothing(name: str, tmp_path: Path) -> None:
    old, new = fixtures_dir() / name, tmp_path / "new.db"
    before = digest(old)
    done = convert(str(old), str(new), drops_unreadable="hostile" in name)
    assert digest(old) == before
    assert [path.name for path in tmp_path.iterdir()] == ["new.db"]
    (sessions, order), (converted, new_order) = everything(old), everything(new)
    for _, _, events in converted.values():
        events[:] = [put_back(event) for event in events]
    assert converted == sessions
    assert new_order == order
    assert (done.sessions, done.events) == (len(sessions), len(order))
    with StoredDatabase.open(str(new)) as database:
        assert (database.layout.kind, database.layout.ours, database.layout.note) == ("v1", True, None)


@pytest.mark.parametrize("name", ["open/adk1.18.0-v0-chat_tools.db", "hand/v0_hostile_pickle.db", "open/adk2.13.0-sqlite-chat_tools.db"])
async def test_the_new_file_can_be_continued(name: str, tmp_path: Path) -> None:
    file = tmp_path / "new.db"
    convert(str(fixtures_dir() / name), str(file), drops_unreadable="hostile" in name)
    with StoredDatabase.open(str(file)) as database:
        key = database.sessions()[0].key
        count = len(database.events(key))
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await service.get_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
        assert session is not None
        await service.append_event(session, Event(author="me", actions=EventActions(state_delta={"k": 1, "user:k": 2})))
    with StoredDatabase.open(str(file)) as database:
        history = database.history(key)
        assert len(history.events) == count + 1
        assert history.state_at(count).user["user:k"] == 2
    assert backups(tmp_path) == []


async def test_our_record_of_commits_is_converted(tmp_path: Path) -> None:
    old, new, key = tmp_path / "old.db", tmp_path / "new.db", SessionKey("a", "u", "s")
    async with SqliteSessionService(old) as service:
        session = await service.create_session(app_name="a", user_id="u", session_id="s", state={"first": 1, "app:first": [2]})
        for number in range(3):
            delta = {"k": number, "user:k": number, "temp:k": number}
            await service.append_event(session, Event(author="me", timestamp=5.0, actions=EventActions(state_delta=delta)))
    convert(str(old), str(new))
    with StoredDatabase.open(str(old)) as one, StoredDatabase.open(str(new)) as other:
        for index in range(-1, 3):
            assert other.history(key).state_at(index) == one.history(key).state_at(index)
            assert other.history(key).state_at(index).unknown == []


def test_existing_files_are_not_overwritten(tmp_path: Path) -> None:
    old = copy_of("open/adk1.18.0-v0-chat_tools.db", tmp_path)
    new = tmp_path / "new.db"
    new.write_text("mine")
    for taken in (new, old):
        with pytest.raises(StorageError, match="already exists"):
            convert(str(old), str(taken))
    assert new.read_text() == "mine"
    with pytest.raises(StorageError, match="cannot be created: the folder"):
        convert(str(old), str(tmp_path / "nowhere" / "new.db"))
    with pytest.raises(StorageError, match="no file"):
        convert(str(tmp_path / "nothing.db"), str(tmp_path / "x.db"))
    with pytest.raises(NotASessionDatabaseError):
        convert(str(tmp_path), str(tmp_path / "x.db"))
    assert sorted(path.name for path in tmp_path.iterdir()) == [old.name, "new.db"]


def test_a_damaged_state_is_refused(tmp_path: Path) -> None:
    old = copy_of("open/adk1.18.0-v0-chat_tools.db", tmp_path)
    old.chmod(0o644)
    connection = sqlite3.connect(old)
    connection.execute("UPDATE sessions SET state = '[1'")
    connection.commit()
    connection.close()
    with pytest.raises(StorageError, match="damaged"):
        convert(str(old), str(tmp_path / "new.db"))
    assert [path.name for path in tmp_path.iterdir()] == [old.name]


def test_a_newer_layout_is_read_but_not_converted(tmp_path: Path) -> None:
    old = copy_of("open/adk2.13.0-v1-chat_tools.db", tmp_path)
    old.chmod(0o644)
    connection = sqlite3.connect(old)
    connection.execute("UPDATE adk_internal_metadata SET value = '7'")
    connection.commit()
    connection.close()
    with StoredDatabase.open(str(old)) as database:
        assert database.layout.is_newer
        assert database.layout.note
        assert len(database.events(database.sessions()[0].key)) == 10
    with pytest.raises(StorageError, match="newer"):
        convert(str(old), str(tmp_path / "new.db"))
