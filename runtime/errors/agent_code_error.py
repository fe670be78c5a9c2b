"""Agent code that calls `sys.exit()`, or raises `CancelledError` although its run is not being cancelled."""

from __future__ import annotations

import asyncio


class AgentExitError(RuntimeError):
    """Raised in place of a `SystemExit` from agent code, such as a tool that uses argparse. The run fails; the program continues.

    A `SystemExit` that reached the event loop would stop it, and with it the debugger or server that hosts the run.

    Args:
        whose: the code that called it, as the message's subject.
        cause: the `SystemExit`.
    """

    def __init__(self, whose: str, cause: SystemExit) -> None:
        code = cause.code if cause.code is None or isinstance(cause.code, (int, str)) else type(cause.code).__name__
        super().__init__(f"{whose} tried to end the program (SystemExit: {code}).")


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
