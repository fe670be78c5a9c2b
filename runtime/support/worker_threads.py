"""Sync functions on daemon threads, which do not delay the exit of the process.

`asyncio.to_thread` and executors delay the exit of the loop and of the interpreter until every job has returned: a tool that sleeps for a
minute would keep a closed window's process alive for a minute. The threads are reused, as starting one costs more than the call. Their
number is unlimited: with a limit, tools that hang would block every later tool.
"""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, ParamSpec, TypeVar

from runtime.support.serial_thread import Job, SerialThread

P = ParamSpec("P")
T = TypeVar("T")

IDLE_SECONDS = 10.0  # an idle thread ends after this time


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
    thread = _idle_or_new_thread()
    job = _PooledJob(thread, partial(contextvars.copy_context().run, partial(func, *args, **kwargs)))
    thread.submit(job)
    result: T = await job.result()
    return result


class _PooledJob(Job):
    """A job that makes its thread available again when it is done."""

    __slots__ = ("_thread",)

    def __init__(self, thread: SerialThread, work: Callable[[], Any]) -> None:
        super().__init__(work, can_be_dropped=False, abandon_on_cancel=True)
        self._thread = thread

    def report(self) -> None:
        """Wake the waiter; on the thread."""
        # Idle before the report: the caller may submit the next job immediately.
        with _lock:
            _idle.append(self._thread)
        super().report()


_lock = threading.Lock()
_idle: list[SerialThread] = []


def _idle_or_new_thread() -> SerialThread:
    with _lock:
        if _idle:
            return _idle.pop()
    return SerialThread("runtime-worker", idle_seconds=IDLE_SECONDS)


def _forget_threads_of_parent() -> None:
    global _lock
    _lock = threading.Lock()
    _idle.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads_of_parent)
