"""One google-genai client for each event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from google.genai import Client


class ClientPerLoop:
    """Creates clients on demand and closes them when their event loop ends.

    A client's connections belong to the loop that opened them, and `Runner.run` has its own loop. A client is created on a worker thread,
    because reading the certificates would block the window.
    """

    def __init__(self) -> None:
        self._entries: WeakKeyDictionary[asyncio.AbstractEventLoop, _Entry] = WeakKeyDictionary()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClientPerLoop)  # two models with the same settings are equal

    def __hash__(self) -> int:
        return hash(ClientPerLoop)

    def __reduce__(self) -> tuple[type[ClientPerLoop], tuple[()]]:
        # Connections cannot be copied: a copied agent opens its own.
        return ClientPerLoop, ()

    async def get(self, make: Callable[[], Client]) -> Client:
        """Return the running loop's client.

        Args:
            make: creates the client if the loop has none yet.
        """
        entry = self._entries.setdefault(asyncio.get_running_loop(), _Entry())
        async with entry.lock:
            if entry.client is None:
                client = await run_in_thread(make)
                entry.closes_at_end = _close_at_end_of_loop(client)
                await anext(entry.closes_at_end)
                entry.client = client
        return entry.client


class _Entry:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.client: Client | None = None
        self.closes_at_end: AsyncGenerator[None, None] | None = None


async def _close_at_end_of_loop(client: Client) -> AsyncGenerator[None, None]:
    """Close the client at the end of the loop, which closes its open async generators; there is no other notification."""
    try:
        yield
    finally:
        await client.aio.aclose()
