"""Seed: event-loop-pattern, "Streaming and Partial Events"."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from google.genai import types

from runtime.agents import BaseAgent, InvocationContext
from runtime.events import Event, EventActions
from tests.seeds.running import run, runner_for, said, scripted, stored, texts


async def test_only_the_final_event_is_stored() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "Thinking", partial=True, actions=EventActions(state_delta={"ignored": True}))
        assert "ignored" not in ctx.session.state
        yield said(agent, "Thinking...", partial=True)
        yield said(agent, "Here's my complete response", partial=False, actions=EventActions(state_delta={"kept": True}))

    runner = runner_for(scripted(body))
    assert texts(await run(runner)) == ["Thinking", "Thinking...", "Here's my complete response"]
    session = await stored(runner)
    assert texts(session.events) == ["go", "Here's my complete response"]
    assert session.state == {"kept": True}


@pytest.mark.rule("R10")
async def test_the_seeds_example() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for text, partial in (("Thinking", True), ("Thinking...", True), ("Here's my complete response", False)):
            content = types.Content(parts=[types.Part(text=text)])
            yield Event(invocation_id=ctx.invocation_id, author=agent.name, content=content, partial=partial)

    runner = runner_for(scripted(body))
    assert [(texts([event])[0], event.is_final_response()) for event in await run(runner)] == [
        ("Thinking", False),
        ("Thinking...", False),
        ("Here's my complete response", True),
    ]
    assert texts((await stored(runner)).events) == ["go", "Here's my complete response"]
