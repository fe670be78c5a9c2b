"""One thread that does all the work on one database, and the way to it from any event loop.

A hop into an executor costs as much as a commit, and an SQLite connection belongs to one thread: so a database has one thread of its
own, and a commit is one hop. It is a daemon: a program that forgets to close its service still ends.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Any, TypeVar

from runtime.errors.storage_error import StorageError

T = TypeVar("T")
_Job = tuple["Future[Any]", Callable[[], Any]]


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

    async def run(self, job: Callable[[], T]) -> T:
        """Run a job and return what it returns.

        A task that is cancelled while its job runs is cancelled when the job is done: what is committed is never unknown. A job that
        has not begun is dropped.
        """
        future = self._submit(job)
        cancelled = False
        while True:
            try:
                result = await asyncio.shield(asyncio.wrap_future(future))
                break
            except asyncio.CancelledError:
                if future.cancel() or future.cancelled():
                    raise
                cancelled = True
        task = asyncio.current_task()
        if cancelled and task:
            # Handed on to the task's next await.
            task.uncancel()
            task.cancel()
        return result

    async def close(self, last_job: Callable[[], object]) -> None:
        """Run a last job and end the thread; nothing happens if it is closed or was never started."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            if self._thread is None:
                return
            future: Future[Any] = Future()
            self._jobs.put((future, last_job))
            self._jobs.put(None)
        await asyncio.shield(asyncio.wrap_future(future))

    def _submit(self, job: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise StorageError("This session service is closed.")
            if self._thread is None:
                self._thread = threading.Thread(target=_work, args=(self._jobs,), name=self._name, daemon=True)
                self._thread.start()
            self._jobs.put((future, job))
        return future


def _work(jobs: SimpleQueue[_Job | None]) -> None:
    while (item := jobs.get()) is not None:
        future, job = item
        if not future.set_running_or_notify_cancel():
            continue
        try:
            future.set_result(job())
        except BaseException as error:
            future.set_exception(error)
        # Nothing of a finished job is kept alive until the next one comes.
        del item, future, job
