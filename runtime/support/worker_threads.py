"""Sync functions on daemon threads, which do not delay the exit of the process.

`asyncio.to_thread` and executors delay the exit of the loop and of the interpreter until every job has returned: a tool that sleeps for a
minute would keep a closed window's process alive for a minute. The threads are reused, as starting one costs more than the call. Their
number is unlimited: with a limit, tools that hang would block every later tool.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import threading
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

IDLE_SECONDS = 10.0  # an idle thread ends after this time

_Outcome = tuple[Any, BaseException | None]


async def run_in_thread(func: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Call a sync function on a worker thread and wait for it.

    If the wait is cancelled, the function keeps running, as Python cannot stop it, and its result or error is dropped.

    Args:
        func: called in a copy of the caller's context variables.
        args: its arguments.
        kwargs: its named arguments.

    Returns:
        The function's result.

    Raises:
        BaseException: the function's error.
    """
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[_Outcome] = loop.create_future()
    job = _Job(getattr(func, "__qualname__", type(func).__name__))
    _idle_or_new_worker().jobs.put(partial(_run, contextvars.copy_context(), partial(func, *args, **kwargs), loop, outcome, job))
    try:
        result, error = await outcome
    except asyncio.CancelledError:
        job.leave_behind()
        raise
    if error is not None:
        try:
            raise error
        finally:
            # The traceback refers to this frame: without this, the cycle would keep the error alive until a garbage collection.
            del error, outcome
    return result  # type: ignore[no-any-return]  # the future's pair loses the type


def left_behind() -> list[str]:
    """Return the names of the functions that are still running although the wait for them was cancelled."""
    with _lock:
        return [job.name for job in _left_behind]


class _Job:
    """A call on another thread."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._is_over = False

    def leave_behind(self) -> None:
        """Record that the wait for it was cancelled."""
        with _lock:
            if not self._is_over:
                _left_behind.append(self)

    def end(self) -> None:
        """Record that it has returned."""
        with _lock:
            self._is_over = True
            if self in _left_behind:
                _left_behind.remove(self)


def _run(
    context: contextvars.Context, call: Callable[[], Any], loop: asyncio.AbstractEventLoop, outcome: asyncio.Future[_Outcome], job: _Job
) -> Callable[[], None]:
    """Make the call and return a function that reports the outcome, to be called once the worker is idle again."""
    try:
        pair: _Outcome = (context.run(call), None)
    except BaseException as error:
        pair = (None, error)
    job.end()
    return partial(_report, loop, outcome, pair)


def _report(loop: asyncio.AbstractEventLoop, outcome: asyncio.Future[_Outcome], pair: _Outcome) -> None:
    # If the loop was closed in the meantime, there is no waiter left.
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(_settle, outcome, pair)


def _settle(outcome: asyncio.Future[_Outcome], pair: _Outcome) -> None:
    # Not `set_exception`: it rejects StopIteration, and warns about errors that a cancelled waiter never retrieved.
    if not outcome.done():
        outcome.set_result(pair)


class _Worker:
    """A daemon thread that runs one job after another."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[Callable[[], Callable[[], None]]] = SimpleQueue()
        threading.Thread(target=self._work, name="runtime-worker", daemon=True).start()

    def _work(self) -> None:
        while True:
            try:
                job = self.jobs.get(timeout=IDLE_SECONDS)
            except Empty:
                if _retire(self):
                    return
                continue
            report = job()
            # Idle before the report: the caller may submit the next job immediately.
            with _lock:
                _idle.append(self)
            report()
            del job, report


_lock = threading.Lock()
_idle: list[_Worker] = []
_left_behind: list[_Job] = []


def _idle_or_new_worker() -> _Worker:
    with _lock:
        if _idle:
            return _idle.pop()
    return _Worker()


def _retire(worker: _Worker) -> bool:
    """Remove an idle worker; return False if it was just taken for a job."""
    with _lock:
        if worker in _idle:
            _idle.remove(worker)
            return True
        return False


def _forget_threads_of_parent() -> None:
    global _lock
    _lock = threading.Lock()
    _idle.clear()
    _left_behind.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads_of_parent)
