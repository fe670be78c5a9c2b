"""An agent's code that ended in a cancellation nobody asked for."""

from __future__ import annotations

import asyncio


class SelfCancelledError(RuntimeError):
    """Code of an agent raised `asyncio.CancelledError` though nobody cancels its run, such as by awaiting a task that was cancelled.

    Let go on, it would look as if somebody had stopped the run, and nobody would be told that it failed.

    Args:
        whose: who raised it, at the beginning of a sentence.
    """

    def __init__(self, whose: str) -> None:
        super().__init__(f"{whose} waited for something that was cancelled. (CancelledError; nobody cancelled its run.)")


def is_being_cancelled() -> bool:
    """Return whether somebody has asked for the present task to be cancelled."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
