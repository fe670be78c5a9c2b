"""An order of events that does not depend on how parallel branches took turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runtime.events.event import Event


class _Branch:
    """A branch: the number of its own events so far, and the branches below it."""

    __slots__ = ("below", "count")

    def __init__(self) -> None:
        self.count = 0
        self.below: dict[str, _Branch] = {}


def by_branch(events: Sequence[Event]) -> list[int]:
    """Return the indices of all events, those of parallel branches branch by branch.

    Two branches are parallel unless one begins with the other. An event keeps its place among those of its own branch, of the branches it
    is in, and of those within it. All orders that differ only in how parallel branches took turns have the same result.

    Args:
        events: all events of a session, in commit order.
    """
    root = _Branch()
    keys: list[tuple[int | str, ...]] = []
    for event in events:
        branch = root
        key: list[int | str] = []
        for name in event.branch.split(".") if event.branch else ():
            key += [2 * branch.count, name]
            branch = branch.below.setdefault(name, _Branch())
        keys.append((*key, 2 * branch.count + 1))
        branch.count += 1
    return sorted(range(len(events)), key=keys.__getitem__)
