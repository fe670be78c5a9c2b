"""The three layouts that store an event as JSON: v1, adk web's and that of ADK for TypeScript."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from pydantic import ValidationError

from runtime.events.event import Event
from runtime.events.marks import STORED_TEXT, UNREADABLE_EVENT
from runtime.storage.layouts.column_values import as_name, in_seconds, read_time, to_epoch, without_lone_surrogates
from runtime.storage.layouts.event_format import EventRow
from runtime.storage.layouts.stored_event import StoredEvent, event_with_unknown

_KEY = '"timestamp":'
# The last brace of the text closes the event, so a key directly before it is the event's own.
_LAST_KEY = re.compile(r'[,{]\s*"timestamp":\s*(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*\}\s*$')


def decode_v1(row: EventRow) -> Event:
    """Return the event of a v1 row. As in google-adk, the columns `id` and `invocation_id` take precedence over the JSON."""
    event_id, invocation_id, time, data = row
    event = parse_event(data)
    event.id = as_name(event_id)
    event.invocation_id = as_name(invocation_id)
    return _timed(event, time)


def decode_sqlite(row: EventRow) -> Event:
    """Return the event of a row of adk web's layout. As in google-adk, the JSON takes precedence over the columns."""
    event_id, invocation_id, time, data = row
    event = parse_event(data)
    if "id" not in event.model_fields_set:
        event.id = as_name(event_id)
    if "invocation_id" not in event.model_fields_set:
        event.invocation_id = as_name(invocation_id)
    return _timed(event, time)


def decode_typescript(row: EventRow) -> Event:
    """Return the event of a row of @google/adk, which stores milliseconds."""
    event_id, invocation_id, time, data = row
    try:
        stored = json.loads(data)
        in_seconds(stored)
        data = json.dumps(stored)
    except (ValueError, TypeError, AttributeError, RecursionError):
        pass  # `parse_event` reports the damage
    return decode_v1((event_id, invocation_id, time, data))


def _timed(event: Event, time: Any) -> Event:
    # google-adk up to 2.6 writes local time into the column; the epoch in the JSON is always correct.
    if "timestamp" not in event.model_fields_set:
        try:
            event.timestamp = to_epoch(read_time(time))
        except ValueError:
            event.timestamp = 0.0
    return event


def decode_json(row: EventRow) -> Event:
    """Return the event of its JSON alone, the last column."""
    return parse_event(row[3])


def parse_event(data: Any) -> Event:
    """Return the event of its stored JSON; unreadable parts are kept unchanged."""
    try:
        return Event.model_validate_json(data)
    except (ValidationError, TypeError):
        return _parse_leniently(data)


def _parse_leniently(data: Any) -> Event:
    try:
        value = json.loads(data, parse_int=_integer)
    except (ValueError, TypeError, RecursionError) as error:
        return _unreadable(data, f"Its stored text is not JSON ({error}).")
    if not isinstance(value, dict):
        return _unreadable(data, "Its stored text is not a JSON object.")
    try:
        return event_with_unknown(without_lone_surrogates(value))
    except (ValueError, RecursionError) as error:
        return _unreadable(data, f"Its stored text is nested too deeply or otherwise unreadable ({error}).")


def _integer(digits: str) -> int | str:
    """Return an integer; its digits if they are more than Python reads."""
    try:
        return int(digits)
    except ValueError:
        return digits


def _unreadable(data: Any, why: str) -> Event:
    event = StoredEvent.model_validate({"author": "", "error_code": UNREADABLE_EVENT, "error_message": why})
    event._unknown = [((STORED_TEXT,), data if isinstance(data, str) else repr(data))]
    return event


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
