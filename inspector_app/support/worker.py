"""Blocking work, one job after the other, on a thread that never holds the exit."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class Worker:
    """A thread of its own for something that only one thread at a time may use, such as an open database.

    The thread is a daemon: interpreter exit waits for the threads of an executor, and a read of a slow disk must not hold the window open.

    Args:
        name: the thread's name.
    """

    def __init__(self, name: str) -> None:
        self._jobs: queue.SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = queue.SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    async def call(self, work: Callable[..., T], *args: Any) -> T:
        """Run `work(*args)` on the thread and return its result, or raise what it raised.

        Raises:
            CancelledError: it was closed: nobody waits for the result any more.
        """
        if self._closed:
            raise asyncio.CancelledError
        future: Future[T] = Future()
        self._jobs.put((future, lambda: work(*args)))
        return await asyncio.wrap_future(future)

    def close(self, last: Callable[[], None] | None = None) -> None:
        """Let the thread end after what it is doing, and a last job; returns at once."""
        self._closed = True
        if last is not None:
            self._jobs.put((Future(), last))
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            future, work = job
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = work()
            except BaseException as error:  # handed to whoever waits, whatever it is
                future.set_exception(error)
            else:
                future.set_result(result)
            del job, future, work
