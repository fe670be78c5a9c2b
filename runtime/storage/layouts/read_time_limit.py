"""The time that the pickles of one read may take together."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_SECONDS = 2.0  # CPU time for all pickles of a read that take longer than honest ones
# CPU time that an honest pickle needs at most, on average: for each pickle, and for each of its bytes.
_EACH, _BYTE = 0.3e-3, 1e-6
_SLOW = 0.1  # seconds above that; less may be the garbage collector
_COUNTED_BYTES = 16_384  # of each pickle, once one was slow: honest ones are rarely larger, crafted ones can be

_current: ContextVar[TimeLimit | None] = ContextVar("read_time_limit", default=None)


class TimeLimit:
    """The CPU time that is left for slow pickles."""

    def __init__(self) -> None:
        self._left = _SECONDS
        self._was_slow = False

    @contextmanager
    def spending(self, size: int) -> Iterator[float]:
        """Yield the value of `time.thread_time` until which one pickle may be read.

        Args:
            size: the pickle's length in bytes.
        """
        begin = time.thread_time()
        usual = _EACH + (min(size, _COUNTED_BYTES) if self._was_slow else size) * _BYTE
        try:
            yield begin + self._left + usual
        finally:
            excess = time.thread_time() - begin - usual
            self._left = max(min(self._left - excess, _SECONDS), 0.0)
            self._was_slow |= excess > _SLOW


@contextmanager
def one_read() -> Iterator[None]:
    """Let all pickles that are read inside share one time limit. Also a decorator; an outer one holds."""
    if _current.get() is not None:
        yield
        return
    token = _current.set(TimeLimit())
    try:
        yield
    finally:
        _current.reset(token)


def current_limit() -> TimeLimit:
    """Return the limit of the current read; a new one outside of `one_read`."""
    return _current.get() or TimeLimit()
