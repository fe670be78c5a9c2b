from __future__ import annotations

import asyncio
import logging
import threading
import time

import pytest

from runtime.agents import BaseAgent
from runtime.debugger import Block, Watchdog
from tests.seeds.running import run, runner_for, scripted

LIMIT = 0.1


def a_blocking_step() -> None:
    time.sleep(4 * LIMIT)  # blocks the loop on purpose


async def blocks() -> None:
    a_blocking_step()


async def watched(blocked: int) -> list[Block]:
    """Block the loop several times under a watchdog; return its reports."""
    found: asyncio.Queue[Block] = asyncio.Queue()
    watchdog = Watchdog(found.put_nowait, limit=LIMIT)
    watchdog.start()
    watchdog.start()  # the second call does nothing
    reports = []
    try:
        for _ in range(blocked):
            await blocks()
            async with asyncio.timeout(5):
                reports.append(await found.get())
                while reports[-1].function != "a_blocking_step":  # the machine itself may have been slow
                    reports[-1] = await found.get()
    finally:
        watchdog.stop()
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


async def test_a_blocking_agent_is_named_even_if_a_library_blocks() -> None:
    async def body(agent: BaseAgent, ctx: object):  # type: ignore[no-untyped-def]
        threading.Event().wait(4 * LIMIT)
        return
        yield

    found: asyncio.Queue[Block] = asyncio.Queue()
    watchdog = Watchdog(found.put_nowait, limit=LIMIT)
    watchdog.start()
    try:
        await run(runner_for(scripted(body)))
        async with asyncio.timeout(5):
            while not (block := await found.get()).function.endswith("body"):
                pass  # the machine itself may have been slow
    finally:
        watchdog.stop()
    assert (block.file, block.line) == (__file__, body.__code__.co_firstlineno + 1)


async def test_a_waiting_loop_is_not_reported_and_the_thread_ends(caplog: pytest.LogCaptureFixture) -> None:
    found: list[Block] = []
    watchdog = Watchdog(found.append, limit=10 * LIMIT)
    watchdog.start()
    thread = watchdog._thread
    assert thread is not None and thread.daemon
    await asyncio.sleep(13 * LIMIT)  # waiting must not count as blocking
    watchdog.stop()
    await asyncio.to_thread(thread.join, 5)
    assert not thread.is_alive()
    assert (found, caplog.text) == ([], "")
