"""The state at an event equals a plain replay of all commits, also when several sessions write to shared keys."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from runtime.history.in_memory import history_in_memory
from runtime.history.last_writes import LastWrites, recent_state
from runtime.history.state_at import History
from runtime.sessions import DatabaseSessionService, InMemorySessionService, SqliteSessionService
from runtime.sessions.session import SessionKey
from runtime.sessions.state import scope_of
from runtime.storage.reading.reader import StoredDatabase
from tests.properties.session_steps import Replay, Step, play, steps


@pytest.mark.rule("S2")
@pytest.mark.parametrize("layout", ["in_memory", "v1", "sqlite"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=steps)
def test_state_at_equals_a_plain_replay(layout: str, steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.db"
        if layout == "in_memory":
            memory = InMemorySessionService()
            replay = asyncio.run(play(memory, steps))
            for who in replay.own:
                _check(history_in_memory(memory, SessionKey("app", *who)), replay, who)
            return
        replay = asyncio.run(play(DatabaseSessionService(f"sqlite:///{file}") if layout == "v1" else SqliteSessionService(file), steps))
        if not file.exists():
            return
        with StoredDatabase.open(str(file)) as database:
            assert {summary.key for summary in database.sessions()} == {SessionKey("app", *who) for who in replay.own}
            for who in replay.own:
                key = SessionKey("app", *who)
                past = database.history(key)
                _check(past, replay, who)
                _check_long(database, key, past)
                assert database.state(key) == {**replay.own[who], **replay.app, **replay.user[who[0]]}


def _check_long(database: StoredDatabase, key: SessionKey, past: History) -> None:
    """Check that the history read in pieces is the same."""
    pages = database.pages(key)
    assert [pages.decode(row) for row in pages.rows(0, len(pages))] == list(past.events)
    long = database.long_history(key, pages)
    while not long.is_read:
        long.read_on()
    for index in range(-1, len(pages)):
        assert repr(long.state_at(index)) == repr(past.state_at(index))
        assert long.writers_at(index) == past.writers_at(index)
        if index >= 0:
            assert repr(long.delta_at(index)) == repr(past.delta_at(index))
    _check_state_after(database, key, past)
    _check_recent_states(database, key, past)


def _check_recent_states(database: StoredDatabase, key: SessionKey, past: History) -> None:
    """Check that what is known of any state from the writes before it is the same."""
    pages, present = database.pages(key), database.state(key)
    own = [name for name in present if scope_of(name) == "session"]
    for index in range(len(pages)):
        newest, writes = LastWrites(pages, len(pages) - 1), LastWrites(pages, index)
        newest.read_back(own, 10)
        writes.read_back(own, 10)
        known = recent_state(present, newest, writes)
        state = past.state_at(index)
        assert all(repr(state.session[name]) == repr(value) for name, value in known.session.items())
        assert state.session.keys() <= {*known.session, *known.unknown}


def _check_state_after(database: StoredDatabase, key: SessionKey, past: History) -> None:
    """Check that what is known of the newest state without reading the past is the same."""
    known = database.state_after(key, database.pages(key))
    if known is None:
        assert len(past) == 0
        return
    state = past.state_at(len(past) - 1)
    assert repr(known.session) == repr(state.session)
    shared = {**state.user, **state.app}
    assert all(repr(shared[name]) == repr(value) for name, value in {**known.user, **known.app}.items())
    assert shared.keys() <= {*known.user, *known.app, *known.unknown}


def _check(history: History, replay: Replay, who: tuple[str, str]) -> None:
    assert len(history.events) == len(replay.seen[who]) - 1
    for index, state in enumerate(replay.seen[who], start=-1):
        scoped = history.state_at(index)
        assert scoped.unknown == []
        # As text, so that True differs from 1.
        assert repr(dict(sorted(scoped.merged().items()))) == repr(dict(sorted(state.items())))
    for index, event in enumerate(history.events):
        before = history.state_at(index - 1)
        for change in history.delta_at(index):
            if change.kind == "added" and change.scope == "session":
                assert change.key not in before.session
            assert change.scope == "temp" or repr(change.after) == repr(event.actions.state_delta[change.key])
