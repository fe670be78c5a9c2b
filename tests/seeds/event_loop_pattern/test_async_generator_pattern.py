"""Seed: event-loop-pattern, "Async Generator Pattern": control alternates between Runner and agent, and an early exit stops the agent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest
from google.genai import types

from runtime.agents import BaseAgent, InvocationContext, ParallelAgent, SequentialAgent
from runtime.events import Event
from tests.agent_specs import message
from tests.seeds.running import run, runner_for, said, scripted, texts


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


class CustomAgent(BaseAgent):
    """The seed's example, in Python."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        # Step 1: Analyze user input
        yield Event(
            invocation_id=ctx.invocation_id,
            author=self.name,
            content=types.Content(parts=[types.Part(text="Let me think about this...")]),
        )

        # Step 2: Perform some computation
        result = await self.process_user_query(ctx.user_content)

        # Step 3: Yield final response
        yield Event(
            invocation_id=ctx.invocation_id,
            author=self.name,
            content=types.Content(parts=[types.Part(text=result)]),
        )

    async def process_user_query(self, query: types.Content | None) -> str:
        return f"You said: {query.parts[0].text}"


@pytest.mark.rule("R10")
async def test_an_agent_that_yields_several_events() -> None:
    assert texts(await run(runner_for(CustomAgent(name="custom")))) == ["Let me think about this...", "You said: go"]
