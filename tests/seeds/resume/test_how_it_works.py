"""Seed: resume, "Cómo funciona": how each kind of agent and tool calls continue after a resume."""

from __future__ import annotations

import asyncio

import pytest
from google.genai import types

from runtime.agents import LlmAgent, LoopAgent, ParallelAgent, ToolContext
from runtime.history.invocations import invocations
from runtime.models.scripted_llm import Reply
from runtime.tools import FunctionTool
from tests.agent_specs import TOOLS
from tests.seeds.resume.resumed_runs import check_resumed_equals
from tests.seeds.running import llm_agent, results, resume, run, runner_for, stored, texts


def _agent(ran: list[str], ids: list[str | None], crashes: set[str], gate: asyncio.Event) -> LlmAgent:
    async def work(name: str, tool_context: ToolContext) -> str:
        if name in crashes:
            await gate.wait()  # until the other results are committed
            crashes.discard(name)
            raise RuntimeError(f"{name} crashed")
        ran.append(name)
        ids.append(tool_context.function_call_id)
        tool_context.state[name] = "done"
        return name

    def tool_named(name: str) -> FunctionTool:
        async def call(tool_context: ToolContext) -> str:
            return await work(name, tool_context)

        call.__name__ = name
        return FunctionTool(call)

    calls = Reply(calls=[("A", {}), ("B", {}), ("C", {})])
    return llm_agent("worker", calls, "all done", tools=[tool_named(name) for name in "ABC"])


@pytest.mark.rule("R4")
async def test_only_the_call_without_a_committed_result_runs_again() -> None:
    ran: list[str] = []
    ids: list[str | None] = []
    gate = asyncio.Event()
    runner = runner_for(_agent(ran, ids, {"C"}, gate), resumable=True)
    with pytest.raises(RuntimeError, match="C crashed"):
        async for event in runner.run_async(user_id="u", session_id="s", new_message=types.Content(parts=[types.Part(text="go")])):
            if len(ran) == 2 and event.get_function_responses():
                gate.set()
    session = await stored(runner)
    assert sorted(name or "" for name, _ in results(session.events)) == ["A", "B"]
    assert session.state == {"A": "done", "B": "done"}
    (interrupted,) = invocations(session.events)
    assert interrupted.status == "interrupted"
    events = await resume(runner)
    assert [name for name, _ in results(events)] == ["C"]
    assert texts(events) == ["all done"]
    assert sorted(ran) == ["A", "B", "C"]
    session = await stored(runner)
    assert session.state == {"A": "done", "B": "done", "C": "done"}
    call_ids = {call.id for event in session.events for call in event.get_function_calls()}
    assert set(ids) == call_ids  # a call that runs again keeps its id, which serves as an idempotency key


async def test_without_resumability_the_results_of_a_turn_are_one_event() -> None:
    gate = asyncio.Event()
    runner = runner_for(_agent([], [], set(), gate))
    events = await run(runner)
    assert [len(event.get_function_responses()) for event in events] == [0, 3, 0]
    assert [name for name, _ in results(events)] == ["A", "B", "C"]
    assert events[1].actions.state_delta == {"A": "done", "B": "done", "C": "done"}


@pytest.mark.rule("C1", "C6")
async def test_a_resumed_loop_remembers_an_escalation() -> None:
    worker = llm_agent("worker", Reply(calls=[("leave_loop", {})]), "again", tools=[TOOLS["leave_loop"]])
    loop = LoopAgent(name="loop", sub_agents=[worker, llm_agent("second", "second")], max_iterations=3)
    whole = runner_for(loop, resumable=True)
    await run(whole)
    events = (await stored(whole)).events
    for kept in range(1, len(events) + 1):
        await check_resumed_equals(loop, events, kept)


@pytest.mark.rule("C1", "C6")
async def test_a_parallel_agent_in_a_loop_loses_no_iteration() -> None:
    both = ParallelAgent(name="both", sub_agents=[llm_agent("a", "a1", "a2"), llm_agent("b", "b1", "b2")])
    loop = LoopAgent(name="loop", sub_agents=[both], max_iterations=2)
    whole = runner_for(loop, resumable=True)
    await run(whole)
    events = (await stored(whole)).events
    for kept in range(1, len(events) + 1):
        await check_resumed_equals(loop, events, kept)
