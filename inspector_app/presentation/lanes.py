"""The bars of a timeline's row, found by position, and merged where they are too narrow to be told apart. No Qt."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from inspector_app.presentation.spans import Span

FAILED, CRITICAL, OPEN = 1, 2, 4  # flags of a bar

FEW = 60  # visible bars of a row that are drawn one by one; of more, those that touch each other are merged
SOME = 300  # visible bars of a row that are merged when they are painted; of more, the merged ones are kept
_FINE, _COARSE = (
    1.5 / 4000,
    3 / 600,
)  # shares of a very wide and a narrow view that 1.5 and 3 pixels are; prepared before the first painting


class Bars(NamedTuple):
    """Bars in order, in columns.

    Attributes:
        left, right: positions on the axis, 0 to 1.
        flags: sums of `FAILED`, `CRITICAL` and `OPEN`; a merged bar has those of all its parts.
        number: the number of the bar's first span.
    """

    left: array[float]
    right: array[float]
    flags: bytearray
    number: array[int]


class Lane:
    """The spans of a row or a part of a row, which do not overlap.

    Attributes:
        spans: see below.
        bars: all bars, none merged.

    Args:
        spans: sorted by start.
        left, right: their positions on the axis, 0 to 1.
    """

    def __init__(self, spans: Sequence[Span], left: array[float], right: array[float]) -> None:
        self.spans = spans
        flags = bytearray((span.failed and FAILED) | (span.critical and CRITICAL) | (span.end is None and OPEN) for span in spans)
        self.bars = Bars(left, right, flags, array("q", range(len(spans))))
        self._merged: dict[int, Bars] = {}
        if len(spans) > SOME:
            for level in range(_level_of(_FINE * SOME / len(spans)), _level_of(_COARSE) + 1):
                self._level(level)

    def visible(self, first: float, last: float, pixel: float) -> tuple[Bars, range, float]:
        """Return the bars to draw, the numbers of those between two positions, and the width that a bar has at least.

        Args:
            first, last: the visible positions.
            pixel: the width of a pixel. Where many bars are visible, those closer than about two pixels are merged; 0 is returned for the
                least width where they are not.
        """
        shown = _between(self.bars, first, last)
        if len(shown) <= FEW:
            return self.bars, shown, 0.0
        level = _level_of(2.5 * pixel)
        if len(shown) <= SOME:
            bars = _merge(_part(self.bars, shown), 2.0**level)
            return bars, range(len(bars.left)), 2.0**level / 2
        bars = self._level(level)
        return bars, _between(bars, first, last), 2.0**level / 2

    def near(self, place: float, reach: float) -> tuple[int | None, int]:
        """Return the number of the span at a position, or the closest within `reach`, and how many there are within `reach`."""
        near = _between(self.bars, place - reach, place + reach)
        left, right = self.bars.left, self.bars.right
        best = min(near, key=lambda number: max(left[number] - place, place - right[number], 0.0), default=None)
        return best, len(near)

    def _level(self, level: int) -> Bars:
        """Return the bars with gaps below 2 ** level merged, made from the closest finer ones."""
        if level not in self._merged:
            finer = max((known for known in self._merged if known < level), default=None)
            self._merged[level] = _merge(self.bars if finer is None else self._merged[finer], 2.0**level)
        return self._merged[level]


def lanes_of(spans: Sequence[Span], left: Sequence[float], right: Sequence[float], most: int = 8) -> list[Lane]:
    """Return lanes without overlaps, as few as possible.

    Args:
        spans: sorted by start.
        left, right: their positions.
        most: number of lanes; spans that would need more share the last one.
    """
    ends: list[float] = []
    members: list[list[int]] = []
    for number, begin in enumerate(left):
        lane = next((lane for lane, end in enumerate(ends) if end <= begin), None)
        if lane is None and len(ends) < most:
            lane = len(ends)
            ends.append(0.0)
            members.append([])
        elif lane is None:
            lane = most - 1
        ends[lane] = max(ends[lane], right[number])
        members[lane].append(number)
    if len(members) == 1:
        return [Lane(spans, array("d", left), array("d", right))]
    return [Lane([spans[n] for n in lane], array("d", (left[n] for n in lane)), array("d", (right[n] for n in lane))) for lane in members]


def _between(bars: Bars, first: float, last: float) -> range:
    return range(bisect_left(bars.right, first), bisect_right(bars.left, last))


def _part(bars: Bars, numbers: range) -> Bars:
    part = slice(numbers.start, numbers.stop)
    return Bars(bars.left[part], bars.right[part], bars.flags[part], bars.number[part])


def _level_of(length: float) -> int:
    return math.ceil(math.log2(max(length, 1e-15)))


def _merge(bars: Bars, gap: float) -> Bars:
    """Return bars in which neighbours are one if the space between them is below `gap` and both are narrow."""
    left, right, flags, numbers = array("d"), array("d"), bytearray(), array("q")
    narrow = 3 * gap
    end, was_narrow = -math.inf, False
    for begin, finish, flag, number in zip(bars.left, bars.right, bars.flags, bars.number, strict=True):
        is_narrow = finish - begin < narrow
        if is_narrow and was_narrow and begin - end < gap:
            end = max(end, finish)
            right[-1] = end
            flags[-1] |= flag
            continue
        left.append(begin)
        right.append(finish)
        flags.append(flag)
        numbers.append(number)
        end, was_narrow = finish, is_narrow
    return Bars(left, right, flags, numbers)
