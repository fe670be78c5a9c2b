"""When a stored event happened, without decoding it."""

from __future__ import annotations

import re
from collections.abc import Callable

from runtime.events.event import Event
from runtime.storage.layouts.event_format import EventRow

_KEY = '"timestamp":'
# What closes the text closes the event itself: a key right before it is the event's own.
_LAST_KEY = re.compile(r'[,{]\s*"timestamp":\s*(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*\}\s*$')


def timestamp_of(row: EventRow, decode: Callable[[EventRow], Event]) -> float:
    """Return an event's own time, epoch seconds.

    Args:
        row: of the table `events`.
        decode: of its layout; used where the time is not the last thing in the text, where google-adk and we write it.
    """
    data = row[3]
    if isinstance(data, str):
        found = _LAST_KEY.search(data, max(0, data.rfind(_KEY) - 3))
        if found:
            return float(found[1])
    return decode(row).timestamp
