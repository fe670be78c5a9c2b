"""The pending items found from a few JSON fields equal those found by decoding every event."""

from __future__ import annotations

import json
import random
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from bench.generated import write_database
from runtime.events import Event, EventActions
from runtime.history.invocations import PendingItem, pending_items
from runtime.sessions import DatabaseSessionService, SqliteSessionService
from runtime.sessions.session import SessionKey
from runtime.storage.reading import pending_rows as module
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.reading.saved_scan import SavedScan
from tests.fixture_paths import copy_of, fixtures_dir, manifest
from tests.sweep import count

HAND_MADE = sorted(f"hand/{path.name}" for path in (fixtures_dir() / "hand").glob("*.db"))
DATABASES = [f"open/{entry['file']}" for entry in manifest()] + HAND_MADE
WITH_JSON = [f"open/{entry['file']}" for entry in manifest() if entry["layout"] != "v0"]


def by_reading_everything(database: StoredDatabase) -> dict[SessionKey, list[PendingItem]]:
    found = {summary.key: pending_items(database.events(summary.key)) for summary in database.sessions()}
    return {key: items for key, items in found.items() if items}


def check(file: Path) -> int:
    """Compare both ways, and return the number of pending items."""
    with StoredDatabase.open(str(file)) as database:
        expected = by_reading_everything(database)
        assert {key: items for key, items in database.pending().items() if items} == expected
        for key, items in expected.items():
            assert database.pending(key) == {key: items}
        return sum(map(len, expected.values()))


def test_every_fixture_has_the_same_pending_items_both_ways() -> None:
    found = [check(fixtures_dir() / name) for name in DATABASES]
    assert sum(found) > 50
    sys.stderr.write(f"{len(DATABASES)} databases: {sum(found)} pending items in {sum(map(bool, found))} of them\n")


def said(*parts: types.Part, author: str = "me", invocation: str = "i", **more: Any) -> Event:
    return Event(author=author, invocation_id=invocation, content=types.Content(role="model", parts=list(parts)) if parts else None, **more)


TEXT = types.Part(text="done")
CALL = types.Part(function_call=types.FunctionCall(id="c", name="f"))
ODD_ARGS = {"toolConfirmation": "sure?", "originalFunctionCall": {"id": {"x": 1}, "name": 5}}
ODD_REQUEST = types.Part(function_call=types.FunctionCall(id="r", name="adk_request_confirmation", args=ODD_ARGS))
RESULT = types.Part(function_response=types.FunctionResponse(id="c", name="f", response={}))
CASES: dict[str, tuple[int, list[Event]]] = {
    "answered": (0, [said(TEXT)]),
    "a call and its result": (0, [said(CALL), said(RESULT), said(TEXT)]),
    "a result without an answer after it": (1, [said(CALL), said(RESULT)]),
    "a call without a result": (1, [said(CALL), said(TEXT)]),
    "a call whose result has another invocation id": (0, [said(CALL), said(RESULT, invocation="own"), said(TEXT)]),
    "a result with another invocation id, and no answer": (1, [said(CALL), said(RESULT, invocation="own")]),
    "a call that the user answers in a later turn": (
        0,
        [said(CALL), said(TEXT), said(RESULT, author="user", invocation="j"), said(TEXT, invocation="j")],
    ),
    "an error after the answer": (1, [said(TEXT), said(error_code="429")]),
    "an error before the answer": (0, [said(error_code="429"), said(TEXT)]),
    "a long-running call, then an answer": (1, [said(CALL, long_running_tool_ids={"c"}), said(TEXT)]),
    "the same, marked": (1, [said(CALL, long_running_tool_ids={"c"}, custom_metadata={"x": 1}), said(TEXT)]),
    "the same, rewound": (
        0,
        [
            said(CALL, long_running_tool_ids={"c"}),
            said(author="user", invocation="j", actions=EventActions(rewind_before_invocation_id="i")),
        ],
    ),
    "a checkpoint": (1, [said(actions=EventActions(agent_state={"x": 1})), said(TEXT)]),
    "a checkpoint and the end": (0, [said(actions=EventActions(agent_state={"x": 1})), said(actions=EventActions(end_of_agent=True))]),
    "an end after an author without a name": (1, [said(TEXT, author=""), said(actions=EventActions(end_of_agent=True))]),
    "a request of an unusual kind": (1, [said(ODD_REQUEST, long_running_tool_ids={"r"})]),
    "a finished one continues after another": (1, [said(TEXT), said(TEXT, invocation="j"), said(CALL)]),
    "a finished one continues and is finished again": (0, [said(TEXT), said(TEXT, invocation="j"), said(CALL), said(RESULT), said(TEXT)]),
    "one is rewound, the one before has a pending item": (
        1,
        [
            said(CALL, long_running_tool_ids={"c"}),
            said(TEXT, invocation="j"),
            said(author="user", invocation="k", actions=EventActions(rewind_before_invocation_id="j")),
        ],
    ),
    "an answer to a long-running call, and nothing after it": (1, [said(CALL, long_running_tool_ids={"c"}), said(RESULT, author="user")]),
    "a message after the answer": (1, [said(TEXT), said(TEXT, author="user")]),
    "an answer after the message after the answer": (0, [said(TEXT), said(TEXT, author="user"), said(TEXT)]),
    "an empty message after the answer": (1, [said(TEXT), said(types.Part(text=""), author="user")]),
    "the end of another agent": (1, [said(CALL), said(author="you", actions=EventActions(end_of_agent=True))]),
}


@pytest.mark.parametrize("layout", ["v1", "sqlite"])
@pytest.mark.parametrize("name", CASES)
async def test_a_session_has_the_expected_pending_items(name: str, layout: str, tmp_path: Path) -> None:
    expected, events = CASES[name]
    file = tmp_path / "x.db"
    async with DatabaseSessionService(f"sqlite:///{file}") if layout == "v1" else SqliteSessionService(file) as service:
        session = await service.create_session(app_name="a", user_id="u")
        for event in [said(TEXT, author="user"), *events]:
            await service.append_event(session, event.model_copy(deep=True, update={"id": ""}))
        assert check(file) == expected
        await service.append_event(session, said(TEXT, invocation="after it"))
    assert check(file) == expected


@pytest.mark.parametrize("name", CASES)
async def test_a_saved_scan_is_continued(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WORTH_SAVING", 0)
    file, cache = tmp_path / "x.db", tmp_path / "cache"
    read: list[int] = []
    async with SqliteSessionService(file) as service:
        session = await service.create_session(app_name="a", user_id="u")
        for number, event in enumerate([said(TEXT, author="user"), *CASES[name][1]]):
            await service.append_event(session, event.model_copy(deep=True, update={"id": ""}))
            with StoredDatabase.open(str(file)) as database:
                assert _with_items(database.pending(cache=cache)) == by_reading_everything(database)
                assert _with_items(database.pending(cache=cache)) == by_reading_everything(database)
                found = SavedScan(cache, file).load(database._file)
            assert found is not None and found.last == number + 1
            read.append(found.last)
    assert read == [*range(1, len(read) + 1)]


def _with_items(found: dict[SessionKey, list[PendingItem]]) -> dict[SessionKey, list[PendingItem]]:
    return {key: items for key, items in found.items() if items}


@pytest.mark.sweep
def test_every_prefix_of_a_fixture_has_the_same_pending_items_both_ways(tmp_path: Path) -> None:
    chance, tried, items = random.Random(5), 0, 0
    names = chance.sample(WITH_JSON, count(quick=5, full=len(WITH_JSON)))
    for name in names:
        file = copy_of(name, tmp_path)
        file.chmod(0o644)
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            while connection.execute("DELETE FROM events WHERE rowid = (SELECT max(rowid) FROM events)").rowcount:
                items += check(file)
                tried += 1
    sys.stderr.write(f"{tried} prefixes of {len(names)} databases: {items} pending items\n")


def _camel(value: Any, _chance: random.Random) -> Any:
    head, *rest = value.split("_")
    return head + "".join(word.title() for word in rest)


STEPS: list[tuple[list[types.Part], dict[str, Any]]] = [
    *(([part], {}) for part in (TEXT, CALL, RESULT)),
    ([], {}),
    ([], {"actions": EventActions(end_of_agent=True)}),
    ([], {"actions": EventActions(agent_state={"x": 1})}),
    ([], {"error_code": "429"}),
]


@pytest.mark.sweep
async def test_interleaved_invocations_have_the_same_pending_items_both_ways(tmp_path: Path) -> None:
    chance, cases, items = random.Random(3), count(quick=60, full=3_000), 0
    for number in range(cases):
        file = tmp_path / f"{number}.db"
        async with DatabaseSessionService(f"sqlite:///{file}") as service:
            session = await service.create_session(app_name="a", user_id="u")
            for _ in range(chance.randint(3, 12)):
                parts, more = chance.choice(STEPS)
                if chance.random() < 0.1:
                    more = {"actions": EventActions(rewind_before_invocation_id=chance.choice("ijk"))}
                author = chance.choice(["me", "me", "you", "user"])
                await service.append_event(session, said(*parts, author=author, invocation=chance.choice("ijk"), **more))
        items += check(file)
    assert items
    sys.stderr.write(f"{cases} sessions of interleaved invocations: {items} pending items\n")


CHANGES: list[Callable[[dict[str, Any], str, random.Random], None]] = [
    lambda holder, key, chance: holder.pop(key),
    lambda holder, key, chance: holder.update({_camel(key, chance): holder.pop(key)}),
    lambda holder, key, chance: holder.update({_camel(key, chance): holder[key]}),
    lambda holder, key, chance: holder.update({key: chance.choice([None, True, False, 0, "", "x", [], {}, ["x"], {"id": 5}])}),
    lambda holder, key, chance: holder.update({chance.choice(["escalate", "partial", "newThing", "custom_metadata", "id"]): {"x": 1}}),
    lambda holder, key, chance: holder.update(
        {chance.choice(["partial", "escalate", "end_of_agent", "error_code"]): chance.choice([True, "E"])}
    ),
]


def _holders(value: Any) -> list[dict[str, Any]]:
    found = [value] if isinstance(value, dict) and value else []
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        found += _holders(inner)
    return found


@pytest.mark.parametrize("asks", ["requested_auth_configs", "requested_tool_confirmations"])
def test_a_result_that_asks_a_person_is_no_result_until_the_request_is_stored(asks: str, tmp_path: Path) -> None:
    file = copy_of("open/adk2.13.0-v1-chat_tools.db", tmp_path)
    file.chmod(0o644)
    with closing(sqlite3.connect(file)) as connection:
        query = "SELECT rowid, event_data FROM events WHERE event_data LIKE '%function_response%' ORDER BY rowid LIMIT 1"
        rowid, data = connection.execute(query).fetchone()
        event = json.loads(data)
        (result,) = event["content"]["parts"]
        event["actions"][asks] = {result["function_response"]["id"]: {}}
        connection.execute("UPDATE events SET event_data = ? WHERE rowid = ?", (json.dumps(event), rowid))
        connection.commit()
    assert check(file) == 1


@pytest.mark.sweep
@pytest.mark.timeout(7200)
def test_randomly_changed_rows_have_the_same_pending_items_both_ways(tmp_path: Path) -> None:
    chance, cases, items = random.Random(9), count(quick=80, full=5_000), 0
    names = [name for name in WITH_JSON if any(word in name for word in ("confirm", "lro", "auth", "loop", "rewind", "chat", "nested"))]
    for _ in range(cases):
        file = copy_of(chance.choice(names), tmp_path)
        file.chmod(0o644)
        with closing(sqlite3.connect(file)) as connection:
            rows = connection.execute("SELECT rowid, event_data FROM events").fetchall()
            for rowid, data in chance.sample(rows, min(len(rows), chance.randint(1, 3))):
                event = json.loads(data)
                for _ in range(chance.randint(1, 2)):
                    holder = chance.choice(_holders(event) or [{"x": 1}])
                    chance.choice(CHANGES)(holder, chance.choice(list(holder)), chance)
                connection.execute("UPDATE events SET event_data = ? WHERE rowid = ?", (json.dumps(event), rowid))
            connection.commit()
        items += check(file)
    assert items
    sys.stderr.write(f"{cases} databases with randomly changed rows: {items} pending items\n")


@pytest.mark.parametrize("where", ["rowid > 3005", "rowid % 4000 < 10", "rowid > 2000"])
def test_sessions_that_begin_anywhere_in_the_file_are_kept_apart(where: str, tmp_path: Path) -> None:
    file = tmp_path / "two.db"
    write_database(file, 4_015)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("INSERT INTO sessions SELECT app_name, user_id, 'other', state, create_time, update_time FROM sessions")
        connection.execute(f"UPDATE events SET session_id = 'other' WHERE {where}")
        # The last event of the invocations around the places where the session changes.
        for rowid in (2000, 2110, 3000, 4000, 4010):
            connection.execute(
                "UPDATE events SET event_data = json_set(event_data, '$.error_code', 'E', '$.content', NULL) WHERE rowid = ?", (rowid,)
            )
    assert check(file) >= 5


def test_an_invocation_that_continues_after_another_session_is_read_whole(tmp_path: Path) -> None:
    file = tmp_path / "two.db"
    write_database(file, 30)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("INSERT INTO sessions SELECT app_name, user_id, 'other', state, create_time, update_time FROM sessions")
        connection.execute("UPDATE events SET session_id = 'other' WHERE rowid BETWEEN 13 AND 18")  # the call 12 has no result now
        connection.execute("UPDATE events SET invocation_id = 'x' WHERE rowid BETWEEN 13 AND 18")
    assert check(file) == 1


def test_events_of_finished_invocations_are_not_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "long.db"
    write_database(file, 3_000)
    made: list[object] = []
    monkeypatch.setattr(module, "look_closely", made.append)
    with StoredDatabase.open(str(file)) as database:
        assert database.pending() == {}
        assert made == []
        (summary,) = database.sessions()
        assert pending_items(database.events(summary.key)) == []
