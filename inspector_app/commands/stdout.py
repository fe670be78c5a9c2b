"""Standard output that its reader may close, as in `agent-inspector events … | head`, and that may fail, as on a full disk."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import unquote

from runtime.errors import KnownError

_STDOUT, _STDERR = 1, 2  # file descriptors
_answers: list[TextIO] = []  # the real standard output, while agents print to stderr


class OutputClosedError(Exception):
    """The reader closed our output. Not a BrokenPipeError, which an agent's own sockets may raise too."""


class OutputFailedError(KnownError):
    """The output cannot be written."""


def write(text: str, *, flush: bool = True) -> None:
    """Write text; with `flush`, the reader can act on it at once, while the command is still running. See `failures_reported`."""
    with failures_reported() as stream:
        stream.write(text)
        if flush:
            stream.flush()


@contextmanager
def failures_reported() -> Iterator[TextIO]:
    """Yield the output; report that it is closed or fails.

    Raises:
        OutputClosedError: the reader has closed the output.
        OutputFailedError: the output cannot be written.
    """
    stream = _answers[-1] if _answers else sys.stdout
    try:
        yield stream
    except OSError as error:
        raise _failure(stream, error) from error


def _failure(stream: TextIO, error: OSError) -> Exception:
    """Drop what is left of the output, and return the error to raise."""
    _discard(stream)
    if isinstance(error, BrokenPipeError):
        return OutputClosedError()
    return OutputFailedError(f"The output could not be written: {error.strerror or error}.")


def takes_any_text() -> bool:
    """Return whether the output can encode every character."""
    encoding = getattr(_answers[-1] if _answers else sys.stdout, "encoding", None) or "utf-8"
    return encoding.lower().replace("-", "").replace("_", "").startswith("utf")


def complain(text: str) -> None:
    """Write text to stderr. If that fails, there is nowhere left to report it."""
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()


@contextmanager
def hidden_in_complaints(secrets: Sequence[str]) -> Iterator[None]:
    """Replace secrets in everything that is written to stderr, whichever part of the program writes it.

    Args:
        secrets: as the user typed them; messages may quote or decode them.
    """
    parts = [part for secret in secrets for part in (secret, *re.split("[@/?#]", secret))]
    hidden = {form for part in parts for form in (part, unquote(part), repr(part)[1:-1], str(Path(part))) if len(form) > 2}
    real = sys.stderr
    sys.stderr = _Hiding(real, sorted(hidden, key=len, reverse=True)) if hidden else real
    try:
        yield
    finally:
        sys.stderr = real


class _Hiding:
    """A stream that replaces secrets in what is written to another one."""

    def __init__(self, stream: TextIO, secrets: Sequence[str]) -> None:
        self._stream = stream
        self._secrets = secrets

    def write(self, text: str) -> int:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return self._stream.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def open_missing_streams() -> None:
    """Take the places of standard streams that the caller has closed (`>&-`), so that no database gets their descriptors."""
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    while (descriptor := os.open(os.devnull, os.O_RDONLY)) <= _STDERR:
        pass  # not for writing: a lost answer is reported
    os.close(descriptor)
    if sys.stdout is None:
        sys.stdout = open(_STDOUT, "w", closefd=False)  # noqa: SIM115 - open until the process ends
    if sys.stderr is None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), _STDERR)
        sys.stderr = open(_STDERR, "w", closefd=False)  # noqa: SIM115


def _discard(stream: TextIO) -> None:
    """Send the rest to nowhere: the interpreter flushes again at exit, and that must not fail either."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def kept_for_answers() -> Iterator[None]:
    """Redirect what an agent's own code prints to stderr: programs that read stdout expect only results."""
    _answers.append(sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        _answers.pop()
