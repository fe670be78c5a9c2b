"""Parallel calls of which one fails."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from runtime.agents import LlmAgent
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.plugins import BasePlugin
from runtime.plugins.plugin_manager import PluginError
from runtime.runners import Runner
from runtime.tools import FunctionTool, ToolContext
from tests.seeds.running import answer, message, results, resume, run, runner_for, scripted, stored, texts


class Tools:
    """Tools that run in a chosen order.

    Attributes:
        ran: name → number of runs.
        broken: names of the tools that fail.
        failed: set once a tool has failed.
        release: lets `patient` return.
    """

    def __init__(self) -> None:
        self.ran: Counter[str] = Counter()
        self.broken = {"fails"}
        self.failed = asyncio.Event()
        self.release = asyncio.Event()
        self.stopped: list[str] = []

    def _run(self, name: str, tool_context: ToolContext) -> str:
        self.ran[name] += 1
        if name in self.broken:
            self.failed.set()
            raise ValueError(f"{name} is broken")
        tool_context.state[name] = self.ran[name]
        return name

    async def fails(self, tool_context: ToolContext) -> str:
        """Fail at first."""
        return self._run("fails", tool_context)

    async def slow(self, tool_context: ToolContext) -> str:
        """Return after another tool has failed."""
        await self.failed.wait()
        for _ in range(20):
            await asyncio.sleep(0)
        return self._run("slow", tool_context)

    async def patient(self, tool_context: ToolContext) -> str:
        """Wait to be released."""
        try:
            await self.release.wait()
        except asyncio.CancelledError:
            self.stopped.append("patient")
            raise
        return self._run("patient", tool_context)

    def quick(self, tool_context: ToolContext) -> str:
        """Return at once."""
        return self._run("quick", tool_context)

    def runner(self, *names: str, resumable: bool = True, tools: tuple[Any, ...] = (), **more: Any) -> Runner:
        replies = [Reply(calls=[(name, {}) for name in names]), "done"]
        own: list[Callable[..., Any]] = [self.fails, self.slow, self.patient, self.quick]
        return runner_for(LlmAgent(name="agent", model=ScriptedLlm(replies=replies), tools=[*own, *tools], **more), resumable=resumable)


@pytest.mark.rule("R4")
async def test_siblings_finish_and_are_committed_before_the_error() -> None:
    tools = Tools()
    runner = tools.runner("slow", "fails", "quick")
    with pytest.raises(ValueError, match="fails is broken"):
        await run(runner)
    session = await stored(runner)
    assert sorted(name for name, _ in results(session.events) if name) == ["quick", "slow"]
    assert session.state == {"slow": 1, "quick": 1}
    tools.broken.clear()
    assert texts(await resume(runner)) == ["done"]
    assert tools.ran == {"slow": 1, "quick": 1, "fails": 2}


async def test_the_first_error_names_the_other_calls_that_failed() -> None:
    tools = Tools()
    tools.broken.add("slow")
    runner = tools.runner("slow", "fails", "quick")
    with pytest.raises(ValueError, match="fails is broken") as caught:
        await run(runner)
    assert caught.value.__notes__ == ["The call of slow failed too: ValueError: slow is broken"]
    tools.broken.clear()
    assert texts(await resume(runner)) == ["done"]
    assert tools.ran == {"slow": 2, "quick": 1, "fails": 2}


async def test_a_run_can_be_stopped_while_siblings_finish() -> None:
    tools = Tools()
    runner = tools.runner("patient", "fails", "quick")

    committed = asyncio.Event()

    async def consume() -> None:
        async for event in runner.run_async(user_id="u", session_id="s", new_message=message("go")):
            if event.get_function_responses():
                committed.set()

    task = asyncio.create_task(consume())
    await tools.failed.wait()
    await committed.wait()
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert tools.stopped == ["patient"]
    tools.broken.clear()
    tools.release.set()
    assert texts(await resume(runner)) == ["done"]
    assert tools.ran == {"patient": 1, "fails": 2, "quick": 1}


async def test_leaving_the_run_stops_the_siblings() -> None:
    tools = Tools()
    runner = tools.runner("patient", "fails", "quick")
    stream = runner.run_async(user_id="u", session_id="s", new_message=message("go"))
    async for event in stream:
        if event.get_function_responses():
            break
    await stream.aclose()
    assert tools.stopped == ["patient"]


async def test_a_blocked_sync_tool_finishes_before_the_error() -> None:
    tools = Tools()
    go = threading.Event()

    def blocks() -> str:
        """Block its thread."""
        go.wait(30)
        return "free"

    runner = tools.runner("fails", "blocks", tools=(blocks,))
    task = asyncio.create_task(run(runner))
    await tools.failed.wait()
    go.set()
    with pytest.raises(ValueError, match="fails is broken"):
        await task
    assert results((await stored(runner)).events) == [("blocks", {"result": "free"})]


async def test_a_siblings_request_is_asked_before_the_error() -> None:
    def guarded() -> str:
        """Run once it is confirmed."""
        return "ran"

    tools = Tools()
    runner = tools.runner("guarded", "fails", tools=(FunctionTool(guarded, require_confirmation=True),))
    with pytest.raises(ValueError, match="fails is broken"):
        await run(runner)
    tools.broken.clear()
    (request,) = [
        call for event in (await stored(runner)).events for call in event.get_function_calls() if call.name == "adk_request_confirmation"
    ]
    assert texts(await resume(runner)) == []  # runs the failed call, then waits
    assert texts(await resume(runner, answer(request.id, request.name or "", {"confirmed": True}))) == ["done"]
    assert tools.ran == {"fails": 2}


@pytest.mark.parametrize("names", [("transfer_to_agent", "fails"), ("fails", "transfer_to_agent")])
async def test_a_siblings_transfer_acts_once_the_failed_call_has_a_result(names: tuple[str, ...]) -> None:
    tools = Tools()
    calls = [(name, {"agent_name": "other"} if name == "transfer_to_agent" else {}) for name in names]
    other = LlmAgent(name="other", model=ScriptedLlm(replies=["from other"]))
    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=[Reply(calls=calls), "wrong"]), tools=[tools.fails], sub_agents=[other])
    runner = runner_for(agent, resumable=True)
    with pytest.raises(ValueError, match="fails is broken"):
        await run(runner)
    tools.broken.clear()
    assert texts(await resume(runner)) == ["from other"]
    assert [event.author for event in (await stored(runner)).events if event.actions.end_of_agent] == ["other", "agent"]


async def test_an_app_that_is_not_resumable_cancels_the_siblings() -> None:
    tools = Tools()
    with pytest.raises(ValueError, match="fails is broken"):
        await run(tools.runner("patient", "fails", resumable=False))
    assert tools.stopped == ["patient"]


@pytest.mark.rule("R4")
async def test_an_app_that_is_not_resumable_commits_what_returned_before_the_error() -> None:
    tools = Tools()
    runner = tools.runner("patient", "quick", "fails", resumable=False)
    with pytest.raises(ValueError, match="fails is broken"):
        await run(runner)
    session = await stored(runner)
    assert results(session.events) == [("quick", {"result": "quick"})]
    assert session.state == {"quick": 1}
    assert tools.stopped == ["patient"]


async def test_a_result_that_does_more_than_answer_is_dropped_with_its_writes() -> None:
    async def escalates(tool_context: ToolContext) -> str:
        tool_context.state["escalated"] = True
        tool_context.actions.escalate = True
        return "escalated"

    seen: list[Any] = []

    async def body(agent: Any, ctx: Any) -> Any:
        with pytest.raises(ValueError, match="fails is broken"):
            async for event in inner.run_async(ctx):
                yield event
        seen.append(dict(ctx.session.state))

    tools = Tools()
    calls = Reply(calls=[("escalates", {}), ("fails", {})])
    inner = LlmAgent(name="inner", model=ScriptedLlm(replies=[calls]), tools=[escalates, tools.fails])
    outer = scripted(body)
    outer.sub_agents.append(inner)
    runner = runner_for(outer)
    await run(runner)
    assert results((await stored(runner)).events) == []
    assert seen == [{}]


async def test_a_tool_that_ignores_its_cancellation_does_not_hang_the_run() -> None:
    async def stubborn() -> str:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return "late"

    tools = Tools()
    runner = tools.runner("stubborn", "fails", resumable=False, tools=(stubborn,))
    with pytest.raises(ValueError, match="fails is broken"):
        async with asyncio.timeout(30):
            await run(runner)
    assert results((await stored(runner)).events) == [("stubborn", {"result": "late"})]


class Noting(BasePlugin):
    """Notes failed calls."""

    def __init__(self, name: str, noted: list[str]) -> None:
        super().__init__(name)
        self._noted = noted

    async def on_tool_error_callback(self, *, tool: Any, error: Any, **_: Any) -> dict[str, Any] | None:  # type: ignore[override]
        self._noted.append(f"{self.name}: {tool.name} {type(error).__name__}")
        return {"answered": True} if isinstance(error, asyncio.CancelledError) else None


class Raising(BasePlugin):
    """Ends the run at a failed call."""

    async def on_tool_error_callback(self, *, error: Any, **_: Any) -> dict[str, Any] | None:  # type: ignore[override]
        if isinstance(error, asyncio.CancelledError):
            return {"answered": True}
        raise error


@pytest.mark.logs("An error callback failed for a cancelled call of patient.")
async def test_all_error_callbacks_learn_of_a_cancelled_call() -> None:
    noted: list[str] = []

    def breaks(tool: Any, args: Any, tool_context: ToolContext, error: Any) -> None:
        noted.append(f"breaks: {tool.name} {type(error).__name__}")
        if isinstance(error, asyncio.CancelledError):
            raise RuntimeError("in the callback")

    async def last(tool: Any, args: Any, tool_context: ToolContext, error: Any) -> None:
        noted.append(f"last: {tool.name} {type(error).__name__}")

    tools = Tools()
    replies = [Reply(calls=[("patient", {}), ("fails", {})])]
    agent = LlmAgent(
        name="agent", model=ScriptedLlm(replies=replies), tools=[tools.patient, tools.fails], on_tool_error_callback=[breaks, last]
    )
    plugins = [Noting("one", noted), Raising("raising"), Noting("two", noted)]
    with pytest.raises(PluginError, match="fails is broken"):
        await run(runner_for(agent, plugins=plugins))
    assert noted[1:] == [f"{by}: patient CancelledError" for by in ("one", "two", "breaks", "last")]


async def test_a_stopped_run_does_not_wait_for_error_callbacks_behind_a_blocked_function() -> None:
    go, begun, loop, noted = threading.Event(), asyncio.Event(), asyncio.get_running_loop(), list[str]()

    def blocks() -> None:
        """Block its thread."""
        loop.call_soon_threadsafe(begun.set)
        go.wait(30)

    def note(tool: Any, args: Any, tool_context: ToolContext, error: Any) -> None:
        noted.append(tool.name)

    replies = [Reply(calls=[("blocks", {})])]
    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=replies), tools=[blocks], on_tool_error_callback=note)
    task = asyncio.create_task(run(runner_for(agent)))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go.set()
    assert noted == []
