"""A fork at any event of any session has the session's past up to there, and changes no other session's present or past."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime.events import Event, EventActions
from runtime.forks.fork import Cut, fork_into
from runtime.history.in_memory import history_in_memory
from runtime.history.state_at import History
from runtime.sessions import BaseSessionService, DatabaseSessionService, InMemorySessionService, SqliteSessionService
from runtime.sessions.session import SessionKey
from runtime.sessions.state import scope_of
from runtime.storage.reading.reader import StoredDatabase
from tests.properties.session_steps import Step, deltas, play, steps


class Place:
    """A session service, and the reader of its history."""

    def __init__(self, layout: str, folder: str) -> None:
        self._file = Path(folder) / "x.db"
        self._memory = InMemorySessionService() if layout == "in_memory" else None
        makers: dict[str, Callable[[], BaseSessionService]] = {
            "in_memory": lambda: self._memory or InMemorySessionService(),
            "v1": lambda: DatabaseSessionService(f"sqlite:///{self._file}"),
            "sqlite": lambda: SqliteSessionService(self._file),
        }
        self.service = makers[layout]

    def past(self, key: SessionKey) -> tuple[History, float]:
        if self._memory:
            return history_in_memory(self._memory, key), self._memory.created(key)
        with StoredDatabase.open(str(self._file)) as database:
            past = database.history(key)
            pages = database.pages(key)
            long = database.long_history(key, pages)
            while not long.is_read:
                long.read_on()
            assert shown(long, len(long)) == shown(past, len(past))
            return past, database.created(key)


def shown(past: History, count: int) -> list[str]:
    """Return the state before and after each of the first events as text, so that True differs from 1."""
    return [
        repr([sorted(getattr(past.state_at(index), scope).items()) for scope in ("session", "user", "app", "temp")])
        for index in range(-1, count)
    ]


@pytest.mark.parametrize("layout", ["in_memory", "v1", "sqlite"])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=steps, data=st.data())
def test_forks_at_any_event_keep_the_past(layout: str, steps: list[Step], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_check(Place(layout, folder), steps, data))


async def _check(place: Place, steps: list[Step], data: st.DataObject) -> None:
    replay = await play(place.service(), steps)
    keys = [SessionKey("app", *who) for who in replay.own]
    if not keys:
        return
    async with place.service() as service:
        before = {key: shown(past, len(past)) for key in keys for past in [place.past(key)[0]]}
        parent = data.draw(st.sampled_from(keys))
        for _ in range(3):  # the second and third may be forks of forks
            past, created = place.past(parent)
            index = data.draw(st.integers(-1, len(past) - 1))
            cut = Cut(at=past.events[index].id) if index >= 0 else Cut(before=past.events[0].id) if past.events else Cut()
            fork = await fork_into(service, past, parent, created, cut, same_place=True, database=None)
            forked, fork_created = place.past(fork.key)
            assert [event.model_dump() for event in forked.events] == [event.model_dump() for event in past.events[: index + 1]]
            assert shown(forked, index + 1) == shown(past, index + 1)
            assert fork_created == pytest.approx(created, abs=1e-6)
            for key, states in before.items():
                again = place.past(key)[0]
                assert shown(again, len(again)) == states
            for key in (fork.key, data.draw(st.sampled_from(keys))):
                states = before.get(key, [])
                await _write_to(service, key, data.draw(deltas))
                grown = place.past(key)[0]
                assert shown(grown, len(grown) - 1) == (states or shown(past, index + 1))
                before[key] = shown(grown, len(grown))
                session = await service.get_session(app_name="app", user_id=key.user_id, session_id=key.session_id)
                assert session is not None
                assert repr(sorted(grown.state_at(len(grown) - 1).merged().items())) == repr(sorted(session.state.items()))
            parent = data.draw(st.sampled_from([*keys, fork.key]))


async def _write_to(service: BaseSessionService, key: SessionKey, delta: dict[str, object]) -> None:
    session = await service.get_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
    assert session is not None
    before = dict(session.state)
    await service.append_event(session, Event(author="me", invocation_id="i", actions=EventActions(state_delta=dict(delta))))
    stored = {name: value for name, value in delta.items() if scope_of(name) != "temp"}
    assert {name: value for name, value in session.state.items() if scope_of(name) != "temp"} == {**before, **stored}
