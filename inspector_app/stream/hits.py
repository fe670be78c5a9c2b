"""Places of the events that pass a filter, marked while all events are displayed. No Qt."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence


class Hits:
    """Places of events that pass a filter.

    Attributes:
        places: places of the events found so far, ascending.
    """

    def __init__(self) -> None:
        self.places: array[int] = array("q")

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self.places)

    def __contains__(self, index: int | None) -> bool:
        """Return whether the event at a place is a hit."""
        found = bisect_left(self.places, index) if index is not None else len(self.places)
        return found < len(self.places) and self.places[found] == index

    def add(self, indices: Iterable[int]) -> None:
        """Add places, in any order; known ones are ignored."""
        new = array("q", indices)
        if not new:
            return
        if not self.places or new[0] > self.places[-1]:
            self.places.extend(new)
        else:
            self.places = array("q", sorted({*self.places, *new}))

    def shown_after(self, index: int) -> int | None:
        """Return the next hit after a place."""
        found = bisect_right(self.places, index)
        return self.places[found] if found < len(self.places) else None

    def shown_before(self, index: int) -> int | None:
        """Return the last hit before a place."""
        found = bisect_left(self.places, index)
        return self.places[found - 1] if found else None


def pixels_with(places: Sequence[int], firsts: Sequence[int]) -> list[int]:
    """Return the pixels of a scroll bar that represent at least one of these places, in time proportional to the number of pixels.

    Args:
        places: the places, ascending.
        firsts: the first place at or below each pixel, ascending, and then the place after the last pixel.
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
