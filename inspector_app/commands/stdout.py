"""Standard output that its reader may close, as in `agent-inspector events … | head`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import TextIO

_answers: list[TextIO] = []  # the real standard output, while agents print to stderr


class OutputClosedError(Exception):
    """The reader closed our output. Not a BrokenPipeError, which an agent's own sockets may raise too."""


def write(text: str) -> None:
    """Write text and flush it, so that the reader can act on it while the command is still running.

    Raises:
        OutputClosedError: the reader has closed the output.
    """
    stream = _answers[-1] if _answers else sys.stdout
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        # The interpreter flushes again at exit; that must not fail either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise OutputClosedError from None


@contextmanager
def kept_for_answers() -> Iterator[None]:
    """Redirect what an agent's own code prints to stderr: programs that read stdout expect only results."""
    _answers.append(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _answers.pop()
