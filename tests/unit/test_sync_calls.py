"""Synchronous tools, callbacks and instruction providers: on one thread of the agent, one after the other, in the order of the calls."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import subprocess
import sys
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from runtime.agents import BaseAgent, CallbackContext, InvocationContext, LlmAgent, ParallelAgent
from runtime.events import Event
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.planners import BasePlanner
from runtime.plugins import BasePlugin
from runtime.runners import InMemoryRunner, Runner
from runtime.storage.open_service import open_session_service
from runtime.tools import AgentTool, FunctionTool, ToolContext
from tests.agent_specs import message
from tests.seeds.running import run, runner_for, said, scripted, stored, texts
from tests.sweep import count

pytestmark = [pytest.mark.rule("R3"), pytest.mark.timeout(240)]


def calling(tools: list[Any], *calls: tuple[str, dict[str, Any]], name: str = "agent", **more: Any) -> LlmAgent:
    """Return an agent whose model makes these calls in one turn, and then answers."""
    return LlmAgent(name=name, model=ScriptedLlm(replies=[Reply(calls=list(calls)), "done"]), tools=tools, **more)


def append(item: int, tool_context: ToolContext) -> str:
    tool_context.state["items"] = [*tool_context.state.get("items", []), item]
    return "ok"


THREE = [("append", {"item": number}) for number in (1, 2, 3)]


@pytest.mark.sweep
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("resumable", [False, True])
async def test_no_write_of_parallel_calls_is_lost(resumable: bool) -> None:
    lost = []
    for number in range(count(30, 500)):
        runner = runner_for(calling([append], *THREE), resumable=resumable)
        await run(runner)
        items = (await stored(runner)).state["items"]
        if items != [1, 2, 3]:
            lost.append((number, items))
    assert lost == []


async def test_no_write_of_parallel_calls_is_lost_in_a_database(tmp_path: Path) -> None:
    async with open_session_service(str(tmp_path / "s.db")) as service:
        for number in range(10):
            await service.create_session(app_name="app", user_id="u", session_id=str(number))
            runner = runner_for(calling([append], *THREE), service, resumable=True)
            async for _ in runner.run_async(user_id="u", session_id=str(number), new_message=message("go")):
                pass
            session = await service.get_session(app_name="app", user_id="u", session_id=str(number))
            assert session is not None and session.state["items"] == [1, 2, 3]


async def test_a_call_and_its_callbacks_come_before_the_next_call() -> None:
    order: list[str] = []

    def before(tool: Any, args: dict[str, Any], tool_context: ToolContext) -> None:
        order.append(f"before {args['item']}")

    def after(tool: Any, args: dict[str, Any], tool_context: ToolContext, tool_response: Any) -> None:
        order.append(f"after {args['item']}")

    def note(item: int) -> str:
        order.append(f"call {item}")
        return "ok"

    calls = [("note", {"item": number}) for number in (1, 2)]
    agent = calling([note], *calls, before_tool_callback=before, after_tool_callback=after)
    await run(runner_for(agent))
    assert order == ["before 1", "call 1", "after 1", "before 2", "call 2", "after 2"]


async def test_the_next_sync_call_of_a_resumable_app_begins_when_the_result_before_it_is_committed() -> None:
    order: list[str] = []

    def note(item: int) -> str:
        order.append(f"call {item}")
        return "ok"

    runner = runner_for(calling([note], ("note", {"item": 1}), ("note", {"item": 2})), resumable=True)
    async for event in runner.run_async(user_id="u", session_id="s", new_message=message("go")):
        order.extend("result" for _ in event.get_function_responses())
    assert order == ["call 1", "result", "call 2", "result"]


async def test_async_tools_run_concurrently_and_beside_sync_ones() -> None:
    first, second, released = asyncio.Event(), asyncio.Event(), threading.Event()

    async def one() -> str:
        first.set()
        await second.wait()
        return "one"

    async def two() -> str:
        second.set()
        await first.wait()
        released.set()
        return "two"

    def blocked() -> bool:
        return released.wait(30)

    agent = calling([one, two, blocked], ("one", {}), ("two", {}), ("blocked", {}))
    [results] = [event.get_function_responses() for event in await run(runner_for(agent)) if event.get_function_responses()]
    assert [result.response for result in results] == [{"result": "one"}, {"result": "two"}, {"result": True}]


async def test_everything_synchronous_runs_on_the_thread_of_the_agent() -> None:
    threads: dict[str, str] = {}

    def note(what: str) -> None:
        threads[what] = threading.current_thread().name

    def callback(what: str) -> Callable[..., None]:
        return lambda *_, **__: note(what)

    class Planner(BasePlanner):
        def build_planning_instruction(self, readonly_context: Any, llm_request: Any) -> str:
            note("build_planning_instruction")
            return ""

        def process_planning_response(self, callback_context: Any, response_parts: Any) -> None:
            note("process_planning_response")

    class Plugin(BasePlugin):
        def before_model_callback(self, **_: Any) -> None:  # type: ignore[override]  # google-adk accepts only async ones
            note("plugin")

    def tool() -> str:
        note("tool")
        return "ok"

    def failing() -> str:
        raise ValueError("no")

    def confirm() -> bool:
        note("require_confirmation")
        return False

    def provider(context: Any) -> str:
        note("provider")
        return "Do."

    names = ("before_agent", "after_agent", "before_model", "after_model", "before_tool", "after_tool")
    agent = calling(
        [FunctionTool(tool, require_confirmation=confirm), failing],
        ("tool", {}),
        ("failing", {}),
        instruction=provider,
        planner=Planner(),
        on_tool_error_callback=lambda **_: note("on_tool_error") or {"ok": True},
        **{f"{name}_callback": callback(name) for name in names},
    )
    await run(runner_for(agent, plugins=[Plugin("plugin")]))
    expected = {*names, "provider", "tool", "plugin", "require_confirmation", "on_tool_error"}
    assert threads == dict.fromkeys({*expected, "build_planning_instruction", "process_planning_response"}, "agent agent")


async def test_parallel_agents_and_agents_as_tools_share_the_thread() -> None:
    threads: list[int] = []

    def note(callback_context: CallbackContext) -> None:
        threads.append(threading.get_ident())

    inner = LlmAgent(name="inner", model=ScriptedLlm(replies=["hello"]), before_agent_callback=note)
    caller = calling([AgentTool(inner)], ("inner", {"request": "go"}), before_agent_callback=note)
    other = LlmAgent(name="other", model=ScriptedLlm(replies=["hi"]), before_agent_callback=note)
    runner = runner_for(ParallelAgent(name="both", sub_agents=[caller, other]))
    await run(runner)
    await run(runner)  # the caller's model does not call again
    assert len(threads) == 5 and len(set(threads)) == 1 and threads[0] != threading.get_ident()


def inner_runner(threads: list[int]) -> InMemoryRunner:
    def inner_tool() -> str:
        threads.append(threading.get_ident())
        return "inner"

    runner = InMemoryRunner(calling([inner_tool], ("inner_tool", {}), name="inner"))
    runner.auto_create_session = True
    return runner


async def collected(runner: Runner) -> str:
    events = runner.run_async(user_id="u", session_id="s", new_message=message("go"))
    return texts([event async for event in events])[-1]


def by_run(runner: Runner) -> str:
    return texts(list(runner.run(user_id="u", session_id="s", new_message=message("go"))))[-1]


def by_own_loop(runner: Runner) -> str:
    return asyncio.run(collected(runner))


def by_executor(runner: Runner) -> str:
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(asyncio.run, collected(runner)).result()


def by_thread_with_context(runner: Runner) -> str:
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(contextvars.copy_context().run, asyncio.run, collected(runner)).result()


@pytest.mark.parametrize("start", [by_run, by_own_loop, by_executor, by_thread_with_context])
@pytest.mark.parametrize("resumable", [False, True])
async def test_a_run_started_inside_a_sync_call_ends(start: Callable[[Runner], str], resumable: bool) -> None:
    inner: list[int] = []
    outer: list[int] = []

    def nest() -> str:
        outer.append(threading.get_ident())
        return start(inner_runner(inner))

    events = await run(runner_for(calling([nest], ("nest", {}), ("nest", {})), resumable=resumable))
    results = [response.response for event in events for response in event.get_function_responses()]
    assert results == [{"result": "done"}] * 2
    assert len(inner) == len(outer) == 2
    if start in (by_run, by_own_loop):
        assert {*inner} == {*outer}, "inline, on the thread of the outer call"


@pytest.mark.parametrize(("start", "deepest"), [(by_run, 4), (by_own_loop, 2), (by_thread_with_context, 3)])
async def test_an_agent_can_run_itself_inside_its_sync_tool(start: Callable[[Runner], str], deepest: int) -> None:
    depths: list[str] = []

    def nest() -> str:
        depths.append(threading.current_thread().name)
        return start(new_runner()) if len(depths) < deepest else "deep"

    agent = calling([nest], ("nest", {}))

    def new_runner() -> Runner:
        runner = InMemoryRunner(agent)
        runner.auto_create_session = True
        return runner

    assert await collected(new_runner()) == "done"
    assert len(depths) == deepest and depths[0] == "agent agent"
    assert (len(set(depths)) == 1) is (start is not by_thread_with_context)


async def test_a_run_in_a_callback_of_a_run_in_a_sync_tool_ends() -> None:
    innermost = inner_runner([])

    def callback(callback_context: CallbackContext) -> None:
        assert by_run(innermost) == "done"

    middle = InMemoryRunner(LlmAgent(name="middle", model=ScriptedLlm(replies=["hello"]), after_agent_callback=callback))
    middle.auto_create_session = True

    def nest() -> str:
        return by_run(middle)

    assert texts(await run(runner_for(calling([nest], ("nest", {}))))) == ["done"]


async def test_leaving_a_nested_run_early_runs_its_sync_callbacks() -> None:
    called: list[str] = []

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        try:
            yield said(agent, "one")
            yield said(agent, "two")
        finally:
            await ctx.sync_calls.call(called.append, "finally")

    runner = InMemoryRunner(scripted(body, "inner"))
    runner.auto_create_session = True

    def nest() -> str:
        for event in runner.run(user_id="u", session_id="s", new_message=message("go")):
            return texts([event])[0]
        return ""

    events = await run(runner_for(calling([nest], ("nest", {}))))
    assert [response.response for event in events for response in event.get_function_responses()] == [{"result": "one"}]
    assert called == ["finally"]


async def test_a_run_inside_an_async_tool_uses_the_thread_of_the_agent() -> None:
    inner: list[int] = []
    outer: list[int] = []
    runner = inner_runner(inner)

    async def nest() -> str:
        return await collected(runner)

    def note(callback_context: CallbackContext) -> None:
        outer.append(threading.get_ident())

    await run(runner_for(calling([nest], ("nest", {}), before_agent_callback=note)))
    assert inner == outer


async def test_the_error_of_a_sync_tool_that_needs_the_loop_says_what_to_do() -> None:
    def needs_loop() -> None:
        asyncio.get_running_loop()

    with pytest.raises(RuntimeError, match=r"no running event loop: needs_loop\(\) is a plain function.*agent's thread.*`async def`"):
        await run(runner_for(calling([needs_loop], ("needs_loop", {}))))


REQUEST: contextvars.ContextVar[str] = contextvars.ContextVar("request", default="none")


async def test_context_variables_reach_sync_calls_and_come_back() -> None:
    seen: list[str] = []

    def before(callback_context: CallbackContext) -> None:
        seen.append(REQUEST.get())
        REQUEST.set("of the callback")

    def look() -> str:
        seen.append(REQUEST.get())
        return "ok"

    async def look_async() -> str:
        seen.append(REQUEST.get())
        return "ok"

    token = REQUEST.set("of the caller")
    try:
        await run(runner_for(calling([look, look_async], ("look", {}), ("look_async", {}), before_agent_callback=before)))
    finally:
        REQUEST.reset(token)
    assert seen == ["of the caller", "of the callback", "of the callback"]


async def test_a_stopped_run_that_is_blocked_keeps_its_thread_and_the_next_run_gets_another(caplog: pytest.LogCaptureFixture) -> None:
    begun, all_begun, release = threading.Event(), threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def block() -> bool:
        threads.append(threading.current_thread())
        begun.set()
        if len(threads) == 3:
            all_begun.set()
        return release.wait(30)

    runner = runner_for(calling([block], ("block", {})))
    task = asyncio.create_task(run(runner))
    await asyncio.to_thread(begun.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    second = asyncio.create_task(run(runner_for(calling([block], ("block", {})))))  # another agent is not concerned
    try:
        again = asyncio.create_task(run(runner, "again"))
        assert await asyncio.to_thread(all_begun.wait, 30)
    finally:
        release.set()
    await second
    await again
    assert len(set(threads)) == 3
    assert "has not returned" in caplog.text
    await asyncio.to_thread(threads[0].join, 30)
    assert not threads[0].is_alive()


async def test_the_threads_of_collected_agents_end() -> None:
    def tool() -> str:
        return threading.current_thread().name

    def new_runner() -> Runner:
        children = [LlmAgent(name="child", model=ScriptedLlm(replies=["hi"]))]
        return runner_for(calling([tool], ("tool", {}), name="short_lived", sub_agents=children))

    for _ in range(600):
        await run(new_runner())
    assert sum(thread.name == "agent short_lived" for thread in threading.enumerate()) < 300
    gc.collect()
    for thread in threading.enumerate():
        if thread.name == "agent short_lived":
            await asyncio.to_thread(thread.join, 30)
            assert not thread.is_alive()


def test_a_blocked_tool_does_not_delay_the_exit() -> None:
    code = """
import asyncio, threading
from tests.unit.test_sync_calls import *
begun = threading.Event()
def block():
    print("blocked", flush=True)
    begun.set()
    threading.Event().wait()
async def main():
    task = asyncio.create_task(run(runner_for(calling([block], ("block", {})))))
    await asyncio.to_thread(begun.wait, 100)
    task.cancel()
asyncio.run(main())
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=200, check=False)
    assert (ended.stdout, ended.returncode) == ("blocked\n", 0), ended.stderr
