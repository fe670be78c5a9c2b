"""A tool or agent that cancels itself: the run fails with an error, instead of hanging or looking stopped."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from runtime.agents import BaseAgent, InvocationContext, LlmAgent, ParallelAgent, ToolContext
from runtime.errors.agent_code_error import SelfCancelledError
from runtime.events import Event
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.support.merge import merge
from tests.seeds.running import run, runner_for, said, scripted, texts


async def gives_up() -> str:
    """Wait for a cancelled future, such as a client library's timeout."""
    waited_for = asyncio.get_running_loop().create_future()
    waited_for.cancel()
    await waited_for
    return "never"


async def returns() -> str:
    return "ok"


@pytest.mark.parametrize("resumable", [False, True])
@pytest.mark.parametrize("beside", [[], [("returns", {})]], ids=["alone", "beside another"])
async def test_a_tool_that_cancels_itself_fails_the_run(resumable: bool, beside: list[Any]) -> None:
    calls = Reply(calls=[("gives_up", {}), *beside])
    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=[calls, "done"]), tools=[gives_up, returns])
    with pytest.raises(SelfCancelledError, match="The tool 'gives_up' waited for something that was cancelled"):
        await asyncio.wait_for(run(runner_for(agent, resumable=resumable)), 20)


async def test_a_tools_own_cancellation_is_reported_to_error_callbacks() -> None:
    def answers(tool: Any, args: dict[str, Any], tool_context: ToolContext, error: Exception) -> dict[str, Any]:
        return {"error": str(error)}

    model = ScriptedLlm(replies=[Reply(calls=[("gives_up", {})]), "done"])
    events = await run(runner_for(LlmAgent(name="agent", model=model, tools=[gives_up], on_tool_error_callback=answers)))
    assert texts(events) == ["done"]


async def test_merge_raises_the_cancellation_of_a_source() -> None:
    async def source(work: Any) -> AsyncGenerator[str, None]:
        yield await work()

    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(_all(merge([source(gives_up), source(returns)])), 20)


async def _all(items: AsyncGenerator[str, None]) -> list[str]:
    return [item async for item in items]


async def test_a_parallel_agent_that_cancels_itself_fails_the_run() -> None:
    async def cancelled(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, await gives_up())

    async def speaks(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "hello")

    agents: list[Any] = [scripted(cancelled, "cancelled"), scripted(speaks, "speaks")]
    with pytest.raises(SelfCancelledError, match="The agent 'cancelled'"):
        await asyncio.wait_for(run(runner_for(ParallelAgent(name="both", sub_agents=agents))), 20)
