"""The events that no rewind took back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from runtime.sessions.event_list import EventList

if TYPE_CHECKING:
    from runtime.events.event import Event


def without_rewound(events: Sequence[Event]) -> EventList:
    """Return the events that no rewind took back, without the rewinds themselves; the same object if there was no rewind."""
    events = events if isinstance(events, EventList) else EventList(events)
    rewinds = events.rewinds()
    if not rewinds:
        return events
    kept: list[int] = []
    for index in range(len(events)):
        target = rewinds.get(index)
        if target is None:
            kept.append(index)
            continue
        first = next((place for place, old in enumerate(kept) if events.invocation_id(old) == target), len(kept))
        del kept[first:]
    return events.choose(kept)
