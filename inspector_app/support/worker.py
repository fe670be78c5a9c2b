"""A worker thread for blocking jobs, one at a time. It does not delay the exit of the program."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from runtime.support.serial_thread import Job, SerialThread

T = TypeVar("T")


class Worker:
    """A thread for something that only one thread at a time may use, such as an open database.

    Args:
        name: the thread's name.
    """

    def __init__(self, name: str) -> None:
        self._thread = SerialThread(name)

    async def call(self, work: Callable[..., T], *args: Any) -> T:
        """Run `work(*args)` on the thread and return its result, or raise its error.

        A cancelled caller does not wait for the job: a read of a slow disk must not hold the window open.

        Raises:
            CancelledError: the worker was closed.
        """
        return await self.begin(work, *args)

    def begin(self, work: Callable[..., T], *args: Any) -> Awaitable[T]:
        """Do the same as `call`, but queue the work before the result is awaited: a task begins only in the loop's next turn."""
        job = Job(partial(work, *args), abandon_on_cancel=True)
        self._thread.submit(job)
        return job

    def close(self, last: Callable[[], None] | None = None) -> None:
        """End the thread after its queued jobs and a last job; return at once."""
        self._thread.close(last)
