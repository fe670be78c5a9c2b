"""What arrives faster than a screen can show it, handed on a frame's worth at a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QTimer

CALM_MS, BUSY_MS = 16, 100
FRAME_MS = 4.0
"""That showing one frame's things may take: who clicks meanwhile waits no longer."""

LEAST_AT_ONCE = 50
"""Things: so many are always shown in one frame."""

_SHORTEST = 0.001

REST_SHARE, LEAST_REST_MS = 0.5, 2.0
"""From a frame to the next while more waits than one could take: a share of what it took, and at the least. Others have the loop then; a
longer rest would only let what arrived wait, for all of it has to be shown."""


class FrameBatcher(QObject):
    """Collects things and hands them on in order: at once after a pause, then every 16 ms, or up to every 100 ms where that takes long; one
    soon after the other while more wait than fit into one.

    Args:
        show: takes what has arrived since the last frame.
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
        """Take something in, to be handed on with the next frame."""
        self._arrived.append(thing)
        if not self._timer.isActive():
            since = (time.perf_counter() - self._last) * 1000
            self._timer.start(int(max(self._between - since, 0)))

    @property
    def waiting(self) -> int:
        """How many things wait for a frame."""
        return len(self._arrived)

    def flush(self) -> None:
        """Hand on now all that has arrived."""
        self._timer.stop()
        arrived, self._arrived = self._arrived, []
        self._show(arrived)

    def _frame(self) -> None:
        count = max(int(FRAME_MS / self._each_ms), LEAST_AT_ONCE)
        arrived, self._arrived = self._arrived[:count], self._arrived[count:]
        begun = time.perf_counter()
        self._show(arrived)
        taken = (time.perf_counter() - begun) * 1000
        if len(arrived) >= LEAST_AT_ONCE:
            self._each_ms = max((self._each_ms + taken / len(arrived)) / 2, _SHORTEST)
        between = max(taken * REST_SHARE, LEAST_REST_MS) if self._arrived else max(taken, CALM_MS)
        self._between = int(min(between, BUSY_MS))
        self._last = time.perf_counter()
        if self._arrived and not self._timer.isActive():
            self._timer.start(self._between)
