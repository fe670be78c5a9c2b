"""Seed: event-loop-pattern, "The Basic Cycle" and "Execution Pauses at Yield"."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from runtime.agents import BaseAgent, InvocationContext
from runtime.events import Event
from tests.agent_specs import message
from tests.seeds.running import Recording, runner_for, said, scripted, texts


@pytest.mark.rule("E1")
async def test_each_event_is_committed_then_yielded_then_the_agent_continues() -> None:
    service = Recording()

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for text in ("one", "two"):
            yield said(agent, text)
            service.journal.append(f"agent continues after {text}")

    async for event in runner_for(scripted(body), service).run_async(user_id="u", session_id="s", new_message=message("go")):
        service.journal.append(f"yielded {texts([event])[0]}")
    assert service.journal == [
        "committed go",
        "committed one",
        "yielded one",
        "agent continues after one",
        "committed two",
        "yielded two",
        "agent continues after two",
    ]
