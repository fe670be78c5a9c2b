"""The fields that a database's events have."""

from __future__ import annotations

import json
from typing import Any

from runtime.storage.reading.event_rows import ReadingConnection


def has_field(connection: ReadingConnection, name: str) -> bool:
    """Return whether any event has a field of this name.

    Args:
        connection: a connection to a file whose layout stores events as JSON.
        name: a key of the event's JSON object.
    """
    # The text also occurs in state and in other values, so each event that has it is read.
    found = connection.execute("SELECT event_data FROM events WHERE instr(event_data, ?) > 0", (f'"{name}":',))
    return any(name in _object(data) for (data,) in found)


def _object(data: Any) -> dict[str, Any]:
    try:
        value = json.loads(data)
    except (ValueError, TypeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
