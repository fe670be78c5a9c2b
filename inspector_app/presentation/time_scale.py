"""A time axis that shortens long pauses. No Qt."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

_CUT_SHARE = 0.06  # share of the width given to a shortened pause
_LONG_PAUSE = 5.0  # seconds; shorter pauses are never shortened
_LONGEST_WORK = 600.0  # seconds; a longer gap is a pause even within a call, because the work was probably interrupted
_FINEST = 1e-6  # seconds between two ticks at least


@dataclass(frozen=True, slots=True)
class Pause:
    """A long period without activity, drawn short."""

    start: float
    end: float


class TimeScale:
    """A map from times to the range 0 to 1 that shortens long pauses, so that an answer on the next day leaves room for the rest.

    Args:
        times: timestamps of the events, seconds.
        work: starts and ends of model and tool calls, which are not pauses.

    Attributes:
        pauses: the shortened pauses, by start.
    """

    def __init__(self, times: Iterable[float], work: Iterable[tuple[float, float]] = ()) -> None:
        ordered = sorted(times) or [0.0]
        busy = joined(work)
        gaps = sorted(((after - before, before, after) for before, after in itertools.pairwise(ordered)), reverse=True)
        rest = ordered[-1] - ordered[0]
        self.pauses: list[Pause] = []
        for length, before, after in gaps[: int(0.5 / _CUT_SHARE)]:
            rest -= length
            if length < max(_LONG_PAUSE, rest):
                break
            if length < _LONGEST_WORK and any(start <= before and after <= end for start, end in busy):
                rest += length
                continue
            self.pauses.append(Pause(before, after))
        self.pauses.sort(key=lambda pause: pause.start)
        shown = ordered[-1] - ordered[0] - sum(pause.end - pause.start for pause in self.pauses)
        share = (1 - _CUT_SHARE * len(self.pauses)) / shown if shown > 0 else 0.0
        self._times, self._places = [ordered[0]], [0.0]
        for pause in self.pauses:
            self._add(pause.start, share)
            self._times.append(pause.end)
            self._places.append(self._places[-1] + _CUT_SHARE)
        self._add(ordered[-1], share)

    def _add(self, time: float, share: float) -> None:
        self._places.append(self._places[-1] + (time - self._times[-1]) * share)
        self._times.append(time)

    @property
    def start(self) -> float:
        """The first time."""
        return self._times[0]

    @property
    def end(self) -> float:
        """The last time."""
        return self._times[-1]

    def place(self, time: float) -> float:
        """Return the position of a time: 0 for the first event, 1 for the last."""
        after = bisect_right(self._times, time)
        if after == 0:
            return 0.0
        if after == len(self._times):
            return min(self._places[-1], 1.0)
        before, length = self._times[after - 1], self._times[after] - self._times[after - 1]
        return min(self._places[after - 1] + (time - before) / length * (self._places[after] - self._places[after - 1]), 1.0)

    def time(self, place: float) -> float:
        """Return the time at a position; the first or last time outside the range."""
        after = bisect_right(self._places, place)
        if after == 0:
            return self._times[0]
        if after == len(self._places):
            return self._times[-1]
        before, length = self._places[after - 1], self._places[after] - self._places[after - 1]
        return self._times[after - 1] + (place - before) / length * (self._times[after] - self._times[after - 1])

    def ticks(self, most: int, first: float = 0.0, last: float = 1.0) -> list[float]:
        """Return round times for the axis, counted from the first event and from the end of each pause.

        Args:
            most: approximate number of ticks.
            first, last: the visible positions.
        """
        begin, finish = self.time(first), self.time(last)
        visible = [(start, max(start, begin), min(end, finish)) for start, end in self._stretches()]
        visible = [(start, low, high) for start, low, high in visible if low <= high]
        step = round_step(sum(high - low for _, low, high in visible) / max(most, 1))
        ticks: list[float] = []
        for start, low, high in visible:
            number = math.ceil((low - start) / step - 1e-9)
            while start + number * step <= high + 1e-9:
                ticks.append(start + number * step)
                number += 1
        return ticks

    def pause_before(self, time: float) -> Pause | None:
        """Return the last pause that ended at or before a time."""
        return next((pause for pause in reversed(self.pauses) if pause.end <= time), None)

    def _stretches(self) -> list[tuple[float, float]]:
        edges = [self._times[0], *(edge for pause in self.pauses for edge in (pause.start, pause.end)), self._times[-1]]
        return list(zip(edges[::2], edges[1::2], strict=True))


def joined(spans: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return time spans with overlapping and adjacent ones merged."""
    found: list[tuple[float, float]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((start, end))
    return found


def round_step(length: float) -> float:
    """Return 1, 2 or 5 times a power of ten that is not below `length` (in seconds, at least a microsecond)."""
    power = 10.0 ** math.floor(math.log10(max(length, _FINEST)))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= length * 0.999)
