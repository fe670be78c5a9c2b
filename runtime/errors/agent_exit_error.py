"""An agent's code that wants to end the program."""

from __future__ import annotations


class AgentExitError(RuntimeError):
    """Code of an agent called `sys.exit()`, or something that does, such as argparse. Its run fails; the program goes on.

    A `SystemExit` that reaches an event loop ends it, and with it a debugger or server that runs other things, too.

    Args:
        whose: who called it, at the beginning of a sentence.
        cause: what was raised.
    """

    def __init__(self, whose: str, cause: SystemExit) -> None:
        super().__init__(f"{whose} tried to end the program (SystemExit: {cause}).")
