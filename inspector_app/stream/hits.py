"""Where events stand that a filter lets through, while all others are on show, too. Pure, no Qt."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence


class Hits:
    """Places of events, ascending.

    Attributes:
        places: of the events found so far.
    """

    def __init__(self) -> None:
        self.places: array[int] = array("q")

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.places)

    def __contains__(self, index: int | None) -> bool:
        """Return whether the event at a place is one of them."""
        found = bisect_left(self.places, index) if index is not None else len(self.places)
        return found < len(self.places) and self.places[found] == index

    def add(self, indices: Iterable[int]) -> None:
        """Take in more of them, in any order and perhaps once more."""
        new = array("q", indices)
        if not new:
            return
        if not self.places or new[0] > self.places[-1]:
            self.places.extend(new)
        else:
            self.places = array("q", sorted({*self.places, *new}))

    def shown_after(self, index: int) -> int | None:
        """Return the next one after a place."""
        found = bisect_right(self.places, index)
        return self.places[found] if found < len(self.places) else None

    def shown_before(self, index: int) -> int | None:
        """Return the last one before a place."""
        found = bisect_left(self.places, index)
        return self.places[found - 1] if found else None


def pixels_with(places: Sequence[int], firsts: Sequence[int]) -> list[int]:
    """Return the pixels of a scroll bar that stand for one of these places, with as much work as there are pixels.

    Args:
        places: ascending.
        firsts: for each pixel the first place at or below it, ascending, and one more for the end.
    """
    found = []
    at = bisect_left(places, firsts[0]) if firsts else 0
    for pixel in range(len(firsts) - 1):
        if at == len(places):
            break
        if firsts[pixel + 1] > places[at]:
            found.append(pixel)
            at = bisect_left(places, firsts[pixel + 1], at)
    return found
