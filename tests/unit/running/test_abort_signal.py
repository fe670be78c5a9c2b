"""Runs that their caller ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from runtime.agents import BaseAgent, InvocationContext, LlmAgent
from runtime.apps import App, ResumabilityConfig
from runtime.events import Event
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.plugins import BasePlugin
from runtime.runners import Runner
from runtime.sessions import InMemorySessionService
from runtime.tools import AgentTool, ToolContext
from tests.agent_specs import message
from tests.seeds.running import stored, texts

OF = {"app_name": "app", "user_id": "u", "session_id": "s"}


class Ends(BasePlugin):
    """Counts the ends of runs."""

    def __init__(self) -> None:
        super().__init__("ends")
        self.finished = self.failed = 0

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        self.finished += 1

    async def on_run_error_callback(self, *, invocation_context: InvocationContext, error: Exception) -> None:
        self.failed += 1


async def runner_of(agent: BaseAgent, ends: Ends) -> Runner:
    service = InMemorySessionService()
    await service.create_session(**OF)
    app = App(name="app", root_agent=agent, plugins=[ends], resumability_config=ResumabilityConfig(is_resumable=True))
    return Runner(app=app, session_service=service)


async def events_of(runner: Runner, **given: Any) -> list[Event]:
    return [event async for event in runner.run_async(user_id="u", session_id="s", **given)]


@pytest.mark.parametrize("inside", [False, True], ids=["a tool", "a tool of an agent that is a tool"])
async def test_a_signal_cancels_a_tool_and_the_run_can_be_resumed(inside: bool) -> None:
    signal = asyncio.Event()
    seen: list[bool] = []

    async def wait(tool_context: ToolContext) -> str:
        """Waits."""
        if seen:
            return "done"
        seen.append(tool_context.is_aborted)
        signal.set()
        try:
            await asyncio.Event().wait()
        finally:
            seen.append(tool_context.is_aborted)
        return "never"

    waiting = LlmAgent(name="waiting", model=ScriptedLlm(replies=[Reply(calls=[("wait", {})]), "waited"]), tools=[wait])
    calling = Reply(calls=[("waiting", {"request": "go"})])
    outer = LlmAgent(name="outer", model=ScriptedLlm(replies=[calling, "all"]), tools=[AgentTool(waiting)])
    ends = Ends()
    runner = await runner_of(outer if inside else waiting, ends)
    events = await events_of(runner, new_message=message("go"), abort_signal=signal)
    assert [bool(event.get_function_calls()) for event in events] == [True]
    assert seen == [False, True]
    assert (ends.finished, ends.failed) == (1, 0)
    assert len((await stored(runner)).events) == 2

    if not inside:  # the replies of the inner model are used up
        rest = await events_of(runner, invocation_id=events[0].invocation_id)
        assert texts(rest) == ["waited"]
        assert ends.finished == 2


async def test_a_signal_between_events_ends_the_run_and_finally_blocks_run() -> None:
    closed = []

    class Counting(BaseAgent):
        """Yields without end."""

        async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
            try:
                while True:
                    yield Event(author=self.name)
            finally:
                closed.append(ctx.is_aborted)

    signal = asyncio.Event()
    ends = Ends()
    runner = await runner_of(Counting(name="counting"), ends)
    number = 0
    async for _ in runner.run_async(user_id="u", session_id="s", new_message=message("go"), abort_signal=signal):
        number += 1
        if number == 3:
            signal.set()
    assert (number, closed, ends.finished) == (3, [True], 1)


async def test_a_signal_that_is_not_set_or_set_before_changes_nothing_or_leaves_the_message() -> None:
    ends = Ends()
    runner = await runner_of(LlmAgent(name="quiet", model=ScriptedLlm(replies=["hello"])), ends)
    unset, already = asyncio.Event(), asyncio.Event()
    already.set()
    assert texts(await events_of(runner, new_message=message("one"), abort_signal=unset)) == ["hello"]
    assert await events_of(runner, new_message=message("two"), abort_signal=already) == []
    assert texts((await stored(runner)).events) == ["one", "hello", "two"]


async def test_an_error_is_raised_as_without_a_signal() -> None:
    def broken(request: Any) -> Reply:
        raise ValueError("no answer")

    ends = Ends()
    runner = await runner_of(LlmAgent(name="broken", model=ScriptedLlm(replies=[broken])), ends)
    with pytest.raises(ValueError, match="no answer"):
        await events_of(runner, new_message=message("go"), abort_signal=asyncio.Event())
    assert (ends.finished, ends.failed) == (0, 1)


@pytest.mark.parametrize("thread", [False, True], ids=["on the loop", "on a thread"])
@pytest.mark.parametrize("with_signal", [False, True])
async def test_a_run_is_ended_from_inside(thread: bool, with_signal: bool) -> None:
    stopped: list[ToolContext] = []

    async def stop(tool_context: ToolContext) -> str:
        """Ends the run."""
        if stopped:
            return "done"
        stopped.append(tool_context)  # before: a run with a signal may be cancelled before the thread has returned
        abort = tool_context.get_invocation_context().abort
        if thread:
            await asyncio.to_thread(abort)
        else:
            abort()
        if with_signal:
            await asyncio.Event().wait()
        return "dropped"

    ends = Ends()
    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=[Reply(calls=[("stop", {})]), "stopped"]), tools=[stop])
    runner = await runner_of(agent, ends)
    events = await events_of(runner, new_message=message("go"), **({"abort_signal": asyncio.Event()} if with_signal else {}))
    assert [bool(event.get_function_calls()) for event in events] == [True]
    assert ([context.is_aborted for context in stopped], ends.finished, ends.failed) == ([True], 1, 0)
    assert texts(await events_of(runner, invocation_id=events[0].invocation_id)) == ["stopped"]
