"""Several things at once, one of which is cancelled by its own doing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from runtime.agents import InvocationContext, LlmAgent, ParallelAgent
from runtime.agents.base_agent import BaseAgent
from runtime.events import Event
from runtime.models.scripted_llm import Reply, ScriptedLlm
from tests.seeds.running import run, runner_for, said, scripted


async def gives_up() -> str:
    """Waits for something that is cancelled, as a client library's timeout may be."""
    waited_for = asyncio.get_running_loop().create_future()
    waited_for.cancel()
    await waited_for
    return "never"


async def returns() -> str:
    return "ok"


@pytest.mark.parametrize("resumable", [False, True])
async def test_a_tool_that_ends_in_a_cancellation_ends_the_run_and_does_not_hang_it(resumable: bool) -> None:
    calls = Reply(calls=[("gives_up", {}), ("returns", {})])
    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=[calls, "done"]), tools=[gives_up, returns])
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(run(runner_for(agent, resumable=resumable)), 20)


async def test_so_does_an_agent_beside_others() -> None:
    async def cancelled(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, await gives_up())

    async def speaks(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "hello")

    agents: list[Any] = [scripted(cancelled, "cancelled"), scripted(speaks, "speaks")]
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(run(runner_for(ParallelAgent(name="both", sub_agents=agents))), 20)
