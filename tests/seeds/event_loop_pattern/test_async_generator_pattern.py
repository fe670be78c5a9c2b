"""Seed: event-loop-pattern, "Async Generator Pattern": control goes to and fro, and leaving early stops the agent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from runtime.agents import BaseAgent, InvocationContext, ParallelAgent, SequentialAgent
from runtime.events import Event
from tests.agent_specs import message
from tests.seeds.running import run, runner_for, said, scripted


async def test_closing_the_generator_runs_every_finally() -> None:
    cleaned: list[str] = []

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        try:
            for number in range(100):
                yield said(agent, str(number))
        finally:
            await asyncio.sleep(0)  # a finally block may await
            cleaned.append(agent.name)

    agents = ParallelAgent(name="both", sub_agents=[scripted(body, "a"), scripted(body, "b")])
    runner = runner_for(SequentialAgent(name="outer", sub_agents=[agents]))
    events = runner.run_async(user_id="u", session_id="s", new_message=message("go"))
    await anext(events)
    await events.aclose()
    assert sorted(cleaned) == ["a", "b"]
    assert len(asyncio.all_tasks()) == 1


async def test_one_failing_sibling_cancels_the_others_cleanly() -> None:
    cleaned: list[str] = []

    async def waits(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        try:
            yield said(agent, "begun")
            await asyncio.Event().wait()
        finally:
            cleaned.append(agent.name)

    async def fails(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "begun too")
        raise ValueError("one of them failed")

    runner = runner_for(ParallelAgent(name="both", sub_agents=[scripted(waits, "waits"), scripted(fails, "fails")]))
    with pytest.raises(ValueError, match="one of them failed"):
        await run(runner)
    assert cleaned == ["waits"]
    assert len(asyncio.all_tasks()) == 1
