"""Seed: event-loop-pattern, "Processing Guarantees and Streaming": "Ordering & Atomicity" and "State Consistency"."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from runtime.agents import BaseAgent, InvocationContext, ParallelAgent
from runtime.errors import UnstorableValueError
from runtime.events import Event, EventActions
from tests.seeds.running import run, runner_for, said, scripted, stored, texts


async def test_events_are_stored_in_yield_order_also_for_parallel_agents() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for number in range(5):
            yield said(agent, f"{agent.name}{number}", actions=EventActions(state_delta={f"{agent.name}{number}": number}))
            await asyncio.sleep(0)

    runner = runner_for(ParallelAgent(name="both", sub_agents=[scripted(body, "a"), scripted(body, "b")]))
    yielded = texts(await run(runner))
    session = await stored(runner)
    assert texts(session.events)[1:] == yielded
    assert [text for text in yielded if text[0] == "a"] == [f"a{number}" for number in range(5)]
    # The deltas of all siblings are applied.
    assert session.state == {f"{name}{number}": number for name in "ab" for number in range(5)}


@pytest.mark.rule("E2")
async def test_the_deltas_of_an_event_are_applied_together_or_not_at_all() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "one", actions=EventActions(state_delta={"k": 1, "user:k": 1, "app:k": 1}))
        delta = {"k": 2, "user:k": 2, "app:k": object()}
        yield said(agent, "two", actions=EventActions(state_delta=delta))

    runner = runner_for(scripted(body))
    with pytest.raises(UnstorableValueError, match="app:k"):
        await run(runner)
    session = await stored(runner)
    assert session.state == {"k": 1, "user:k": 1, "app:k": 1}
    assert texts(session.events) == ["go", "one"]


@pytest.mark.rule("E4")
async def test_events_of_parallel_agents_get_their_branch() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield Event(author=agent.name)

    runner = runner_for(ParallelAgent(name="both", sub_agents=[scripted(body, "a"), scripted(body, "b")]))
    events = await run(runner)
    assert sorted((event.branch, bool(event.invocation_id)) for event in events) == [("both.a", True), ("both.b", True)]
