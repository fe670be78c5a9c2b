"""Hand-made files: unusual ones are read, bad ones are refused with a reason."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from runtime.errors import NotASessionDatabaseError, SessionNotFoundError, StorageError
from runtime.errors.not_found_error import NotFoundError
from runtime.events import Event, EventActions
from runtime.sessions.session import SessionKey
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import copy_of, fixtures_dir

KEY = SessionKey("app", "u", "s")
READABLE = {
    "sqlite_by_hand.db": "nothing odd",
    "sqlite_no_state_rows.db": "no rows for the app and the user",
    "sqlite_unknown_key_in_actions.db": "google-adk cannot read the session: a key in actions that it does not know",
    "v1_by_hand.db": "nothing odd",
    "v1_camelCase_event_data.db": "the JSON has camelCase keys",
    "v1_metadata_table_without_row.db": "google-adk cannot open it: no schema version",
    "v1_minimal_event_data.db": "the JSON has the least that google-adk reads",
    "v1_no_app-user_state_rows.db": "google-adk reads it and cannot append: no rows for the app and the user",
    "v1_no_index.db": "no index",
    "v1_no_metadata_table.db": "no table with the schema version",
    "v1_no_timestamp_in_event_data.db": "times only in the column",
    "v1_numeric_timestamps.db": "times as numbers",
    "v1_timestamps_with_T.db": "times with a T",
    "v1_timestamps_with_offset.db": "times with an offset",
    "v1_timestamps_without_microseconds.db": "times without a fraction, which only the JSON has",
    "v1_unknown_key_in_actions.db": "google-adk cannot read the session: a key in actions that it does not know",
    "v1_unknown_key_in_event.db": "a key in an event that google-adk does not know, and leaves out",
    "v1_update_time_later_than_last_event.db": "the session was updated after its last event",
}
NOTES = {
    "v1_metadata_table_without_row.db": "has no schema_version, so google-adk refuses to open it",
    "v1_no_metadata_table.db": "has no table adk_internal_metadata",
}
LAST_UPDATE = {"v1_timestamps_without_microseconds.db": 1795000004.0, "v1_update_time_later_than_last_event.db": 1795000100.125}
LACKS_STATE_ROWS = {"sqlite_no_state_rows.db", "v1_no_app-user_state_rows.db"}


def backups(folder: Path) -> list[Path]:
    return list(folder.glob("*.backup-*"))


def test_every_hand_made_file_is_covered() -> None:
    files = {path.name for path in (fixtures_dir() / "hand").glob("*.db")}
    assert files == {*READABLE, "v0_hostile_pickle.db"}


@pytest.mark.parametrize("name", READABLE)
def test_unusual_files_read_like_normal_ones(name: str) -> None:
    with StoredDatabase.open(str(fixtures_dir() / "hand" / name)) as database:
        assert database.layout.kind == name.split("_")[0]
        shared = {} if name in LACKS_STATE_ROWS else {"app:a": 1, "user:b": 2}
        assert database.state(KEY) == {"k": 1, "ключ": "значение", **shared}
        events = database.events(KEY)
        assert [event.id for event in events] == ["hand-0", "hand-1", "hand-2", "hand-3", "hand-4"]
        assert [event.invocation_id for event in events] == ["e-hand-1"] * 5
        assert [event.author for event in events][:2] == ["user", "pipe"]
        assert [event.timestamp for event in events] == [1795000000.125 + number for number in range(5)]
        assert database.sessions()[0].last_update_time == LAST_UPDATE.get(name, 1795000004.125)
        assert database.layout.note is None if name not in NOTES else NOTES[name] in (database.layout.note or "")
        assert events[0].content and events[0].content.parts and events[0].content.parts[0].text == "hello"
        assert events[1].actions.agent_state == {"current_sub_agent": "one"}


@pytest.mark.parametrize("name", READABLE)
async def test_unusual_files_are_continued_in_their_layout(name: str, tmp_path: Path) -> None:
    file = copy_of(f"hand/{name}", tmp_path)
    file.chmod(0o644)
    async with open_session_service(str(file)) as service:
        session = await service.get_session(app_name="app", user_id="u", session_id="s")
        assert session is not None
        before = len(session.events)
        await service.append_event(session, Event(author="me", actions=EventActions(state_delta={"k": 2, "user:b": 3})))
        again = await service.get_session(app_name="app", user_id="u", session_id="s")
    assert again is not None
    assert len(again.events) == before + 1
    assert (again.state["k"], again.state["user:b"]) == (2, 3)
    with StoredDatabase.open(str(file)) as database:
        assert database.layout.kind == name.split("_")[0]
        assert database.layout.ours
    assert len(backups(tmp_path)) == 1


def test_a_hostile_pickle_is_shown_and_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with StoredDatabase.open(str(fixtures_dir() / "hand" / "v0_hostile_pickle.db")) as database:
        assert database.layout.kind == "v0"
        events = database.events(KEY)
        history = database.history(KEY)
    assert list(tmp_path.iterdir()) == []
    assert [event.id for event in events] == ["e0", "e1", "e2", "e3"]
    assert [event.content and event.content.parts and event.content.parts[0].text for event in events] == [f"event {n}" for n in range(4)]
    assert events[0].actions.state_delta == {"a": 1}
    reasons = [(event.custom_metadata or {})["inspector_unreadable"]["actions"]["reason"] for event in events[1:]]
    assert "posix.mkdir" in reasons[0]
    assert all("damaged" in reason or "opcode" in reason for reason in reasons[1:])
    # The file's stored state lacks the value that its event wrote.
    assert history.state_at(0).unknown == ["a"]


def test_unknown_fields_keep_their_place() -> None:
    with StoredDatabase.open(str(fixtures_dir() / "hand" / "v1_unknown_key_in_actions.db")) as database:
        assert json.loads(database.events(KEY)[1].model_dump_json())["actions"]["our_own_field"] == 1
    with StoredDatabase.open(str(fixtures_dir() / "hand" / "v1_unknown_key_in_event.db")) as database:
        assert json.loads(database.events(KEY)[1].model_dump_json())["our_own_field"] == {"x": 1}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty file"),
        (b"this is a letter to my aunt, not a database. " * 100, "is a text file"),
        (b"SQLite format 3\x00" + b"\x00" * 100, "x.db"),
    ],
)
def test_files_that_are_not_databases_are_refused(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "x.db"
    file.write_bytes(content)
    with pytest.raises(StorageError, match=words):
        StoredDatabase.open(str(file))
    assert file.read_bytes() == content


def test_a_foreign_database_is_refused_with_its_table_names(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE recipes(name)")
    connection.commit()
    connection.close()
    with pytest.raises(NotASessionDatabaseError, match="recipes"):
        StoredDatabase.open(str(file))
    with pytest.raises(NotASessionDatabaseError, match="recipes"):
        open_session_service(str(file))


def test_a_missing_file_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="no file"):
        StoredDatabase.open(str(tmp_path / "x.db"))
    with pytest.raises(NotASessionDatabaseError, match="folder"):
        StoredDatabase.open(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_a_truncated_file_is_reported_as_damaged(tmp_path: Path) -> None:
    file = copy_of("open/adk2.13.0-v1-chat_tools.db", tmp_path)
    file.chmod(0o644)
    file.write_bytes(file.read_bytes()[:30_000])
    with pytest.raises(StorageError, match="damaged"), StoredDatabase.open(str(file)) as database:
        for summary in database.sessions():
            database.events(summary.key)


def test_a_missing_session_or_event_is_reported() -> None:
    with StoredDatabase.open(str(fixtures_dir() / "hand" / "v1_by_hand.db")) as database:
        with pytest.raises(SessionNotFoundError, match="no session x of user u in app app"):
            database.events(SessionKey("app", "u", "x"))
        with pytest.raises(NotFoundError, match="no event x"):
            database.events(KEY, after="x")


def test_events_returns_the_requested_page() -> None:
    with StoredDatabase.open(str(fixtures_dir() / "hand" / "v1_by_hand.db")) as database:
        events = database.events(KEY)
        assert database.events(KEY, after="hand-0", limit=2) == events[1:3]
        assert database.events(KEY, after=events[-1].id) == []
