"""Seed: session-state, "Lo que Hace append_event"."""

from __future__ import annotations

import asyncio

import pytest

from runtime.errors import AlreadyExistsError
from runtime.events import Event, EventActions
from runtime.sessions import InMemorySessionService


async def test_a_session_id_can_be_used_once() -> None:
    service = InMemorySessionService()
    await service.create_session(app_name="app", user_id="u", session_id="s")
    with pytest.raises(AlreadyExistsError, match="Session with id s already exists"):
        await service.create_session(app_name="app", user_id="u", session_id="s")


@pytest.mark.rule("S9")
async def test_concurrent_appends_lose_nothing() -> None:
    """ "Asegura seguridad de hilos para actualizaciones concurrentes"."""
    service = InMemorySessionService()
    await service.create_session(app_name="app", user_id="u", session_id="s")

    def write(thread: int) -> None:
        async def appends() -> None:
            session = await service.get_session(app_name="app", user_id="u", session_id="s")
            assert session is not None
            for number in range(50):
                delta = {f"{thread}-{number}": number, f"user:{thread}": number}
                await service.append_event(session, Event(author="a", actions=EventActions(state_delta=delta)))

        asyncio.run(appends())

    await asyncio.gather(*(asyncio.to_thread(write, thread) for thread in range(8)))
    session = await service.get_session(app_name="app", user_id="u", session_id="s")
    assert session is not None
    assert len(session.events) == 400
    assert len(session.state) == 408


async def test_append_event_updates_events_state_and_time() -> None:
    """The seed's list: append to `session.events`, apply the delta by scope, update `last_update_time`."""
    service = InMemorySessionService()
    session = await service.create_session(app_name="app", user_id="u", session_id="s")
    event = Event(author="system", actions=EventActions(state_delta={"k": 1, "user:k": 2, "app:k": 3, "temp:k": 4}))
    assert await service.append_event(session, event) is event
    stored = await service.get_session(app_name="app", user_id="u", session_id="s")
    assert stored is not None
    assert stored.events == session.events == [event]
    assert stored.state == {"k": 1, "user:k": 2, "app:k": 3}
    assert session.state == {**stored.state, "temp:k": 4}
    assert stored.last_update_time == session.last_update_time == event.timestamp
    other = await service.create_session(app_name="app", user_id="v", session_id="s")
    assert other.state == {"app:k": 3}
