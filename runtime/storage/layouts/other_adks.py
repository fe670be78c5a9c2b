"""Layouts of the ADKs for other languages that have a column for each field, as v0 has, but JSON in all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runtime.events.plain_event import plain_event
from runtime.history.steps import UNKNOWN_DELTA
from runtime.storage.layouts.camel_case import with_snake_case
from runtime.storage.layouts.column_values import MIXED_TIMES, may_have_surrogates, without_lone_surrogates
from runtime.storage.layouts.decode_v0 import FIELD_COLUMNS, event_of, field_columns, json_of_columns, loaded_json
from runtime.storage.layouts.event_format import EventFormat, EventRow

if TYPE_CHECKING:
    from runtime.events.event import Event

_SPELLED = ("content", "grounding_metadata", "usage_metadata", "citation_metadata")  # columns with fields of ADK's
# adk-go's own, since its version 2.0: column → the event's field.
_GO_JSON = {"output_json": "output", "node_info_json": "node_info"}
_GO_METADATA = {"routes_json": "routes", "requested_input_json": "requested_input"}  # google-adk has no field for them
_GO_COLUMNS = ("isolation_scope", *_GO_JSON, *_GO_METADATA)


def json_of_adk_ts(row: Mapping[str, Any], offset: int) -> dict[str, Any]:
    """Return a row of ADK-TS as the JSON of google-adk's layouts; see `json_of_columns`."""
    data = json_of_columns(row, offset, _read_actions)
    if any(isinstance(value, str) and may_have_surrogates(value) for value in row.values()):
        data = without_lone_surrogates(data)
    for name in _SPELLED:
        if name in data:
            data[name] = with_snake_case(data[name])
    return data


def json_of_go(row: Mapping[str, Any], offset: int) -> dict[str, Any]:
    """Return a row of adk-go as the JSON of google-adk's layouts; see `json_of_columns`."""
    data = json_of_adk_ts(row, offset)
    if row.get("isolation_scope"):
        data["isolation_scope"] = row["isolation_scope"]
    metadata = data.get("custom_metadata") or {}
    for columns, fields in ((_GO_JSON, data), (_GO_METADATA, metadata)):
        for column, name in columns.items():
            try:
                value = loaded_json(row.get(column))
            except ValueError:
                value = str(row[column])
            if value is not None:
                fields[name] = with_snake_case(value) if name == "node_info" else value
    if metadata:
        data["custom_metadata"] = metadata
    return data


def _read_actions(stored: Any) -> dict[str, Any]:
    """Return the actions in a JSON column, without fields that are empty.

    Raises:
        ValueError: the column holds no JSON object.
    """
    value = loaded_json(stored) if stored not in (None, "", b"") else {}
    if not isinstance(value, dict):
        raise ValueError(f"it is a {type(value).__name__}, not a JSON object")
    actions: dict[str, Any] = with_snake_case(value)
    return {name: member for name, member in actions.items() if member not in (None, "", False)}


def _delta_of(stored: Any) -> Mapping[str, Any]:
    try:
        delta = _read_actions(stored).get("state_delta")
    except ValueError:
        return UNKNOWN_DELTA
    return delta if isinstance(delta, Mapping) else {} if delta is None else UNKNOWN_DELTA


AsJson = Callable[[Mapping[str, Any], int], dict[str, Any]]
Maker = Callable[[Sequence[str], int], Callable[[EventRow], Any]]


def _decoder(as_json: AsJson) -> Callable[[Sequence[str], int], Callable[[EventRow], Event]]:
    return lambda columns, offset: lambda row: event_of(as_json(dict(zip(columns, row, strict=True)), offset))


def _reader(as_json: AsJson) -> Maker:
    def reader(columns: Sequence[str], offset: int) -> Callable[[EventRow], Any]:
        def read(row: EventRow) -> Any:
            fields = as_json(dict(zip(columns, row, strict=True)), offset)
            event = None if any(map(_may_be_infinite, row)) else plain_event(fields)
            return event_of(fields) if event is None else event

        return read

    return reader


def _may_be_infinite(value: Any) -> bool:
    if isinstance(value, bytes):
        return b"NaN" in value or b"Infinity" in value
    return isinstance(value, str) and ("NaN" in value or "Infinity" in value)


def _go_columns(present: Collection[str]) -> list[str]:
    return [*field_columns(present), *(name for name in _GO_COLUMNS if name in present)]


ADK_TS = EventFormat(
    kind="adk-ts",
    badge="ADK-TS",
    title="ADK-TS · @iqai/adk DatabaseSessionService, read only; times in whole seconds",
    own_columns=FIELD_COLUMNS,
    matches=lambda columns: {"actions", "author"} <= set(columns) and columns["actions"].lower() == "text",
    columns=field_columns,
    decoder=_decoder(json_of_adk_ts),
    reader=_reader(json_of_adk_ts),
    delta_column="actions",
    delta_of=_delta_of,
    as_json=json_of_adk_ts,
    time_order=MIXED_TIMES,
    other_service="was written by ADK-TS (@iqai/adk) and is read-only here.",
)

GO = replace(
    ADK_TS,
    kind="adk-go",
    badge="ADK for Go",
    title="ADK for Go · adk-go's database service, read only; not verified against files that it wrote",
    own_columns=FIELD_COLUMNS | set(_GO_COLUMNS),
    # google-adk's v0 declares `partial` as BOOLEAN.
    matches=lambda columns: (columns.get("actions", "").lower(), columns.get("partial", "").lower()) == ("blob", "numeric"),
    columns=_go_columns,
    decoder=_decoder(json_of_go),
    reader=_reader(json_of_go),
    as_json=json_of_go,
    other_service="was written by ADK for Go (adk-go) and is read-only here.",
)
