"""Named asyncio tasks whose failures are reported. The application creates tasks only here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any


class Tasks:
    """The running tasks of one window.

    asyncio itself keeps only weak references, and reports a task's exception only when the task is garbage-collected.

    Args:
        report: called with a failed task's name and its exception.
    """

    def __init__(self, report: Callable[[str, BaseException], None]) -> None:
        self._report = report
        self._running: set[asyncio.Task[Any]] = set()
        self._background: set[asyncio.Task[Any]] = set()

    @property
    def running(self) -> frozenset[asyncio.Task[Any]]:
        """The tasks that have not ended."""
        return frozenset(self._running)

    def spawn(self, coroutine: Coroutine[Any, Any, Any], name: str, *, background: bool = False) -> asyncio.Task[Any]:
        """Start a task.

        Args:
            coroutine: what to run.
            name: a phrase for the user ("Opening orders.db"); the report of a failure begins with it.
            background: the window shows what was asked for without it; it may take minutes.
        """
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        self._running.add(task)
        if background:
            self._background.add(task)
        task.add_done_callback(self._on_done)
        return task

    async def wait_until_idle(self, *, background_seconds: float | None = None) -> None:
        """Wait until all tasks have ended; cancel none.

        Args:
            background_seconds: how long to wait for background tasks while there are no others; None waits until they have ended.
        """
        clock = asyncio.get_running_loop().time
        deadline: float | None = None
        while others := self._others():
            foreground = [task for task in others if background_seconds is None or task not in self._background]
            if foreground or background_seconds is None:
                await asyncio.wait(foreground)
                continue
            deadline = clock() + background_seconds if deadline is None else deadline
            if clock() >= deadline:
                return
            await asyncio.wait(others, timeout=deadline - clock(), return_when=asyncio.FIRST_COMPLETED)

    def _others(self) -> list[asyncio.Task[Any]]:
        return [task for task in self._running if task is not asyncio.current_task()]

    async def close(self, seconds: float) -> frozenset[asyncio.Task[Any]]:
        """Cancel all tasks and wait until they have ended.

        Args:
            seconds: to wait at most; code that ignores its cancellation must not keep the window open.

        Returns:
            The tasks that did not end in time.
        """
        others = self._others()
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=seconds)
        return frozenset(task for task in others if not task.done())

    def _on_done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        self._background.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self._report(task.get_name(), error)
