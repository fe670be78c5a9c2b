"""Agent code that calls `sys.exit()`."""

from __future__ import annotations


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
