"""The two layouts that store an event as JSON: v1 and adk web's."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from typing import Any

from pydantic import ValidationError

from runtime.events.event import Event
from runtime.storage.layouts.column_values import read_time, to_epoch
from runtime.storage.layouts.commit_record import delta_of
from runtime.storage.layouts.event_format import EventFormat, EventRow
from runtime.storage.layouts.stored_event import StoredEvent, event_with_unknown

JSON_COLUMNS = ["id", "invocation_id", "timestamp", "event_data"]


def decode_v1(row: EventRow) -> Event:
    """Return the event of a v1 row. As in google-adk, the columns `id` and `invocation_id` take precedence over the JSON."""
    event_id, invocation_id, time, data = row
    event = parse_event(data)
    event.id = event_id
    event.invocation_id = invocation_id
    return _timed(event, time)


def decode_sqlite(row: EventRow) -> Event:
    """Return the event of a row of adk web's layout. As in google-adk, the JSON takes precedence over the columns."""
    event_id, invocation_id, time, data = row
    event = parse_event(data)
    if "id" not in event.model_fields_set:
        event.id = event_id
    if "invocation_id" not in event.model_fields_set:
        event.invocation_id = invocation_id
    return _timed(event, time)


def _timed(event: Event, time: Any) -> Event:
    # google-adk up to 2.6 writes local time into the column; the epoch in the JSON is always correct.
    if "timestamp" not in event.model_fields_set:
        try:
            event.timestamp = to_epoch(read_time(time))
        except ValueError:
            event.timestamp = 0.0
    return event


def parse_event(data: Any) -> Event:
    """Return the event of its stored JSON; unreadable parts are kept unchanged."""
    try:
        return Event.model_validate_json(data)
    except (ValidationError, TypeError):
        return _parse_leniently(data)


def _parse_leniently(data: Any) -> Event:
    try:
        value = json.loads(data)
    except (ValueError, TypeError, RecursionError) as error:
        return _unreadable(data, f"Its stored text is not JSON ({error}).")
    if not isinstance(value, dict):
        return _unreadable(data, "Its stored text is not a JSON object.")
    try:
        return event_with_unknown(value)
    except (ValueError, RecursionError) as error:
        return _unreadable(data, f"Its stored text is nested too deeply or otherwise unreadable ({error}).")


def _unreadable(data: Any, why: str) -> Event:
    event = StoredEvent.model_validate({"author": "", "error_code": "UNREADABLE_EVENT", "error_message": why})
    event._unknown = [(("stored_text",), data if isinstance(data, str) else repr(data))]
    return event


def _json_columns(_present: Collection[str]) -> list[str]:
    return JSON_COLUMNS


def _always(decode: Callable[[EventRow], Event]) -> Callable[[Sequence[str], int], Callable[[EventRow], Event]]:
    return lambda _columns, _offset: decode


V1 = EventFormat(
    kind="v1",
    title="v1 · google-adk 1.22+ DatabaseSessionService",
    own_columns=frozenset({"event_data"}),
    matches=lambda columns: "event_data" in columns,
    columns=_json_columns,
    decoder=_always(decode_v1),
    delta_column="event_data",
    delta_of=delta_of,
    as_json=None,
    has_local_times=False,
    json_ids_win=False,
    other_service="has the layout of DatabaseSessionService. Open it with that service or open_session_service, which detects the layout.",
    writer="DatabaseSessionService",
)

SQLITE = EventFormat(
    kind="sqlite",
    title="sqlite · adk web's SqliteSessionService",
    own_columns=frozenset({"event_data"}),
    matches=lambda columns: "event_data" in columns and columns["timestamp"].upper() == "REAL",
    columns=_json_columns,
    decoder=_always(decode_sqlite),
    delta_column="event_data",
    delta_of=delta_of,
    as_json=None,
    has_local_times=False,
    json_ids_win=True,
    other_service="has adk web's layout. Open it with SqliteSessionService or open_session_service, which detects the layout.",
    writer="SqliteSessionService",
)
