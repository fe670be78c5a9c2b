"""Standard output that may be closed by whoever reads it, as in `agent-inspector events … | head`."""

from __future__ import annotations

import os
import sys


class OutputClosedError(Exception):
    """Nobody reads our output any more. (Not a BrokenPipeError, which an agent's own sockets may raise too.)"""


def write(text: str) -> None:
    """Write text at once: whoever reads may act on it while we go on.

    Raises:
        OutputClosedError: nobody reads.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes once more at exit; that must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OutputClosedError from None
