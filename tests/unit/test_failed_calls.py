"""State writes of tools and callbacks that raise are reverted, even if the error is caught."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest

from runtime.agents import BaseAgent, InvocationContext, LlmAgent, ParallelAgent
from runtime.events import Event, EventActions
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.plugins import BasePlugin
from runtime.tools import AgentTool, ToolContext
from tests.agent_specs import message
from tests.seeds.running import run, runner_for, said, stored

pytestmark = pytest.mark.timeout(60)


class Catching(BaseAgent):
    """Runs its sub-agents, catches what they raise, and notes the state that the next agent would see."""

    seen: list[Any]

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for agent in self.sub_agents:
            try:
                async with aclosing(agent.run_async(ctx)) as events:
                    async for event in events:
                        yield event
            except Exception as error:
                self.seen.append(str(error))
            self.seen.append(dict(ctx.session.state))
        yield said(self, "caught")


def half(tool_context: ToolContext) -> str:
    tool_context.state["kept"] = "half"
    tool_context.state["half"] = True
    tool_context.state["temp:half"] = object()
    tool_context.state["user:half"] = 1
    raise ValueError("half-way")


async def half_async(tool_context: ToolContext) -> str:
    await asyncio.sleep(0)
    return half(tool_context)


def calling(tools: list[Any], *calls: tuple[str, dict[str, Any]], **more: Any) -> LlmAgent:
    return LlmAgent(name="agent", model=ScriptedLlm(replies=[Reply(calls=list(calls)), "done"]), tools=tools, **more)


async def run_with(agent: BaseAgent, *, resumable: bool = False, **more: Any) -> dict[str, Any]:
    """Run an agent in a session with the state `kept: before`, and return the state afterwards."""
    runner = runner_for(agent, resumable=resumable, **more)
    await runner.session_service.create_session(app_name="app", user_id="u", session_id="s", state={"kept": "before"})
    await run(runner)
    return (await stored(runner)).state


@pytest.mark.rule("S4")
@pytest.mark.parametrize("tool", [half, half_async])
@pytest.mark.parametrize("resumable", [False, True])
async def test_a_parent_that_catches_a_tools_error_sees_none_of_its_writes(tool: Any, resumable: bool) -> None:
    parent = Catching(name="parent", sub_agents=[calling([tool], (tool.__name__, {}))], seen=[])
    assert await run_with(parent, resumable=resumable) == {"kept": "before"}
    assert parent.seen == ["half-way", {"kept": "before"}]


@pytest.mark.parametrize("hook", ["before_agent", "after_agent", "before_model", "after_model", "before_tool", "after_tool"])
async def test_a_parent_that_catches_a_callbacks_error_sees_none_of_its_writes(hook: str) -> None:
    def fail(*_: Any, **named: Any) -> None:
        half(named.get("callback_context") or named["tool_context"])

    def tool(tool_context: ToolContext) -> str:
        tool_context.state["tool"] = "called"
        return "ok"

    agent = calling([tool], ("tool", {}), **{f"{hook}_callback": fail})
    parent = Catching(name="parent", sub_agents=[agent], seen=[])
    kept = {"kept": "before"} | ({"tool": "called"} if hook == "after_agent" else {})
    assert await run_with(parent) == kept
    assert parent.seen == ["half-way", kept]


async def test_a_models_error_reverts_the_writes_of_the_callback_before_it() -> None:
    def before(callback_context: Any, llm_request: Any) -> None:
        callback_context.state["half"] = True

    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=[ValueError("no")]), before_model_callback=before)
    parent = Catching(name="parent", sub_agents=[agent], seen=[])
    await run_with(parent)
    assert parent.seen[-1] == {"kept": "before"}


class Answering(BasePlugin):
    async def on_tool_error_callback(self, *, tool_context: Any, **_: Any) -> dict[str, Any]:  # type: ignore[override]
        return answer(tool_context=tool_context)


def answer(*, tool_context: ToolContext, **_: Any) -> dict[str, Any]:
    tool_context.state["seen by the callback"] = tool_context.state.get("half", "nothing")
    return {"answered": True}


@pytest.mark.rule("S4")
@pytest.mark.parametrize("by", ["agent", "plugin"])
@pytest.mark.parametrize("tool", [half, half_async])
async def test_an_error_callback_that_answers_commits_its_own_writes_only(tool: Any, by: str) -> None:
    def before(tool: Any, args: Any, tool_context: ToolContext) -> None:
        tool_context.state["begun"] = True
        tool_context.state["kept"] = "begun"

    own = {"on_tool_error_callback": answer} if by == "agent" else {}
    agent = calling([tool], (tool.__name__, {}), before_tool_callback=before, **own)
    state = await run_with(agent, plugins=[Answering("answering")] if by == "plugin" else [])
    assert state == {"kept": "begun", "begun": True, "seen by the callback": "nothing"}


@pytest.mark.rule("S4")
@pytest.mark.parametrize("resumable", [False, True])
async def test_the_writes_of_siblings_stay(resumable: bool) -> None:
    wrote, failed = asyncio.Event(), asyncio.Event()

    async def failing(tool_context: ToolContext) -> str:
        tool_context.state["both"] = "failing"
        tool_context.state["mine"] = "failing"
        await wrote.wait()
        failed.set()
        raise ValueError("no")

    async def sibling(tool_context: ToolContext) -> str:
        tool_context.state["both"] = "sibling"
        wrote.set()
        await failed.wait()
        await asyncio.sleep(0)
        assert tool_context.session.state["both"] == "sibling" and "mine" not in tool_context.session.state
        return "ok"

    agent = calling([failing, sibling], ("failing", {}), ("sibling", {}), on_tool_error_callback=answer)
    assert await run_with(agent, resumable=resumable) == {"kept": "before", "both": "sibling", "seen by the callback": "nothing"}


async def test_the_write_below_a_reverted_one_is_shown_again() -> None:
    first_wrote, second_wrote, second_failed = asyncio.Event(), asyncio.Event(), asyncio.Event()
    seen: list[Any] = []

    async def first(tool_context: ToolContext) -> str:
        tool_context.state["both"] = "first"
        first_wrote.set()
        await second_failed.wait()
        await asyncio.sleep(0)
        seen.append(tool_context.session.state["both"])
        return "ok"

    async def second(tool_context: ToolContext) -> str:
        await first_wrote.wait()
        tool_context.state["both"] = "second"
        second_wrote.set()
        second_failed.set()
        raise ValueError("no")

    agent = calling([first, second], ("first", {}), ("second", {}), on_tool_error_callback=answer)
    assert (await run_with(agent))["both"] == "first"
    assert seen == ["first"]


async def test_a_failing_agent_as_a_tool_leaves_nothing_with_its_caller() -> None:
    async def failing_body(ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield Event(author="inner", actions=EventActions(state_delta={"inner": 1, "kept": "inner"}))
        raise ValueError("no")

    class Inner(BaseAgent):
        def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            return failing_body(ctx)

    agent = calling([AgentTool(Inner(name="inner"))], ("inner", {"request": "go"}), on_tool_error_callback=answer)
    assert await run_with(agent) == {"kept": "before", "seen by the callback": "nothing"}


async def test_a_commit_keeps_what_a_concurrent_call_wrote_since() -> None:
    """In a resumable app a result is committed while other calls of its turn run on."""
    wrote, committed, read = asyncio.Event(), asyncio.Event(), asyncio.Event()

    def add(item: int, tool_context: ToolContext) -> None:
        tool_context.state["items"] = [*tool_context.state.get("items", []), item]

    async def first(tool_context: ToolContext) -> str:
        add(1, tool_context)
        await wrote.wait()
        return "ok"

    async def second(tool_context: ToolContext) -> str:
        add(2, tool_context)
        wrote.set()
        await read.wait()
        return "ok"

    async def third(tool_context: ToolContext) -> str:
        await committed.wait()
        add(3, tool_context)
        read.set()
        return "ok"

    runner = runner_for(calling([first, second, third], ("first", {}), ("second", {}), ("third", {})), resumable=True)
    async for event in runner.run_async(user_id="u", session_id="s", new_message=message("go")):
        if event.get_function_responses():
            committed.set()
    assert (await stored(runner)).state["items"] == [1, 2, 3]


async def test_branches_of_a_parallel_agent_revert_only_their_own_writes() -> None:
    def keep(callback_context: Any) -> None:
        callback_context.state["branch"] = "kept"

    def fail(callback_context: Any) -> None:
        callback_context.state["branch"] = "failed"
        callback_context.state["half"] = True
        raise ValueError("no")

    good = LlmAgent(name="good", model=ScriptedLlm(replies=["hi"]), before_agent_callback=keep)
    bad = LlmAgent(name="bad", model=ScriptedLlm(replies=["hi"]), before_agent_callback=fail)
    parallel = ParallelAgent(name="both", sub_agents=[good, Catching(name="catching", sub_agents=[bad], seen=[])])
    assert await run_with(parallel) == {"kept": "before", "branch": "kept"}


@pytest.mark.parametrize("resumable", [False, True])
async def test_the_newest_of_several_writes_is_committed(resumable: bool) -> None:
    """As in google-adk, a list or dict that a call built on another call's one wins, also over that of a later call."""
    wrote, read = asyncio.Event(), asyncio.Event()

    async def first(tool_context: ToolContext) -> str:
        await wrote.wait()
        tool_context.state["items"] = [*tool_context.state["items"], "first"]
        tool_context.state["temp:both"] = object()
        read.set()
        return "ok"

    async def second(tool_context: ToolContext) -> str:
        tool_context.state["items"] = ["second"]
        tool_context.state["temp:both"] = object()
        wrote.set()
        await read.wait()
        return "ok"

    agent = calling([first, second], ("first", {}), ("second", {}))
    assert (await run_with(agent, resumable=resumable))["items"] == ["second", "first"]


async def test_dicts_that_parallel_calls_set_are_merged() -> None:
    def put(key: str, tool_context: ToolContext) -> str:
        tool_context.state["cart"] = {key: {"amount": 1}}
        return "ok"

    state = await run_with(calling([put], ("put", {"key": "a"}), ("put", {"key": "b"})))
    assert state["cart"] == {"a": {"amount": 1}, "b": {"amount": 1}}
