"""The gate between a run and its consumer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.agents import BaseAgent, InvocationContext
from runtime.debugger.debugger import ALL_PLACES, Debugger
from runtime.events import Event
from tests.agent_specs import message
from tests.seeds.running import runner_for, scripted, stored, texts


def said(text: str, **more: Any) -> Event:
    return Event(author="agent", content=types.Content(role="model", parts=[types.Part(text=text)]), **more)


class Watched:
    """A run of `count` events that records the agent's progress and whether it was closed."""

    def __init__(self, count: int = 3, *, blocks_after: int | None = None) -> None:
        self.count = count
        self.blocks_after = blocks_after
        self.reached = 0
        self.closed = False
        self.blocked = asyncio.Event()

    async def events(self) -> AsyncGenerator[Event, None]:
        try:
            for number in range(self.count):
                self.reached = number
                if number == self.blocks_after:
                    self.blocked.set()
                    await asyncio.Event().wait()
                yield said(str(number))
        finally:
            self.closed = True
            await asyncio.sleep(0)  # a finally block may await


async def collect(debugger: Debugger, events: AsyncGenerator[Event, None], seen: list[Event]) -> None:
    async for event in debugger.run(events):
        seen.append(event)


async def held_event(debugger: Debugger) -> Event:
    event = (await debugger.wait_until_held()).event
    assert event is not None
    return event


async def test_a_run_without_holds_runs_through() -> None:
    run, seen, states = Watched(), [], []  # type: ignore[var-annotated]
    debugger = Debugger(on_change=lambda: states.append(debugger.state))
    await collect(debugger, run.events(), seen)
    assert texts(seen) == ["0", "1", "2"]
    assert states == ["running", "finished"]


async def test_at_a_hold_the_event_is_committed_and_the_agent_is_suspended() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for number in range(3):
            nonlocal reached
            reached = number
            yield said(str(number))

    reached = -1
    runner = runner_for(scripted(body))
    debugger = Debugger(paused=True)
    seen: list[Event] = []
    async with asyncio.TaskGroup() as group:
        group.create_task(collect(debugger, runner.run_async(user_id="u", session_id="s", new_message=message("go")), seen))
        for number in range(3):
            held = await held_event(debugger)
            assert (debugger.state, debugger.held) == ("paused", held)
            assert texts([held]) == [str(number)]
            assert texts((await stored(runner)).events)[-1] == str(number)
            await asyncio.sleep(0)
            assert reached == number
            debugger.step()
    assert debugger.state == "finished"
    assert texts(seen) == ["0", "1", "2"]


async def test_partial_events_are_never_held() -> None:
    async def events() -> AsyncGenerator[Event, None]:
        yield said("th", partial=True)
        yield said("th", partial=True)
        yield said("the whole")

    debugger, seen = Debugger(paused=True), []  # type: ignore[var-annotated]
    async with asyncio.TaskGroup() as group:
        group.create_task(collect(debugger, events(), seen))
        assert texts([await held_event(debugger)]) == ["the whole"]
        debugger.resume()
    assert len(seen) == 3


async def test_pause_holds_at_the_next_event_and_resume_continues() -> None:
    run, seen = Watched(5), []  # type: ignore[var-annotated]
    debugger = Debugger(paused=True)
    async with asyncio.TaskGroup() as group:
        group.create_task(collect(debugger, run.events(), seen))
        await held_event(debugger)
        debugger.resume()
        debugger.pause()
        assert texts([await held_event(debugger)]) == ["1"]
        debugger.resume()
    assert texts(seen) == ["0", "1", "2", "3", "4"]


async def test_stop_while_held_closes_the_agent() -> None:
    run, seen = Watched(), []  # type: ignore[var-annotated]
    debugger = Debugger(paused=True)
    async with asyncio.TaskGroup() as group:
        group.create_task(collect(debugger, run.events(), seen))
        await held_event(debugger)
        debugger.stop()
    assert (debugger.state, run.closed, texts(seen)) == ("finished", True, ["0"])


async def test_stop_cancels_the_agents_await_but_not_the_consumer() -> None:
    run, seen = Watched(blocks_after=1), []  # type: ignore[var-annotated]
    debugger = Debugger(paused=True)

    async def watch() -> str:
        await collect(debugger, run.events(), seen)
        await asyncio.sleep(0)  # the consumer itself is not cancelled
        task = asyncio.current_task()
        assert task is not None and task.cancelling() == 0
        return "watched to the end"

    async with asyncio.TaskGroup() as group:
        watcher = group.create_task(watch())
        await held_event(debugger)
        debugger.step()
        await run.blocked.wait()
        debugger.stop()
        assert debugger.state == "stopping"
    assert await watcher == "watched to the end"
    assert (debugger.state, run.closed) == ("finished", True)


async def test_an_agent_that_swallows_the_stop_ends_at_its_next_event() -> None:
    async def events() -> AsyncGenerator[Event, None]:
        try:
            blocked.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            yield said("I continue")
        yield said("and on")

    blocked, debugger, seen = asyncio.Event(), Debugger(), []  # type: ignore[var-annotated]
    async with asyncio.TaskGroup() as group:
        watcher = group.create_task(collect(debugger, events(), seen))
        await blocked.wait()
        debugger.stop()
    assert (texts(seen), debugger.state, watcher.cancelling()) == (["I continue"], "finished", 0)


async def test_a_stop_delayed_by_a_commit_does_not_cancel_the_consumer() -> None:
    async def events() -> AsyncGenerator[Event, None]:
        try:
            blocked.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:  # like a session service during a commit
            task = asyncio.current_task()
            assert task is not None
            task.uncancel()
            task.cancel()
        yield said("committed")

    async def watch() -> str:
        await collect(debugger, events(), seen)
        await asyncio.sleep(0)
        return "watched to the end"

    blocked, debugger, seen = asyncio.Event(), Debugger(), []  # type: ignore[var-annotated]
    async with asyncio.TaskGroup() as group:
        watcher = group.create_task(watch())
        await blocked.wait()
        debugger.stop()
    assert (texts(seen), await watcher) == (["committed"], "watched to the end")


async def test_cancelling_the_consumer_cancels_it() -> None:
    run, seen = Watched(blocks_after=0), []  # type: ignore[var-annotated]
    debugger = Debugger()
    async with asyncio.TaskGroup() as group:
        watcher = group.create_task(collect(debugger, run.events(), seen))
        await asyncio.sleep(0)
        watcher.cancel()
    assert watcher.cancelled()
    assert (debugger.state, run.closed) == ("finished", True)


async def test_a_failing_run_raises_in_the_consumer() -> None:
    async def events() -> AsyncGenerator[Event, None]:
        yield said("one")
        raise ValueError("the agent broke")

    debugger = Debugger()
    with pytest.raises(ValueError, match="the agent broke"):
        await collect(debugger, events(), [])
    assert debugger.state == "finished"


async def test_commands_without_a_run_do_nothing() -> None:
    debugger = Debugger()
    for command in (debugger.pause, debugger.step, debugger.resume):
        command()
    assert (debugger.state, debugger.held) == ("idle", None)


async def test_a_run_stopped_before_it_starts_does_not_start() -> None:
    run, seen = Watched(3), []  # type: ignore[var-annotated]
    debugger = Debugger(paused=True)
    debugger.stop()
    await collect(debugger, run.events(), seen)
    assert (seen, debugger.state) == ([], "finished")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["step", "resume", "pause", "stop", "let it run"]), max_size=30), st.integers(0, 8))
def test_random_commands_lose_repeat_and_block_nothing(commands: list[str], count: int) -> None:
    async def play() -> None:
        run, seen = Watched(count), []  # type: ignore[var-annotated]
        debugger = Debugger(paused=True)
        async with asyncio.TaskGroup() as group:
            watcher = group.create_task(collect(debugger, run.events(), seen))
            for command in commands:
                if command == "let it run":
                    await asyncio.sleep(0)
                else:
                    getattr(debugger, command)()
            while not watcher.done():
                debugger.resume()
                await asyncio.sleep(0)
        assert debugger.state == "finished"
        assert texts(seen) == [str(number) for number in range(len(seen))]
        assert run.closed or not seen
        if "stop" not in commands:
            assert len(seen) == count

    asyncio.run(play())


async def test_where_a_run_may_be_held_follows_the_commands_and_the_breakpoints() -> None:
    told: list[frozenset[str]] = []
    debugger = Debugger()
    stop_listening = debugger.on_possible_holds(lambda: told.append(debugger.possible_holds))
    assert debugger.possible_holds == frozenset()
    added = debugger.breakpoints.add(when="before tool")
    debugger.breakpoints.add(when="error")
    debugger.breakpoints.change(added.id, enabled=False)
    debugger.pause()
    assert told == [{"before tool"}, {"before tool", "error", "event"}, {"error", "event"}, ALL_PLACES]
    stop_listening()
    debugger.breakpoints.clear()
    assert len(told) == 4


async def test_an_event_that_the_agent_has_passed_is_not_held() -> None:
    async def events() -> AsyncGenerator[Event, None]:
        for number in range(3):
            event = Event(id=f"e{number}", author="a")
            if number < 2:
                debugger.passed(event.id)
            yield event

    debugger = Debugger(paused=True)
    seen: list[Event] = []
    run = asyncio.ensure_future(collect(debugger, events(), seen))
    assert (await held_event(debugger)).id == "e2"
    assert [event.id for event in seen] == ["e0", "e1", "e2"]
    debugger.resume()
    await run
