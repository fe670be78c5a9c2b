"""A run driven from synchronous code."""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, nullcontext, suppress
from functools import partial
from typing import Any

from runtime.events.event import Event
from runtime.support.agent_thread import Nested, enclosing, is_agent_thread
from runtime.support.serial_thread import Job
from runtime.support.worker_threads import run_in_thread

_END = object()
_CLOSED = object()
_SIGNAL_CHECK = 0.5  # seconds; Python misses a signal that arrives just before a lock blocks, and notices it only at the next wake-up


def in_own_loop(events: AsyncGenerator[Event, None]) -> Generator[Event, None, None]:
    """Drive an async generator in its own thread and event loop, so that it also works where a loop is running.

    Args:
        events: asked for its next item only when this generator is; closed when this generator is closed.

    Yields:
        The items of `events`.

    Raises:
        BaseException: the exception that `events` raised.
    """
    items: queue.SimpleQueue[Any] = queue.SimpleQueue()
    wanted: queue.SimpleQueue[bool] = queue.SimpleQueue()
    pumping: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
    # Inside a sync call of an agent: its thread waits here, and makes the calls of this run meanwhile.
    place = enclosing(Nested(items.put)) if is_agent_thread() else nullcontext()

    async def pump() -> None:
        task = asyncio.current_task()
        assert task is not None
        pumping.put(partial(asyncio.get_running_loop().call_soon_threadsafe, task.cancel))
        with place:
            async with aclosing(events):
                while await run_in_thread(wanted.get):  # a daemon thread: it does not delay the program's exit
                    items.put(await anext(events, _END))

    def work() -> None:
        try:
            asyncio.run(pump())
        except BaseException as error:
            items.put(error)
        items.put(_CLOSED)

    thread = threading.Thread(target=partial(contextvars.copy_context().run, work), name="Runner.run", daemon=True)
    thread.start()
    try:
        while True:
            try:
                wanted.put(True)
                item = _wait_for(items)
            except BaseException:  # Ctrl-C: the agent may work for long, so cancel it
                with suppress(RuntimeError):  # the loop has just ended
                    pumping.get()()
                raise
            if item is _END:
                return
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        wanted.put(False)
        while _wait_for(items) is not _CLOSED:
            pass
        thread.join()


def _wait_for(items: queue.SimpleQueue[Any]) -> Any:
    """Return the next item, and do the jobs before it; Ctrl-C interrupts the wait within `_SIGNAL_CHECK` seconds."""
    while True:
        with suppress(queue.Empty):
            item = items.get(timeout=_SIGNAL_CHECK)
            if not isinstance(item, Job):
                return item
            item()
