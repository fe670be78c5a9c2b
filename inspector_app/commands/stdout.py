"""Standard output that may be closed by whoever reads it, as in `agent-inspector events … | head`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TextIO

_answers: list[TextIO] = []
"""The real standard output, while agents print to stderr."""


class OutputClosedError(Exception):
    """Nobody reads our output any more. (Not a BrokenPipeError, which an agent's own sockets may raise too.)"""


def write(text: str) -> None:
    """Write text at once: whoever reads may act on it while we go on.

    Raises:
        OutputClosedError: nobody reads.
    """
    stream = _answers[-1] if _answers else sys.stdout
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        # The interpreter flushes once more at exit; that must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise OutputClosedError from None


@contextmanager
def kept_for_answers() -> Iterator[None]:
    """Send what an agent's own code prints to stderr: stdout is read by programs that expect nothing but answers."""
    _answers.append(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _answers.pop()
