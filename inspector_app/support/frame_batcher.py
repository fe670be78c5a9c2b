"""Batches of items that arrive faster than a screen can show them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QTimer

CALM_MS, BUSY_MS = 16, 100  # between two frames: usually, and at most
FRAME_MS = 4.0  # processor time to show one batch; a click waits that long
LEAST_AT_ONCE = 50  # items in a batch
_SHORTEST = 0.001  # milliseconds per item

# The pause between two batches while more items are waiting: a share of the last batch's time, and its minimum in milliseconds. The event
# loop does other work in it. A longer pause would only delay the items.
REST_SHARE, LEAST_REST_MS = 0.5, 2.0


class FrameBatcher(QObject):
    """Collects items and passes them on in order, in batches.

    The first item after a pause is passed on at once. More follow every 16 ms, or up to every 100 ms if showing them takes that long. While
    more items are waiting than fit into one batch, batches follow each other closely.

    Args:
        show: takes the items of a batch.
    """

    def __init__(self, show: Callable[[list[Any]], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._show = show
        self._arrived: list[Any] = []
        self._each_ms = 0.02
        self._between = CALM_MS
        self._last = 0.0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._frame)

    def add(self, thing: Any) -> None:
        """Add an item to the next batch."""
        self._arrived.append(thing)
        if not self._timer.isActive():
            since = (time.perf_counter() - self._last) * 1000
            self._timer.start(int(max(self._between - since, 0)))

    @property
    def waiting(self) -> int:
        """The number of items that wait for a batch."""
        return len(self._arrived)

    def flush(self) -> None:
        """Pass on all waiting items now."""
        self._timer.stop()
        arrived, self._arrived = self._arrived, []
        self._show(arrived)

    def _frame(self) -> None:
        count = max(int(FRAME_MS / self._each_ms), LEAST_AT_ONCE)
        arrived, self._arrived = self._arrived[:count], self._arrived[count:]
        # Not by the clock: while threads decode events, it would count their time, too, and each batch would become smaller.
        begun = time.thread_time()
        self._show(arrived)
        taken = (time.thread_time() - begun) * 1000
        if len(arrived) >= LEAST_AT_ONCE:
            self._each_ms = max((self._each_ms + taken / len(arrived)) / 2, _SHORTEST)
        between = max(taken * REST_SHARE, LEAST_REST_MS) if self._arrived else max(taken, CALM_MS)
        self._between = int(min(between, BUSY_MS))
        self._last = time.perf_counter()
        if self._arrived and not self._timer.isActive():
            self._timer.start(self._between)
