"""One thread that does all the work on one database, and the way to it from any event loop.

A hop into an executor costs as much as a commit, and an SQLite connection belongs to one thread: so a database has one thread of its
own, and a commit is one hop. It is a daemon: a program that forgets to close its service still ends.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, TypeVar

from runtime.errors.storage_error import StorageError

T = TypeVar("T")


class DatabaseThread:
    """Runs jobs one after the other, in the order they were given.

    Args:
        name: the thread's name.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False

    async def run(self, work: Callable[[], T]) -> T:
        """Run a job and return what it returns.

        A task that is cancelled while its job runs is cancelled when the job is done: what is committed is never unknown. A job that
        has not begun is dropped.
        """
        job = _Job(work)
        with self._lock:
            if self._closed:
                raise StorageError("This session service is closed.")
            if self._thread is None:
                self._thread = threading.Thread(target=_work, args=(self._jobs,), name=self._name, daemon=True)
                self._thread.start()
            self._jobs.put(job)
        await job.wait()
        result: T = job.result()
        return result

    async def close(self, last_work: Callable[[], object]) -> None:
        """Run a last job and end the thread; nothing happens if it is closed or was never started."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if self._thread is None:
                return
            job = _Job(last_work, can_be_dropped=False)
            self._jobs.put(job)
            self._jobs.put(None)
        await job.wait()
        job.result()


class _Job:
    """A piece of work on its way to the thread and back; made and waited for in one event loop.

    Lighter than a concurrent future chained to an asyncio one, which costs as much as SQLite needs for a commit.
    """

    __slots__ = ("_begun", "_can_be_dropped", "_error", "_is_over", "_loop", "_result", "_waiter", "_work")

    def __init__(self, work: Callable[[], Any], *, can_be_dropped: bool = True) -> None:
        self._work = work
        self._can_be_dropped = can_be_dropped
        self._loop = asyncio.get_running_loop()
        self._waiter: asyncio.Future[None] = self._loop.create_future()
        self._begun = threading.Lock()
        self._is_over = False
        self._result: Any = None
        self._error: BaseException | None = None

    def begin(self) -> bool:
        """Say that the job begins, or that it never will; only who comes first gets True."""
        return self._begun.acquire(blocking=False)

    def work(self) -> None:
        """Do it; in the thread."""
        try:
            self._result = self._work()
        except BaseException as error:
            self._error = error
        # Who closed the loop does not wait any more.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._wake)

    async def wait(self) -> None:
        """Wait until it is over."""
        cancelled = False
        while not self._is_over:
            if self._waiter.done():
                self._waiter = self._loop.create_future()
            try:
                await self._waiter
            except asyncio.CancelledError:
                if self._can_be_dropped and self.begin():
                    raise
                cancelled = True
        task = asyncio.current_task()
        if cancelled and task:
            # Handed on to the task's next await.
            task.uncancel()
            task.cancel()

    def result(self) -> Any:
        """Return what the work returned, or raise what it raised."""
        if self._error is not None:
            try:
                raise self._error
            finally:
                # The traceback holds this frame: no circle.
                self._error = None
        return self._result

    def _wake(self) -> None:
        self._is_over = True
        if not self._waiter.done():
            self._waiter.set_result(None)


def _work(jobs: SimpleQueue[_Job | None]) -> None:
    while (job := jobs.get()) is not None:
        if job.begin():
            job.work()
        # Nothing of a finished job is kept alive until the next one comes.
        del job
