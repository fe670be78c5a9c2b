from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Iterator

import pytest

from runtime.agents import BaseAgent
from runtime.debugger import watchdog
from runtime.debugger.watchdog import Block, Watchdog
from tests.seeds.running import run, runner_for, scripted

LIMIT = 0.1


def a_blocking_step() -> None:
    time.sleep(4 * LIMIT)  # blocks the loop on purpose


async def blocks() -> None:
    a_blocking_step()


@pytest.fixture
def seen() -> Iterator[threading.Event]:
    """Return what is set once the watchdog has seen that the loop is blocked: how long that takes depends on the machine's load."""
    event = threading.Event()

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            event.set()

    handler = Handler()
    logging.getLogger(watchdog.__name__).addHandler(handler)
    yield event
    logging.getLogger(watchdog.__name__).removeHandler(handler)


async def watched(blocked: int) -> list[Block]:
    """Block the loop several times under a watchdog; return its reports."""
    found: asyncio.Queue[Block] = asyncio.Queue()
    dog = Watchdog(found.put_nowait, limit=LIMIT)
    dog.start()
    dog.start()  # the second call does nothing
    reports = []
    try:
        for _ in range(blocked):
            await blocks()
            async with asyncio.timeout(5):
                reports.append(await found.get())
                while reports[-1].function != "a_blocking_step":  # the machine itself may have been slow
                    reports[-1] = await found.get()
    finally:
        dog.stop()
    return reports


async def test_blocking_code_is_named_with_its_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        one, two = await watched(2)
    assert one.function == two.function == "a_blocking_step"
    assert one.file == __file__
    assert one.line == a_blocking_step.__code__.co_firstlineno + 1
    assert 3 * LIMIT < one.seconds < 5
    assert any("blocks" in entry for entry in one.stack)
    assert "a_blocking_step" in caplog.text and "blocked the event loop for" in str(one)
    assert caplog.text.count("a_blocking_step") == 2  # once per blockage


async def test_a_blocking_agent_is_named_even_if_a_library_blocks(seen: threading.Event) -> None:
    async def body(agent: BaseAgent, ctx: object):  # type: ignore[no-untyped-def]
        beat = dog._beat
        while dog._beat == beat:  # noqa: ASYNC110 - what blocked the loop before is over then
            await asyncio.sleep(LIMIT / 10)
        seen.clear()
        seen.wait(30)
        return
        yield

    found: asyncio.Queue[Block] = asyncio.Queue()
    dog = Watchdog(found.put_nowait, limit=LIMIT)
    dog.start()
    try:
        await run(runner_for(scripted(body)))
        async with asyncio.timeout(5):
            while not (block := await found.get()).function.endswith("body"):
                pass  # the machine itself may have been slow
    finally:
        dog.stop()
    assert (block.file, block.line) == (__file__, body.__code__.co_firstlineno + 5)


async def test_a_waiting_loop_is_not_reported_and_the_thread_ends(caplog: pytest.LogCaptureFixture) -> None:
    found: list[Block] = []
    dog = Watchdog(found.append, limit=10 * LIMIT)
    dog.start()
    thread = dog._thread
    assert thread is not None and thread.daemon
    await asyncio.sleep(13 * LIMIT)  # waiting must not count as blocking
    dog.stop()
    await asyncio.to_thread(thread.join, 5)
    assert not thread.is_alive()
    assert (found, caplog.text) == ([], "")


async def test_a_resting_watchdog_reports_what_blocked_before_and_sleeps_until_it_is_started_again(seen: threading.Event) -> None:
    found: asyncio.Queue[Block] = asyncio.Queue()
    dog = Watchdog(found.put_nowait, limit=LIMIT)
    dog.rest()  # not started yet
    dog.start()
    thread = dog._thread
    assert thread is not None
    try:
        for _ in range(2):
            seen.clear()
            assert seen.wait(30), "blocks until the watchdog has seen it"
            dog.rest()  # in the same turn of the loop
            assert (await found.get()).file == __file__
            assert dog._timer is None and thread.is_alive()
            dog.start()
            assert dog._timer is not None and dog._thread is thread
        dog.rest()
        beat = dog._beat
        await blocks()
        assert dog._beat == beat
    finally:
        dog.stop()
    await asyncio.to_thread(thread.join, 5)
    assert not thread.is_alive()
