"""Runs that are resumed after each of their events."""

from __future__ import annotations

from runtime.agents import BaseAgent
from runtime.events import Event
from runtime.sessions import InMemorySessionService
from tests.seeds.running import resume, runner_for, stored, texts


async def check_resumed_equals(root: BaseAgent, events: list[Event], kept: int) -> None:
    service = InMemorySessionService()
    session = await service.create_session(app_name="app", user_id="u", session_id="s")
    for event in events[:kept]:
        await service.append_event(session, event.model_copy(deep=True))
    runner = runner_for(root, service, resumable=True)
    await resume(runner)
    got = (await stored(runner)).events
    assert sorted(texts(got)) == sorted(texts(events)), f"resumed after {kept} events"
    assert len(got) == len(events), f"resumed after {kept} events"
    assert got[-1].actions.end_of_agent
