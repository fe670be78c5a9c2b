"""Seed: events, "Processing Flow"."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from google.genai import types

from runtime.agents import BaseAgent, InvocationContext
from runtime.events import Event, EventActions
from runtime.sessions import InMemorySessionService
from tests.seeds.running import run, runner_for, scripted, stored


@pytest.mark.rule("E4")
async def test_the_service_fills_in_a_missing_id_and_timestamp() -> None:
    service = InMemorySessionService()
    session = await service.create_session(app_name="app", user_id="u", session_id="s")
    event = await service.append_event(session, Event(author="system", id="", timestamp=0))
    assert event.id
    assert event.timestamp > 0
    assert session.events == [event]
    assert session.last_update_time == event.timestamp


@pytest.mark.rule("E4")
async def test_the_runner_fills_in_invocation_and_branch() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield Event(author=agent.name, content=types.Content(parts=[types.Part(text="x")]))

    runner = runner_for(scripted(body))
    (event,) = await run(runner)
    user, agent = (await stored(runner)).events
    assert event.invocation_id == user.invocation_id == agent.invocation_id
    assert event.branch is None


async def test_history_and_state_are_recorded_together() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield Event(author=agent.name, actions=EventActions(state_delta={"k": 1, "user:k": 2, "app:k": 3, "temp:k": 4}))
        assert ctx.session.state == {"k": 1, "user:k": 2, "app:k": 3, "temp:k": 4}

    runner = runner_for(scripted(body))
    await run(runner)
    session = await stored(runner)
    assert session.state == {"k": 1, "user:k": 2, "app:k": 3}
    assert session.events[-1].actions.state_delta == {"k": 1, "user:k": 2, "app:k": 3}
