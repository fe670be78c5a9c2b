"""A run that nothing holds does not wait for the window, and can be held, stopped and asked at any moment all the same."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

from runtime.debugger.breakpoints import Breakpoints
from runtime.debugger.debugger import Debugger
from runtime.debugger.hold import Hold
from tests.interop.engines.conftest import AGENTS, Start
from tests.interop.engines.driving import drive, places, script, text, until


async def test_the_agent_does_not_wait_while_nothing_holds_and_commits_in_order(newest: str, start_engine: Start) -> None:
    started = await start_engine(newest, AGENTS / "tally")
    key = await started.engine.new_session("u")
    debugger = Debugger()
    started.engine.attach(debugger)
    events = []
    async with aclosing(debugger.run(started.engine.run(key, text("events 300")))) as run:
        events.append(await anext(run))
        async with asyncio.timeout(20):
            while len(started.committed) < 301:  # all are committed, though none but the first was asked for
                await started.engine.session(key)
        events += [event async for event in run]
    assert [event.actions.state_delta["number"] for event in events] == list(range(300))
    assert [event.id for event, _ in started.committed][1:] == [event.id for event in events]


async def test_pause_holds_a_run_that_does_not_wait(newest: str, start_engine: Start) -> None:
    started = await start_engine(newest, AGENTS / "tally")
    key = await started.engine.new_session("u")
    debugger = Debugger()
    holds: list[Hold] = []

    async def at_hold(hold: Hold) -> None:
        holds.append(hold)
        for _ in range(5):
            stored = await started.engine.session(key)
            assert stored is not None and hold.event is not None
            assert stored[1][-1].id == hold.event.id, "the agent has not moved on"
        if len(holds) < 3:
            debugger.step()
        else:
            debugger.resume()

    async def pause() -> None:
        await until(lambda: len(started.committed) > 4)
        debugger.pause()

    pausing = asyncio.ensure_future(pause())
    events = await drive(started.engine, key, text("events 2000"), debugger, at_hold)
    await pausing
    assert len(events) == 2000
    first = events.index(holds[0].event)  # type: ignore[arg-type]
    assert [hold.event for hold in holds] == events[first : first + 3]


async def test_a_stop_ends_a_run_that_awaits_nothing(newest: str, start_engine: Start) -> None:
    started = await start_engine(newest, AGENTS / "tally")
    key = await started.engine.new_session("u")
    debugger = Debugger()
    started.engine.attach(debugger)
    async with aclosing(debugger.run(started.engine.run(key, text("events 1000000")))) as run:
        await anext(run)
        debugger.stop()
        assert [event async for event in run] == []
    assert started.engine.child.ended is None
    assert len(await drive(started.engine, key, text("events 3"))) == 3


async def test_a_breakpoint_that_is_added_while_the_agent_blocks_holds_it_at_its_next_call(
    newest: str, start_engine: Start, tmp_path: Path
) -> None:
    started = await start_engine(newest, AGENTS / "steps")
    file = tmp_path / "notes"
    key = await started.engine.new_session("u")
    breakpoints = Breakpoints()
    debugger = Debugger(breakpoints=breakpoints)
    holds: list[Hold] = []

    def at_hold(hold: Hold) -> None:
        holds.append(hold)
        debugger.resume()

    async def add() -> None:
        await until(file.exists)
        breakpoints.add(when="before tool", tool="note")
        (tmp_path / "notes.go").touch()

    adding = asyncio.ensure_future(add())
    message = script(["call", "wait_for", {"path": str(file)}], ["call", "note", {"path": str(file), "text": "x"}], ["done"])
    await drive(started.engine, key, message, debugger, at_hold)
    await adding
    assert places(holds) == ["steps before tool"]


async def test_partial_events_arrive_in_order_while_the_child_is_asked_for_its_sessions(newest: str, start_engine: Start) -> None:
    started = await start_engine(newest, AGENTS / "tally")
    key = await started.engine.new_session("u")
    seen = []
    async with aclosing(started.engine.run(key, text("partials 3000"))) as run:
        async for event in run:
            seen.append(event.content.parts[0].text)  # type: ignore[union-attr, index]
            if len(seen) == 10:
                assert await started.engine.session(key) is not None
    assert seen == [str(number) for number in range(3000)]
