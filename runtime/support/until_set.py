"""A generator that another task can end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TypeVar

from runtime.support.merge import merge

T = TypeVar("T")


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
