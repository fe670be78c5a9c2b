"""The only place of the application that makes tasks: each is named, kept, and its failure reported."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


class Tasks:
    """The running tasks of the window.

    asyncio itself keeps only weak references, and shows a task's exception when it happens to be collected.

    Args:
        report: called with what was being done and the exception, for each task that failed.
    """

    def __init__(self, report: Callable[[str, BaseException], None]) -> None:
        self._report = report
        self._running: set[asyncio.Task[Any]] = set()

    @property
    def running(self) -> frozenset[asyncio.Task[Any]]:
        """The tasks that have not ended."""
        return frozenset(self._running)

    def spawn(self, coroutine: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Start a task.

        Args:
            coroutine: what to run.
            name: what it does, as a person would say it ("Opening orders.db"): it begins the report of a failure.
        """
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        self._running.add(task)
        task.add_done_callback(self._on_done)
        return task

    async def wait_until_idle(self) -> None:
        """Wait until nothing runs any more, nothing cancelled."""
        while others := [task for task in self._running if task is not asyncio.current_task()]:
            await asyncio.wait(others)

    async def close(self, seconds: float) -> frozenset[asyncio.Task[Any]]:
        """Cancel every task and wait until they have ended.

        Args:
            seconds: to wait at most; code that does not let itself be cancelled must not hold the window.

        Returns:
            The tasks that did not end in time.
        """
        others = [task for task in self._running if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=seconds)
        return frozenset(task for task in others if not task.done())

    def _on_done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self._report(task.get_name(), error)
