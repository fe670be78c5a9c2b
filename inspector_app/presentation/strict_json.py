"""JSON that every parser accepts: numbers that JSON does not have are written as null, with a note of where and what they were. No Qt.

Python and google-adk write `NaN`, `Infinity` and `-Infinity`, which are no JSON. The member `not_finite` of the object (of each object in a
list; `custom_metadata.inspector_not_finite` in an event) maps the place of each such number, a JSON pointer, to its text:
`{"not_finite": {"/session/rate": "NaN"}}`. It is left out where there is none.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from runtime.events.credentials import without_credentials
from runtime.events.marks import NOTE
from runtime.events.plain_event import PlainEvent
from runtime.sessions.note import Note

if TYPE_CHECKING:
    from runtime.events.event import Event

NOT_FINITE = "not_finite"
EVENT_NOT_FINITE = "inspector_not_finite"  # in `custom_metadata`: google-adk refuses an event with unknown keys elsewhere


def strict_json(value: Any, *, ascii_only: bool = False) -> str:
    """Return JSON data as one line of JSON.

    Args:
        value: JSON data; numbers may be infinite or not a number.
        ascii_only: escape all other characters, for an output that cannot encode them.
    """
    try:
        return json.dumps(value, ensure_ascii=ascii_only, allow_nan=False)
    except ValueError:
        return json.dumps(_noted(value), ensure_ascii=ascii_only, allow_nan=False)


def event_json(event: Event, *, ascii_only: bool = False, note: Note | None = None) -> str:
    """Return an event as google-adk's own JSON, in one line, with the credentials that people gave hidden.

    Args:
        event: the event.
        ascii_only: see `strict_json`.
        note: the note on it, see `with_note`.
    """
    if note is not None and not note.is_empty:
        return json.dumps(with_note(json.loads(event_json(event)), note), ensure_ascii=ascii_only)
    event = without_credentials(event)
    found: dict[str, str] = {}
    if isinstance(event, PlainEvent):
        data = event.model_dump()
        try:
            return json.dumps(data, ensure_ascii=ascii_only, allow_nan=False, separators=(",", ":"))
        except ValueError:  # a number such as 1e999
            text = json.dumps(_finite(data, "", found))
    else:
        text = event.model_dump_json(exclude_none=True)
    if "null" in text and not found:  # pydantic writes null for these numbers
        _finite(event.model_dump(exclude_none=True), "", found)
    if found:
        data = json.loads(text)
        data["custom_metadata"] = {**(data.get("custom_metadata") or {}), EVENT_NOT_FINITE: found}
        return json.dumps(data, ensure_ascii=ascii_only)
    return text if text.isascii() or not ascii_only else json.dumps(json.loads(text))


def with_note(data: dict[str, Any], note: Note | None) -> dict[str, Any]:
    """Return an event's JSON with the note on it in its `custom_metadata`, where google-adk takes any key; without any, as it is."""
    if note is None or note.is_empty:
        return data
    return {**data, "custom_metadata": {**(data.get("custom_metadata") or {}), NOTE: note.as_json()}}


def _noted(value: Any) -> Any:
    if isinstance(value, list):
        return [_noted(item) for item in value]
    found: dict[str, str] = {}
    finite = _finite(value, "", found)
    return {**finite, NOT_FINITE: found} if found and isinstance(finite, dict) else finite


def _finite(value: Any, place: str, found: dict[str, str]) -> Any:
    """Return JSON data with null in place of numbers that JSON does not have; note these in `found`."""
    if isinstance(value, float) and not math.isfinite(value):
        found[place] = json.dumps(value)
        return None
    if isinstance(value, dict):
        return {key: _finite(item, f"{place}/{_escaped(key)}", found) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item, f"{place}/{index}", found) for index, item in enumerate(value)]
    return value


def _escaped(key: object) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")
