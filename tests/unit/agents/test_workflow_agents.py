"""Workflow agents whose children escalate, or wait for a person."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.genai import types

from runtime.agents import BaseAgent, InvocationContext, LoopAgent, ParallelAgent, SequentialAgent
from runtime.events import Event, EventActions
from runtime.history.invocations import invocations
from runtime.runners import Runner
from runtime.running.resume_plan import plan_resume
from runtime.tools import FunctionTool, LongRunningFunctionTool
from tests.seeds.running import answer, llm_agent, resume, run, runner_for, said, scripted, stored, texts


def judge(after: asyncio.Event, name: str = "judge") -> BaseAgent:
    """An agent that escalates once another one has spoken."""

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        await after.wait()
        yield said(agent, "stop", actions=EventActions(escalate=True))
        yield said(agent, "never")

    return scripted(body, name)


def holding(spoke: asyncio.Event, ends: list[str], name: str = "slow") -> BaseAgent:
    """An agent that speaks and never ends by itself."""

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        try:
            yield said(agent, "one")
            spoke.set()
            await asyncio.Event().wait()
        finally:
            ends.append(name)

    return scripted(body, name)


def saying(*names: str) -> list[BaseAgent]:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, agent.name)

    return [scripted(body, name) for name in names]


def tree(kind: str, spoke: asyncio.Event, ends: list[str]) -> BaseAgent:
    both = ParallelAgent(name="both", sub_agents=[judge(spoke), holding(spoke, ends)])
    if kind == "alone":
        return both
    if kind == "in a loop":
        return LoopAgent(name="root", max_iterations=3, sub_agents=[both, *saying("never")])
    return SequentialAgent(name="root", sub_agents=[llm_agent("before", "before"), both, llm_agent("next", "next")])


@pytest.mark.rule("R14")
@pytest.mark.parametrize("resumable", [False, True])
@pytest.mark.parametrize(
    ("kind", "expected"), [("alone", ["one", "stop"]), ("in a loop", ["one", "stop"]), ("in a sequence", ["before", "one", "stop", "next"])]
)
async def test_a_childs_own_escalation_stops_the_other_children(kind: str, expected: list[str], resumable: bool) -> None:
    ends: list[str] = []
    runner = runner_for(tree(kind, asyncio.Event(), ends), resumable=resumable)
    assert texts(await run(runner)) == expected
    assert ends == ["slow"]
    assert invocations((await stored(runner)).events)[0].status == "finished"


@pytest.mark.rule("R14", "C6")
@pytest.mark.parametrize("kind", ["alone", "in a loop", "in a sequence"])
async def test_an_escalation_is_remembered_after_a_kill_at_every_event(kind: str) -> None:
    whole = runner_for(tree(kind, asyncio.Event(), []), resumable=True)
    await run(whole)
    events = (await stored(whole)).events
    stop = next(index for index, event in enumerate(events) if event.actions.escalate)
    for kept in range(1, len(events)):
        runner = runner_for(tree(kind, asyncio.Event(), []), resumable=True)
        session = await runner.session_service.create_session(app_name="app", user_id="u", session_id="s")
        for event in events[:kept]:
            await runner.session_service.append_event(session, event.model_copy(deep=True))
        plan = plan_resume(events[:kept], events[0].invocation_id, runner.agent, is_resumable=True)
        again = await resume(runner)
        if kept > stop:
            assert plan is not None and not {"judge", "slow"} & set(plan.starts_over), kept
            assert not {"one", "stop", "never"} & set(texts(again)), kept
            assert [event.author for event in again] == [event.author for event in events[kept:]], kept
        else:
            assert texts(again)[-2 if kind == "in a sequence" else -1] == "stop", kept
        assert invocations((await stored(runner)).events)[0].status == "finished", kept


@pytest.mark.rule("R14")
async def test_an_escalation_from_deeper_below_and_a_partial_one_stop_nothing() -> None:
    async def partial(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "partly", partial=True, actions=EventActions(escalate=True))
        yield said(agent, "wholly")

    now = asyncio.Event()
    now.set()
    inner = SequentialAgent(name="inner", sub_agents=[judge(now), *saying("next")])
    runner = runner_for(ParallelAgent(name="both", sub_agents=[inner, scripted(partial, "partial"), *saying("other")]))
    assert sorted(texts(await run(runner))) == ["never", "next", "other", "partly", "stop", "wholly"]


def erase(disk: str) -> dict[str, str]:
    """Erase a disk."""
    ERASED.append(disk)
    return {"erased": disk}


def wait() -> dict[str, str]:
    """Wait."""
    return {"status": "pending"}


ERASED: list[str] = []
TOOLS = {"erase": FunctionTool(erase, require_confirmation=True), "wait": LongRunningFunctionTool(wait)}


def asking(tool: str, name: str = "asks") -> BaseAgent:
    call = {"calls": [(tool, {"disk": "a"} if tool == "erase" else {})]}
    return llm_agent(name, call, "answered", "answered again", tools=[TOOLS[tool]])


def workflow(kind: str, tool: str) -> BaseAgent:
    if kind == "loop":
        return LoopAgent(name="root", max_iterations=2, sub_agents=[asking(tool), *saying("next")])
    first: BaseAgent = asking(tool)
    if kind == "parallel":
        first = ParallelAgent(name="both", sub_agents=[first, *saying("other")])
    elif kind == "nested":
        first = SequentialAgent(name="inner", sub_agents=[first, *saying("inner_next")])
    elif kind == "transfer":
        to = {"calls": [("transfer_to_agent", {"agent_name": "asks"})]}
        boss = llm_agent("boss", to)
        first = boss.clone(update={"sub_agents": [first]})
    return SequentialAgent(name="root", sub_agents=[first, *saying("next")])


async def answered(runner: Runner, events: list[Event]) -> list[Event]:
    """Answer the call that waits."""
    call = next(call for event in events for call in event.get_function_calls() if call.id in (event.long_running_tool_ids or ()))
    response: dict[str, Any] = {"confirmed": True} if call.name == "adk_request_confirmation" else {"done": True}
    message: types.Content = answer(call.id, call.name or "", response)
    return [event async for event in runner.run_async(user_id="u", session_id="s", new_message=message)]


@pytest.mark.rule("R14")
@pytest.mark.parametrize("resumable", [False, True])
@pytest.mark.parametrize("tool", ["erase", "wait"])
@pytest.mark.parametrize("kind", ["sequence", "loop", "parallel", "nested", "transfer"])
async def test_a_workflow_waits_for_a_person_in_every_app(kind: str, tool: str, resumable: bool) -> None:
    ERASED.clear()
    runner = runner_for(workflow(kind, tool), resumable=resumable)
    events = await run(runner)
    assert not {"next", "inner_next"} & {event.author for event in events}
    assert ("other" in {event.author for event in events}) == (kind == "parallel")
    again = await answered(runner, events)
    assert (["a"] if tool == "erase" else []) == ERASED
    assert ("next" in {event.author for event in again}) == resumable


@pytest.mark.rule("C12")
@pytest.mark.parametrize("tool", ["erase", "wait"])
async def test_an_answer_for_a_parallel_branch_is_taken_on_that_branch(tool: str) -> None:
    ERASED.clear()
    runner = runner_for(ParallelAgent(name="both", sub_agents=[asking(tool), *saying("other")]))
    again = await answered(runner, await run(runner))
    assert (["a"] if tool == "erase" else []) == ERASED
    assert {event.branch for event in again} == {"both.asks"}


@pytest.mark.rule("R14")
async def test_an_escalation_keeps_an_open_call_of_another_child() -> None:
    ERASED.clear()
    asked = asyncio.Event()

    class Noting(ParallelAgent):
        """Notes when the call waits."""

        async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            async for event in super()._run_async_impl(ctx):
                yield event
                if event.author == "asks" and event.get_function_responses():
                    asked.set()

    runner = runner_for(Noting(name="both", sub_agents=[judge(asked), asking("erase"), *saying("other")]), resumable=True)
    events = await run(runner)
    assert invocations((await stored(runner)).events)[0].status == "paused"
    assert await resume(runner) == []
    again = await answered(runner, events)
    assert ERASED == ["a"]
    assert {event.author for event in again} == {"asks", "both"}
    assert invocations((await stored(runner)).events)[0].status == "finished"
