"""Decoding of rows with a column for each field, more of them with every version; in v0 with pickled actions."""

from __future__ import annotations

import base64
import importlib
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from runtime.events.marks import UNREADABLE
from runtime.history.steps import UNKNOWN_DELTA
from runtime.storage.layouts.column_values import as_name, micros_of, to_epoch
from runtime.storage.layouts.event_format import EventFormat, EventRow
from runtime.storage.layouts.pickled_actions import read_actions
from runtime.storage.layouts.unpickle import UnpickleError

if TYPE_CHECKING:
    from runtime.events.event import Event

_TEXTS = ("author", "branch", "error_code", "error_message")
_FLAGS = ("partial", "turn_complete", "interrupted")
_JSON = (
    "content",
    "grounding_metadata",
    "custom_metadata",
    "usage_metadata",
    "citation_metadata",
    "input_transcription",
    "output_transcription",
)
_ALWAYS = ("id", "invocation_id", "timestamp", "actions", "long_running_tool_ids_json")
LONGEST_KEPT = 1024 * 1024  # characters or bytes kept of an unreadable column
_DEEPEST_JSON = 150  # levels; pydantic's JSON parser refuses deeper values


FIELD_COLUMNS = frozenset({"actions", "long_running_tool_ids_json", *_TEXTS, *_FLAGS, *_JSON})


def field_columns(present: Collection[str]) -> list[str]:
    """Return the known columns that are present, in the order to select them."""
    return [name for name in (*_ALWAYS, *_TEXTS, *_FLAGS, *_JSON) if name in present]


def event_of(fields: dict[str, Any]) -> Event:
    """Return the event of the JSON that a row was converted to."""
    decode = importlib.import_module("runtime.storage.layouts.decode")  # loads google-genai's types
    event: Event = decode.parse_event(_json(fields))
    return event


def json_of_v0(row: Mapping[str, Any], offset: int) -> dict[str, Any]:
    """Return a v0 row as the JSON of later layouts; see `json_of_columns`."""
    return json_of_columns(row, offset, lambda pickled: read_actions(as_bytes(pickled)))


def json_of_columns(row: Mapping[str, Any], offset: int, actions_of: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
    """Return a row as the JSON of later layouts. Unreadable columns are kept in custom_metadata and have no effect.

    Args:
        row: the columns of `field_columns`, by name.
        offset: microseconds by which the writer's local time was ahead of UTC.
        actions_of: reads the column `actions`; raises ValueError if it cannot.
    """
    data: dict[str, Any] = {name: _text(row[name]) for name in _TEXTS if row.get(name) is not None}
    data.update({name: bool(row[name]) for name in _FLAGS if row.get(name) is not None})
    data["id"], data["invocation_id"] = as_name(row["id"]), as_name(row["invocation_id"])
    data["timestamp"] = to_epoch(micros_of(row["timestamp"]) - offset)
    unreadable: dict[str, Any] = {}
    for name in (*_JSON, "long_running_tool_ids_json"):
        try:
            value = loaded_json(row.get(name))
        except ValueError as error:
            unreadable[name] = {"reason": str(error), "text": _text(row[name])[:LONGEST_KEPT]}
        else:
            if value is not None:
                data[name] = value
    data["long_running_tool_ids"] = data.pop("long_running_tool_ids_json", [])
    try:
        data["actions"] = actions_of(row["actions"])
    except ValueError as error:
        kept = as_bytes(row["actions"])[:LONGEST_KEPT]
        unreadable["actions"] = {"reason": str(error), "base64": base64.b64encode(kept).decode("ascii")}
    if unreadable:
        metadata = data.get("custom_metadata")
        data["custom_metadata"] = {**(metadata if isinstance(metadata, dict) else {}), UNREADABLE: unreadable}
    return data


def delta_of_v0(pickled: Any) -> Mapping[str, Any]:
    """Return the state delta in pickled actions; empty if it is missing, `UNKNOWN_DELTA` if it cannot be read."""
    try:
        delta = read_actions(as_bytes(pickled)).get("state_delta")
    except UnpickleError:
        return UNKNOWN_DELTA
    return delta if isinstance(delta, Mapping) else {} if delta is None else UNKNOWN_DELTA


def _json(data: dict[str, Any]) -> bytes:
    # A lone surrogate has no UTF-8 form and becomes a question mark.
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "replace")


def loaded_json(value: Any) -> Any:
    """Return the value of a JSON column; a value that is not text or bytes is returned as it is.

    Raises:
        ValueError: it is not JSON, or nested too deeply.
    """
    if not isinstance(value, (str, bytes)):
        return value
    try:
        loaded = json.loads(value)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    _check_depth(loaded)
    return loaded


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(_DEEPEST_JSON):
        level = [inner for item in level if isinstance(item, (dict, list)) for inner in (item.values() if isinstance(item, dict) else item)]
        if not level:
            return
    raise ValueError("it is nested too deeply")


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def as_bytes(value: Any) -> bytes:
    """Return the bytes of a column that should hold bytes; a crafted file may hold any value there."""
    if isinstance(value, bytes):
        return value
    return b"" if value is None else str(value).encode("utf-8", "replace")  # `bytes(n)` would be n zeros


def _decoder(columns: Sequence[str], offset: int) -> Callable[[EventRow], Event]:
    return lambda row: event_of(json_of_v0(dict(zip(columns, row, strict=True)), offset))


V0 = EventFormat(
    kind="v0",
    badge="v0",
    title="v0 · google-adk up to 1.21 DatabaseSessionService, pickled actions",
    own_columns=FIELD_COLUMNS,
    matches=lambda columns: {"actions", "author"} <= set(columns),
    columns=field_columns,
    decoder=_decoder,
    delta_column="actions",
    delta_of=delta_of_v0,
    as_json=json_of_v0,
    has_local_times=True,
    other_service="has the older layout with pickled actions, which is read-only here.",
)
