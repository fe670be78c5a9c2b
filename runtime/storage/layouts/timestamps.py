"""The time of a stored event, read without decoding the event."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from runtime.storage.layouts.event_format import EventRow

if TYPE_CHECKING:
    from runtime.events.event import Event

_KEY = '"timestamp":'
# The last brace of the text closes the event, so a key directly before it is the event's own.
_LAST_KEY = re.compile(r'[,{]\s*"timestamp":\s*(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*\}\s*$')


def timestamp_of(row: EventRow, decode: Callable[[EventRow], Event]) -> float:
    """Return an event's own time in epoch seconds.

    Args:
        row: a row of the table `events`.
        decode: the layout's decoder, used if the time is not the last key of the text, where google-adk and we write it.
    """
    data = row[3]
    if isinstance(data, str):
        found = _LAST_KEY.search(data, max(0, data.rfind(_KEY) - 3))
        if found:
            return float(found[1])
    return decode(row).timestamp
