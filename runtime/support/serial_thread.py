"""A thread that runs jobs one after the other, and the way to it from any event loop.

It is a daemon thread, as executors delay the exit of the interpreter until every job has returned. A job costs one hop to the thread and
one back: an executor's future chained to one of asyncio costs as much as SQLite needs for a commit.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Generator
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
_log = logging.getLogger(__name__)


class SerialThread:
    """A thread that runs jobs one after the other, in the order in which they were given.

    The thread starts with the first job.

    Args:
        name: the thread's name.
        closed_error: makes the exception that a call after `close` raises.
        idle_seconds: the thread ends after this time without a job, and starts again with the next job; None: it ends with `close`.
    """

    def __init__(
        self, name: str, *, closed_error: Callable[[], BaseException] = asyncio.CancelledError, idle_seconds: float | None = None
    ) -> None:
        self._name = name
        self._closed_error = closed_error
        self._idle_seconds = idle_seconds
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False

    async def run(self, work: Callable[[], T], *, abandon_on_cancel: bool = False, on_cancel: Callable[[], object] | None = None) -> T:
        """Run a job on the thread and return its result.

        A job that has not begun when the caller is cancelled is dropped.

        Args:
            work: the job.
            abandon_on_cancel: a cancelled caller leaves a running job behind, and its result or error is dropped; otherwise the caller is
                cancelled when the job is done, and knows what was committed.
            on_cancel: called if the caller is cancelled and waits for the job.

        Raises:
            BaseException: the job's error, or `closed_error`.
        """
        job = Job(work, abandon_on_cancel=abandon_on_cancel, on_cancel=on_cancel)
        self.submit(job)
        result: T = await job.result()
        return result

    def submit(self, job: Callable[[], None]) -> None:
        """Queue a job, which must not raise.

        Raises:
            BaseException: `closed_error`.
        """
        with self._lock:
            if self._closed:
                raise self._closed_error()
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
            self._jobs.put(job)

    def close(self, last_work: Callable[[], object] | None = None) -> None:
        """End the thread after the jobs that were given, and after a last one; returns at once.

        Args:
            last_work: releases what the jobs used; not run if there were none. Its error is dropped.
        """
        self._end(partial(_drop_error, last_work) if last_work is not None else None)

    async def close_and_wait(self, last_work: Callable[[], object]) -> None:
        """End the thread as `close` does, and wait for the last job.

        Raises:
            BaseException: the last job's error.
        """
        job = Job(last_work, can_be_dropped=False)
        if self._end(job):
            await job.result()

    def _end(self, last: Callable[[], None] | None) -> bool:
        """Return whether there was a thread to end."""
        with self._lock:
            was_open, self._closed = not self._closed and self._thread is not None, True
            if was_open:
                if last is not None:
                    self._jobs.put(last)
                self._jobs.put(None)
            return was_open

    def _work(self) -> None:
        while True:
            try:
                job = self._jobs.get(timeout=self._idle_seconds)
            except Empty:
                with self._lock:
                    if self._jobs.empty():
                        self._thread = None
                        return
                continue
            if job is None:
                return
            try:
                job()
            except Exception:  # of a job that must not raise; a thread that ended would let a caller wait for ever
                _log.exception("A job of the thread %s failed", self._name)
            del job  # keeps nothing of a finished job alive until the next one comes


class Job:
    """A piece of work on its way to a thread and back; made and waited for in one event loop.

    Args:
        work: called on the thread.
        can_be_dropped: a job that has not begun when its caller is cancelled never begins.
        abandon_on_cancel: a cancelled caller does not wait for the end of a job that has begun.
        on_cancel: see `SerialThread.run`.

    Attributes:
        is_abandoned: whether the caller was cancelled and did not wait for the end.
    """

    __slots__ = (
        "_abandon_on_cancel",
        "_begun",
        "_can_be_dropped",
        "_error",
        "_is_over",
        "_loop",
        "_on_cancel",
        "_result",
        "_waiter",
        "_work",
        "is_abandoned",
    )

    def __init__(
        self,
        work: Callable[[], Any],
        *,
        can_be_dropped: bool = True,
        abandon_on_cancel: bool = False,
        on_cancel: Callable[[], object] | None = None,
    ) -> None:
        self._work = work
        self._on_cancel = on_cancel
        self._can_be_dropped = can_be_dropped
        self._abandon_on_cancel = abandon_on_cancel
        self._loop = asyncio.get_running_loop()
        self._waiter = self.new_waiter()
        self._begun = threading.Lock()
        self._is_over = False
        self.is_abandoned = False
        self._result: Any = None
        self._error: BaseException | None = None

    def __call__(self) -> None:
        """Do the work, unless it was dropped; on the thread."""
        if not self._begin():
            return
        try:
            self._result = self._work()
        except BaseException as error:
            self._error = error
        finally:
            # Released before the caller continues: this thread may be late to do so.
            del self._work
        self.report()

    def new_waiter(self) -> asyncio.Future[None]:
        """Return a future of the caller's loop."""
        return self._loop.create_future()

    def _begin(self) -> bool:
        """Mark the job as begun, or as dropped; only the first caller gets True."""
        return self._begun.acquire(blocking=False)

    def report(self) -> None:
        """Wake the waiter; on the thread."""
        try:  # noqa: SIM105 (contextlib takes longer than the check of a commit)
            self._loop.call_soon_threadsafe(self._wake)
        except RuntimeError:
            pass  # the loop was closed in the meantime, and there is no waiter left

    def __await__(self) -> Generator[Any, Any, Any]:
        """Wait for the result."""
        return self.result().__await__()

    async def result(self) -> Any:
        """Wait for the job, and return its result or raise its error."""
        cancelled = False
        while not self._is_over:
            if self._waiter.done():
                self._waiter = self.new_waiter()
            try:
                await self._waiter
            except asyncio.CancelledError:
                is_dropped = self._can_be_dropped and self._begin()
                if is_dropped or self._abandon_on_cancel:
                    self.is_abandoned = True
                    raise
                cancelled = True
                if self._on_cancel is not None:
                    self._on_cancel()
        if cancelled and self._error is None and (task := asyncio.current_task()):
            # Handed on to the task's next await.
            task.uncancel()
            task.cancel()
        if self._error is not None:
            try:
                if cancelled:  # the cancellation wins: handed on, it would outlive the `asyncio.timeout` that caused it
                    raise asyncio.CancelledError from self._error
                raise self._error
            finally:
                # The traceback refers to this frame: without this, the cycle would keep the error alive until a garbage collection.
                self._error = None
        return self._result

    def _wake(self) -> None:
        self._is_over = True
        # Not the outcome itself: a future rejects StopIteration, and warns about errors that a cancelled waiter never retrieved.
        if not self._waiter.done():
            self._waiter.set_result(None)


def _drop_error(work: Callable[[], object]) -> None:
    with suppress(BaseException):
        work()
