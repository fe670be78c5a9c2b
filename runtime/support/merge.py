"""Concurrent async generators merged into one, and a generator that another task can end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TypeVar

T = TypeVar("T")


async def merge(sources: Sequence[AsyncGenerator[T, None]]) -> AsyncGenerator[T, None]:
    """Run generators concurrently and yield their items one at a time; a source continues only after its item was consumed.

    Args:
        sources: the generators; each is closed in any case.

    Yields:
        The items as they arrive; the order within a source is kept.

    Raises:
        BaseException: the first error of a source, after the others were cancelled and have run their `finally` blocks.
    """
    arrived: asyncio.Queue[tuple[T, asyncio.Event] | BaseException | None] = asyncio.Queue()
    ended = False

    async def pump(source: AsyncGenerator[T, None]) -> None:
        try:
            async with aclosing(source):
                async for item in source:
                    if ended:  # it has ignored its cancellation
                        return
                    consumed = asyncio.Event()
                    arrived.put_nowait((item, consumed))
                    await consumed.wait()
        except BaseException as error:  # a cancellation too: it may be the source's own, and the consumer waits for the next item
            arrived.put_nowait(error)
        else:
            arrived.put_nowait(None)

    failure: BaseException | None = None
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(pump(source)) for source in sources]
        running = len(tasks)
        try:
            while running and failure is None:
                got = await arrived.get()
                if got is None:
                    running -= 1
                elif isinstance(got, BaseException):
                    failure = got
                else:
                    yield got[0]
                    got[1].set()
        except BaseException as error:
            failure = error
        ended = True
        for task in tasks:
            task.cancel()
    if failure is not None:
        raise failure


async def until_set(items: AsyncGenerator[T, None], signal: asyncio.Event) -> AsyncGenerator[T, None]:
    """Yield items until a signal is set; then cancel what the generator is waiting for.

    Args:
        items: a generator; it is closed in any case.
        signal: an event of this event loop.

    Yields:
        The items. One that was made while the signal was set may be missing.
    """
    async with aclosing(merge([_with_end(items), _when_set(signal)])) as both:
        if signal.is_set():
            return
        async for item in both:
            if item is None:
                return
            yield item[0]
            if signal.is_set():
                return


async def _with_end(items: AsyncGenerator[T, None]) -> AsyncGenerator[tuple[T] | None, None]:
    async with aclosing(items):
        async for item in items:
            yield (item,)
    yield None


async def _when_set(signal: asyncio.Event) -> AsyncGenerator[None, None]:
    await signal.wait()
    yield None
