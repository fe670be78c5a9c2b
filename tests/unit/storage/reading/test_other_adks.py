"""Databases of the ADKs for TypeScript and Go read as what their writers appended, and are never written."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from runtime.errors import StorageError
from runtime.events import Event
from runtime.sessions import DatabaseSessionService
from runtime.sessions.session import SessionKey
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.names import StoredNames
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.reading.search_index import SearchIndex
from runtime.storage.tail.file_tail import FileTail
from runtime.storage.writing.convert import convert
from tests.fixture_paths import fixtures_dir
from tests.go_databases import KEY, go_database

FOLDER = fixtures_dir() / "other-adks"
FILES = sorted(path.stem for path in FOLDER.glob("*.db"))
MIXED = "google2.0.0-appended-to-v1"  # by a converter that could not read the actions; its reader changes keys in arguments
SHOP = SessionKey(*KEY)


def expected(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.expected.json").read_text("utf-8"))
    return found


def opened(name: str) -> StoredDatabase:
    return StoredDatabase.open(str(FOLDER / f"{name}.db"))


def plain(event: Event) -> dict[str, Any]:
    """Return an event's JSON, without what writers leave out if it is empty."""
    data = json.loads(event.model_dump_json(exclude_none=True))
    data["actions"] = {name: value for name, value in data["actions"].items() if value not in ({}, None)}
    data["long_running_tool_ids"] = sorted(data.get("long_running_tool_ids") or [])
    return data


def as_appended(data: dict[str, Any], *, milliseconds: bool) -> dict[str, Any]:
    text = json.dumps({**data, "timestamp": data["timestamp"] / (1000 if milliseconds else 1)})
    return plain(Event.model_validate_json(text.replace("\\ud83d lone", "\\ufffd lone")))  # which UTF-8 cannot represent


@pytest.mark.parametrize("name", FILES)
def test_events_are_those_that_were_appended_in_that_order(name: str) -> None:
    wanted = expected(name)
    appended: dict[SessionKey, list[str]] = {}
    for app, user, session, event_id in wanted["appendOrder"]:
        appended.setdefault(SessionKey(app, user, session), []).append(event_id)
    returned = {event["id"]: event for session in wanted["sessions"] for event in session["events"]}
    with opened(name) as database:
        assert database.layout.kind == ("typescript" if name.startswith("google") else "adk-ts")
        listed = {summary.key: summary for summary in database.sessions()}
        assert set(listed) == {SessionKey(each["appName"], each["userId"], each["id"]) for each in wanted["sessions"]}
        for key, summary in listed.items():
            events = database.events(key)
            if wanted["appendOrder"]:
                assert [event.id for event in events] == appended.get(key, [])
            assert summary.event_count == len(events)
            if name == MIXED:
                continue
            for event in events:
                found, wanted_event = plain(event), as_appended(returned[event.id], milliseconds=name.startswith("google"))
                if name.startswith("google0.4.0"):  # it changes the keys in metadata
                    assert ("custom_metadata" in found) == ("custom_metadata" in wanted_event)
                    wanted_event["custom_metadata"] = found["custom_metadata"] = None
                assert found == wanted_event


@pytest.mark.parametrize("name", FILES)
def test_state_and_times_are_those_of_the_writer(name: str) -> None:
    unit = 1000 if name.startswith("google") else 1
    with opened(name) as database:
        for session in expected(name)["sessions"]:
            key = SessionKey(session["appName"], session["userId"], session["id"])
            assert database.state(key) == session["state"]
            (summary,) = (each for each in database.sessions() if each.key == key)
            assert summary.last_update_time == session["lastUpdateTime"] / unit
            assert 1795364000 < database.created(key) < 1795366000


@pytest.mark.parametrize("name", FILES)
def test_code_that_only_reads_gets_the_same_events(name: str) -> None:
    with opened(name) as database:
        for summary in database.sessions():
            events = database.events(summary.key)
            read = list(database.plain_events(summary.key))
            pages = database.pages(summary.key, summary.event_count)
            paged = [pages.decode(row) for row in pages.rows(0, len(pages))]
            for event, light, row in zip(events, read, paged, strict=True):
                assert plain(light) == plain(event) == plain(row)
            assert [plain(event) for event in database.newest_events(summary.key, 3)] == [*map(plain, events[-3:])]
            if len(events) >= 2_000:
                later = database.plain_events(summary.key, after=events[10].id, limit=1_985)
                assert [event.id for event in later] == [event.id for event in events[11:1_996]]
            steps = pages.read(0, len(pages))
            assert [dict(step.delta) for step in steps] == [event.actions.state_delta for event in events] or name == MIXED


@pytest.mark.parametrize("name", ["google0.4.0-state", "google2.0.0-state", "go-pascal", "go-camel"])
def test_the_state_after_the_last_event_is_the_stored_one(name: str, tmp_path: Path) -> None:
    with _any(name, tmp_path) as database:
        for summary in database.sessions():
            history = database.history(summary.key)
            long = database.long_history(summary.key, database.pages(summary.key))
            while not long.is_read:
                long.read_on()
            last = history.state_at(len(history.events) - 1)
            unknown = {"app:tier", "user:lang"} & set(last.unknown)  # given to a session that was created later, for all that is recorded
            stored = {key: value for key, value in database.state(summary.key).items() if not key.startswith("temp:")}
            assert last.merged() == {key: value for key, value in stored.items() if key not in unknown}
            assert long.state_at(len(history.events) - 1).merged() == last.merged()


def _any(name: str, folder: Path) -> StoredDatabase:
    if name.startswith("go-"):
        return StoredDatabase.open(str(go_database(folder / "go.db", camel=name == "go-camel")))
    return opened(name)


def test_a_delta_of_typescript_is_seen_at_each_event() -> None:
    key = SessionKey("state_app", "bob", "st-1")
    with opened("google2.0.0-state") as database:
        history = database.history(key)
        assert history.state_at(2).merged()["plain_key"] == "from tool"
        assert history.state_at(4).merged()["plain_key"] is None
        assert [write.after for write in database.writes(key, "user:favourite_city")] == ["Lyon", "Nice"]


def test_long_running_calls_without_a_result_are_pending() -> None:
    for name in ("google0.4.0-long_running", "google2.0.0-long_running"):
        with opened(name) as database:
            found = [(item.kind, item.name, item.call_id) for items in database.pending().values() for item in items]
            assert ("long_running", "ask_approval", "fc-none") in found, found


def test_an_interrupted_run_is_pending() -> None:
    for name in ("google2.0.0-interrupted", "iqai0.5.9-interrupted"):
        with opened(name) as database:
            assert [item.kind for items in database.pending().values() for item in items] == ["interrupted"]


@pytest.mark.parametrize("camel", [False, True])
def test_a_file_of_adk_go_is_read(tmp_path: Path, camel: bool) -> None:
    """Not verified against the real writer."""
    with StoredDatabase.open(str(go_database(tmp_path / "go.db", camel=camel))) as database:
        assert (database.layout.kind, database.layout.note, database.layout.is_newer) == ("adk-go", None, False)
        first, call, result = database.events(SHOP)
        assert [event.id for event in (first, call, result)] == ["g1", "g2", "g3"]
        assert [event.timestamp for event in (first, call, result)] == [1792889999.5, 1792890000.000001, 1792890001.0]
        assert database.created(SHOP) == 1792889999.123456
        assert first.content and first.content.parts and first.content.parts[0].text == "buy <b>"
        assert call.get_function_calls()[0].args == {"orderId": 7, "max_amount": 42}
        assert call.long_running_tool_ids == {"c1"}
        assert call.usage_metadata and call.usage_metadata.total_token_count == 16
        assert call.custom_metadata is not None and call.custom_metadata["traceId"] == "t"
        assert (call.custom_metadata.get("routes") == ["next"]) == camel
        assert call.actions.state_delta == {"cart": ["<b>"], "user:tier": "gold"}
        assert result.actions.artifact_delta == {"bill.pdf": 3}
        assert result.get_function_responses()[0].response == {"statusCode": "pending"}
        if not camel:
            assert result.actions.requested_tool_confirmations["c1"].hint == "Charge?"
        assert database.state(SHOP) == {"cart": ["<b>"], "total": 42, "app:open": True, "user:tier": "gold"}
        assert [*map(plain, database.plain_events(SHOP))] == [*map(plain, database.events(SHOP))]


@pytest.mark.parametrize("name", [*FILES, "go-pascal", "go-camel"])
def test_a_converted_file_reads_the_same_and_can_be_continued(name: str, tmp_path: Path) -> None:
    with _any(name, tmp_path) as database:
        old = str(tmp_path / "go.db") if name.startswith("go-") else str(FOLDER / f"{name}.db")
        done = convert(old, str(tmp_path / "new.db"), drops_unreadable=name == MIXED)
        assert done.layout.kind == database.layout.kind
        with StoredDatabase.open(str(tmp_path / "new.db")) as new:
            assert new.layout.kind == "v1" and new.layout.ours
            for summary in database.sessions():
                assert new.state(summary.key) == database.state(summary.key)
                assert new.created(summary.key) == database.created(summary.key)
                if name != MIXED:
                    assert [*map(plain, new.events(summary.key))] == [*map(plain, database.events(summary.key))]
    with closing(sqlite3.connect(tmp_path / "new.db")) as connection, connection:
        times = {kind for (kind,) in connection.execute("SELECT typeof(timestamp) FROM events")}
        assert times <= {"text"}


@pytest.mark.parametrize("name", ["google2.0.0-state", MIXED, "iqai0.5.9-chat_tools"])
async def test_writing_is_refused_before_anything_is_written(name: str, tmp_path: Path) -> None:
    file = Path(shutil.copy(FOLDER / f"{name}.db", tmp_path))
    before = _content(tmp_path)
    with pytest.raises(StorageError, match=r"is read-only here\. Convert it into a new file: agent-inspector convert .*new\.db"):
        open_session_service(str(file))
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        for work in (
            service.create_session(app_name="a", user_id="u"),
            service.get_session(app_name="a", user_id="u", session_id="s"),
            service.delete_session(app_name="weather_app", user_id="alice", session_id="chat-1"),
        ):
            with pytest.raises(StorageError, match="is read-only here"):
                await work
    assert _content(tmp_path) == before


def _content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_file_of_google_adk_with_one_millisecond_time_is_read_only(tmp_path: Path) -> None:
    """Versions of @google/adk may append without declaring their own column types first."""
    file = Path(shutil.copy(fixtures_dir() / "hand" / "v1_by_hand.db", tmp_path))
    file.chmod(0o644)
    key = SessionKey("app", "u", "s")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(
            "INSERT INTO events SELECT 'ts', app_name, user_id, session_id, invocation_id, 1795000009371,"
            " json_set(event_data, '$.id', 'ts', '$.timestamp', 1795000009371) FROM events WHERE id = 'hand-4'"
        )
    with StoredDatabase.open(str(file)) as database:
        assert database.layout.kind == "typescript"
        assert "different kinds of times" in (database.layout.note or "")
        assert [event.timestamp for event in database.events(key)][-2:] == [1795000004.125, 1795000009.371]
    with pytest.raises(StorageError, match="read-only"):
        open_session_service(str(file))


def test_mixed_times_are_compared_as_times(tmp_path: Path) -> None:
    """As SQL values, every text is later than every integer."""
    file = Path(shutil.copy(FOLDER / f"{MIXED}.db", tmp_path))
    key = SessionKey("weather_app", "alice", "chat-1")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(
            "INSERT INTO sessions VALUES ('weather_app', 'alice', 'old', '{}', '2026-11-22 16:00:00', '2026-11-22 16:00:00')"
        )
    with StoredDatabase.open(str(file)) as database:
        pages = database.pages(key)
        assert database.state_after(key, pages) is not None
        assert [summary.key.session_id for summary in database.sessions()] == ["chat-1", "old"]
    with StoredNames(str(file)) as names:
        assert [session for _, _, session in names.sessions()] == ["chat-1", "old"]


@pytest.mark.parametrize("name", ["google2.0.0-chat_tools", "iqai0.5.9-chat_tools"])
def test_words_are_found_and_the_tail_reports_the_events(name: str, tmp_path: Path) -> None:
    index = SearchIndex(str(FOLDER / f"{name}.db"), tmp_path / "index")
    index.update(lambda _done, _total: True)
    hits = index.search("clouds", 10)
    index.close()
    key = SessionKey("weather_app", "alice", "chat-1")
    assert hits and {hit.key for hit in hits} == {key}
    assert all(1795364000 < hit.timestamp < 1795366000 for hit in hits)
    tail = FileTail(FOLDER / f"{name}.db")
    tail.follow(key)
    changes = tail.poll()
    tail.close()
    with opened(name) as database:
        assert [*map(plain, changes.events)] == [*map(plain, database.events(key))]
        assert changes.changed == database.sessions()
