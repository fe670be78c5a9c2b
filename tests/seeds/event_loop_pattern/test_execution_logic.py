"""Seed: event-loop-pattern, "What Your Execution Logic Does", its TypeScript example in Python."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from google.genai import types

from runtime.agents import BaseAgent, InvocationContext
from runtime.events import Event, EventActions
from tests.seeds.running import run, runner_for, scripted, stored, texts


async def test_the_agent_sees_its_delta_after_the_yield_and_not_before() -> None:
    seen: list[object] = []

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        update_data = {"field_1": "value_2"}
        event_with_state_change = Event(
            author=agent.name,
            actions=EventActions(state_delta=update_data),
            content=types.Content(parts=[types.Part(text="State updated.")]),
        )
        seen.append(ctx.session.state.get("field_1"))
        yield event_with_state_change
        seen.append(ctx.session.state["field_1"])

    runner = runner_for(scripted(body))
    assert texts(await run(runner)) == ["State updated."]
    assert seen == [None, "value_2"]
    assert (await stored(runner)).state == {"field_1": "value_2"}
