"""Seed: session-state, "Una Advertencia Sobre la Modificación Directa del Estado"."""

from __future__ import annotations

import pytest
from google.genai.types import Content, Part

from runtime.events import Event, EventActions
from runtime.sessions import InMemorySessionService


@pytest.mark.rule("S7")
async def test_returned_sessions_are_copies() -> None:
    service = InMemorySessionService()
    key = {"app_name": "app", "user_id": "u", "session_id": "s"}
    created = await service.create_session(**key, state={"cart": [1]})  # type: ignore[arg-type]
    created.state["cart"].append(2)
    event = Event(author="a", content=Content(parts=[Part(text="x")]))
    await service.append_event(created, event)
    got = await service.get_session(**key)
    assert got is not None
    got.events[0].author = "another author"
    got.state["cart"].append(3)
    listed = (await service.list_sessions(app_name="app")).sessions[0]
    listed.state["cart"].append(4)
    fresh = await service.get_session(**key)
    assert fresh is not None
    assert fresh.state == {"cart": [1]}
    assert fresh.events[0].author == "a"


async def test_direct_changes_of_a_sessions_state_are_lost() -> None:
    """`retrieved_session.state['key'] = value` creates no event, changes no time and is not stored by the next append either."""
    service = InMemorySessionService()
    await service.create_session(app_name="app", user_id="u", session_id="s")
    retrieved_session = await service.get_session(app_name="app", user_id="u", session_id="s")
    assert retrieved_session is not None
    before = retrieved_session.last_update_time
    retrieved_session.state["key"] = "value"
    fresh = await service.get_session(app_name="app", user_id="u", session_id="s")
    assert fresh is not None
    assert (fresh.state, fresh.events, fresh.last_update_time) == ({}, [], before)
    await service.append_event(retrieved_session, Event(author="a", actions=EventActions(state_delta={"other": 1})))
    fresh = await service.get_session(app_name="app", user_id="u", session_id="s")
    assert fresh is not None
    assert fresh.state == {"other": 1}
