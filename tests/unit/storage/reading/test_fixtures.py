"""Every fixture database reads as in the google-adk version that wrote it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import fixtures_dir, manifest
from tests.unit.storage.reading.google_adk_differences import (
    ADDED_BY_READER,
    ADDED_TO_ACTIONS,
    LAST_UPDATE,
    NONE_INSIDE,
    NONE_IS_INSIDE,
    ORDER,
    TEMP_OBJECTS,
    TIMESTAMP,
    allowed,
)

DATABASES = manifest()
DIFFERENCES = {
    "order": ORDER,
    "timestamp": TIMESTAMP,
    "last update": LAST_UPDATE,
    "temp objects": TEMP_OBJECTS,
    "none inside": NONE_INSIDE,
}


@pytest.mark.parametrize("entry", DATABASES, ids=lambda entry: entry["name"])
def test_a_fixture_reads_as_google_adk_read_it(entry: dict[str, Any]) -> None:
    name = entry["name"]
    expected = json.loads((fixtures_dir() / "open" / entry["expected"]).read_text("utf-8"))["sessions"]
    differs = dict.fromkeys(DIFFERENCES, False)
    with StoredDatabase.open(str(fixtures_dir() / "open" / entry["file"])) as database:
        assert database.layout.kind == entry["layout"]
        assert not database.layout.ours
        summaries = {summary.key: summary for summary in database.sessions()}
        assert set(summaries) == {_key(session) for session in expected}
        for session in expected:
            key = _key(session)
            differs["last update"] |= abs(summaries[key].last_update_time - session["last_update_time"]) > 1e-6
            assert summaries[key].event_count == len(session["events"])
            assert _shortened(database.state(key)) == session["state"]
            events = database.events(key)
            ours = [_shortened(json.loads(event.model_dump_json(exclude_none=True))) for event in events]
            theirs = [_as_stored(event) for event in session["events"]]
            differs["order"] |= [event["id"] for event in ours] != [event["id"] for event in theirs]
            by_id = {event["id"]: event for event in theirs}
            assert len(ours) == len(by_id)
            for event in ours:
                their = by_id[event["id"]]
                our_temp, their_temp = _take_out_temp(event), _take_out_temp(their)
                assert our_temp.keys() == their_temp.keys()
                differs["temp objects"] |= our_temp != their_temp
                cleaned = {**their["actions"], **{k: _without_none(their["actions"][k]) for k in NONE_IS_INSIDE if k in their["actions"]}}
                differs["none inside"] |= their["actions"] != cleaned
                # google-adk up to 2.6 returns the column's time, rounded to microseconds.
                differs["timestamp"] |= abs(event.pop("timestamp") - their.pop("timestamp")) > 1.1e-6
                _assert_same(event, {**their, "actions": cleaned})
    assert differs == {kind: allowed(databases, name) for kind, databases in DIFFERENCES.items()}


def test_the_known_state_after_the_last_event_equals_the_stored_state() -> None:
    for entry in DATABASES:
        with StoredDatabase.open(str(fixtures_dir() / "open" / entry["file"])) as database:
            for summary in database.sessions():
                history = database.history(summary.key)
                scoped = history.state_at(len(history.events) - 1)
                stored = database.state(summary.key)
                known = {key: value for key, value in stored.items() if key not in scoped.unknown}
                later = _written_later_by_others(database, summary.key)
                assert {k: v for k, v in scoped.merged().items() if k not in later} == {k: v for k, v in known.items() if k not in later}


def test_paging_returns_the_same_events_in_every_layout() -> None:
    for entry in DATABASES[::5]:
        with StoredDatabase.open(str(fixtures_dir() / "open" / entry["file"])) as database:
            for summary in database.sessions():
                pages = database.pages(summary.key)
                events = database.events(summary.key)
                assert [pages.decode(row) for row in pages.rows(0, len(pages))] == events
                assert [step.event_id for step in pages.read(0, len(pages))] == [event.id for event in events]
                long, short = database.long_history(summary.key, pages), database.history(summary.key)
                while not long.is_read:
                    long.read_on()
                newest = short.state_at(len(events) - 1)
                assert long.state_at(len(events) - 1) == newest
                known = database.state_after(summary.key, pages)
                if known is not None:
                    assert known.session == newest.session
                    shared = {**newest.user, **newest.app}
                    assert all(shared[name] == value for name, value in {**known.user, **known.app}.items() if name not in newest.unknown)


def _written_later_by_others(database: StoredDatabase, key: SessionKey) -> set[str]:
    history = database.history(key)
    last = len(history.events)
    return {name for write in history._shared.get(last, []) for name in write.delta}


def _key(session: dict[str, Any]) -> SessionKey:
    return SessionKey(session["app_name"], session["user_id"], session["id"])


def _as_stored(event: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name != "is_final_response"}


def _assert_same(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    for name, value in ADDED_BY_READER.items():
        if name not in ours and theirs.get(name) == value:
            theirs = {key: item for key, item in theirs.items() if key != name}
    for name, value in ADDED_TO_ACTIONS.items():
        if name not in theirs["actions"] and ours["actions"].get(name) == value:
            theirs = {**theirs, "actions": {**theirs["actions"], name: value}}
    assert ours == theirs


def _shortened(value: Any) -> Any:
    """Shorten long texts as the expected files do."""
    if isinstance(value, str) and len(value) > 20_000:
        return {"__long_text__": {"length": len(value), "sha256": hashlib.sha256(value.encode()).hexdigest()}}
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    return value


def _take_out_temp(event: dict[str, Any]) -> dict[str, Any]:
    delta = event["actions"]["state_delta"]
    return {name: delta.pop(name) for name in list(delta) if name.startswith("temp:")}


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list) else value
