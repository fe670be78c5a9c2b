"""Agent code that raises `CancelledError` although its run is not being cancelled."""

from __future__ import annotations

import asyncio


class SelfCancelledError(RuntimeError):
    """Raised in place of an `asyncio.CancelledError` from agent code whose run is not being cancelled.

    Awaiting a cancelled task raises one. Propagated as it is, it would look like a stopped run and the failure would go unreported.

    Args:
        whose: the code that raised it, as the message's subject.
    """

    def __init__(self, whose: str) -> None:
        super().__init__(f"{whose} waited for something that was cancelled. (CancelledError, although its run was not cancelled.)")


def is_being_cancelled() -> bool:
    """Return whether the current task is being cancelled."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0
