"""One small database of every layout."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.storage.reading.reader import StoredDatabase

DATA = Path(__file__).parents[3] / "data"
CONVERSATION = ["user", "guide", "guide", "guide", "user", "guide", "guide", "guide", "user", "guide"]


@pytest.fixture(params=["v0", "v1", "sqlite"])
def database(request: pytest.FixtureRequest) -> Iterator[StoredDatabase]:
    with StoredDatabase.open(str(DATA / f"{request.param}.db")) as opened:
        assert opened.layout.kind == request.param
        yield opened


def test_google_adks_conversation_reads_the_same_in_every_layout(database: StoredDatabase) -> None:
    (session,) = database.sessions()
    events = database.events(session.key)
    assert (session.key.app_name, session.key.session_id) == ("trip_planner", "s-1")
    assert session.event_count == len(events) == 10
    assert [event.author for event in events] == CONVERSATION
    calls = [(call.name, call.args) for event in events for call in event.get_function_calls()]
    assert calls == [("get_weather", {"city": "Lisbon"}), ("get_weather", {"city": "Porto"})]
    assert database.state(session.key) == {
        "last_city": "Porto",
        "last_answer": "Have a good trip.",
        "app:calls": 2,
        "user:home": "Porto",
    }


def test_the_state_after_each_event_leads_to_the_stored_state(database: StoredDatabase) -> None:
    (session,) = database.sessions()
    history = database.history(session.key)
    assert history.state_at(0).merged().get("last_city") is None
    assert history.state_at(9).merged() == database.state(session.key)


def test_our_database_has_every_value_and_ends_with_an_open_call() -> None:
    with StoredDatabase.open(str(DATA / "ours.db")) as database:
        assert database.layout.ours
        (session,) = database.sessions()
        assert session.event_count == 11
        assert database.history(session.key).state_at(0).unknown == []
        calls = [call for event in database.events(session.key) for call in event.get_function_calls()]
        assert calls[-1].name == "ask_for_approval"


@pytest.mark.parametrize("name", ["v0", "v1", "sqlite", "ours"])
def test_reading_does_not_change_the_file_or_leave_others(name: str) -> None:
    file = DATA / f"{name}.db"
    before, names = hashlib.sha256(file.read_bytes()).hexdigest(), sorted(DATA.iterdir())
    with StoredDatabase.open(str(file)) as database:
        for session in database.sessions():
            database.events(session.key)
    assert hashlib.sha256(file.read_bytes()).hexdigest() == before
    assert sorted(DATA.iterdir()) == names
