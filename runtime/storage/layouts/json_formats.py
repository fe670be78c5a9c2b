"""The three layouts that store an event as JSON. Their decoders load google-genai's types and are imported when a row is decoded."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from runtime.events.plain_event import plain_event, typed_reader
from runtime.storage.layouts.column_values import MIXED_TIMES, in_seconds, may_have_surrogates, without_lone_surrogates
from runtime.storage.layouts.commit_record import delta_of
from runtime.storage.layouts.event_format import EventFormat, EventRow
from runtime.support.quick_json import parser_of_many

if TYPE_CHECKING:
    from runtime.events.event import Event

JSON_COLUMNS = ["id", "invocation_id", "timestamp", "event_data"]


def _json_columns(_present: Collection[str]) -> list[str]:
    return JSON_COLUMNS


def _decoder(name: str) -> Callable[[Sequence[str], int], Callable[[EventRow], Any]]:
    def load(_columns: Sequence[str], _offset: int) -> Callable[[EventRow], Any]:
        decode: Callable[[EventRow], Any] = getattr(importlib.import_module("runtime.storage.layouts.decode"), name)
        return decode

    return load


def _reader(
    name: str, *, json_wins: bool = False, amend: Callable[[dict[str, Any]], None] | None = None
) -> Callable[[Sequence[str], int], Callable[[EventRow], Any]]:
    """Return the maker of a function that reads a row as a `PlainEvent`, or as an `Event` if it is unusual."""

    def read_typed(read_quickly: Callable[[Any, Any, Any], Any], parse: Callable[[str], Any], row: EventRow) -> Any:
        event = read_quickly(row[0], row[1], row[3])
        return read(parse, row) if event is None else event

    def read(parse: Callable[[str], Any], row: EventRow) -> Any:
        event_id, invocation_id, _, data = row
        try:
            found = parse(data) if isinstance(data, str) else None  # a BLOB is unusual
        except (ValueError, RecursionError):
            found = None
        if type(found) is dict and "timestamp" in found and "NaN" not in data and "Infinity" not in data:
            columns = {"id": event_id, "invocation_id": invocation_id}
            if may_have_surrogates(data):
                found = without_lone_surrogates(found)
            if amend is not None:
                amend(found)
            event = plain_event({**columns, **found} if json_wins else {**found, **columns})
            if event is not None:
                return event
        return getattr(importlib.import_module("runtime.storage.layouts.decode"), name)(row)

    if amend is not None:
        return lambda _columns, _offset: partial(read, parser_of_many())
    return lambda _columns, _offset: partial(read_typed, typed_reader(json_wins=json_wins), parser_of_many())


def reader_of_json() -> Callable[[str], Event]:
    """Return a function that reads an event's JSON as an `EventFormat.reader` reads a row; one that has no id is unusual, too."""
    read = _reader("decode_json", json_wins=True)(JSON_COLUMNS, 0)
    return lambda text: read((None, None, None, text))


V1 = EventFormat(
    kind="v1",
    badge="v1",
    title="v1 · google-adk 1.22+ DatabaseSessionService",
    own_columns=frozenset({"event_data"}),
    matches=lambda columns: "event_data" in columns,
    columns=_json_columns,
    decoder=_decoder("decode_v1"),
    reader=_reader("decode_v1"),
    delta_column="event_data",
    delta_of=delta_of,
    other_service="has the layout of DatabaseSessionService. Open it with that service or open_session_service, which detects the layout.",
    writer="DatabaseSessionService",
)

SQLITE = replace(
    V1,
    kind="sqlite",
    badge="sqlite",
    title="sqlite · adk web's SqliteSessionService",
    matches=lambda columns: "event_data" in columns and columns["timestamp"].upper() == "REAL",
    decoder=_decoder("decode_sqlite"),
    reader=_reader("decode_sqlite", json_wins=True),
    json_ids_win=True,
    other_service="has adk web's layout. Open it with SqliteSessionService or open_session_service, which detects the layout.",
    writer="SqliteSessionService",
)

TYPESCRIPT = replace(
    V1,
    kind="typescript",
    badge="ADK for TypeScript",
    title="ADK for TypeScript · @google/adk DatabaseSessionService, read only",
    matches=lambda columns: columns.get("event_data", "").lower() == "json" and columns["timestamp"].lower() == "datetime",
    decoder=_decoder("decode_typescript"),
    reader=_reader("decode_typescript", amend=in_seconds),
    amend=in_seconds,
    time_order=MIXED_TIMES,
    other_service="was written by ADK for TypeScript (@google/adk) and is read-only here.",
    writer=None,
)

LANGGRAPH = replace(
    V1,  # the layout that its threads are translated into, see `runtime.storage.langgraph`
    kind="langgraph",
    badge="LangGraph",
    title="LangGraph · checkpoints of SqliteSaver, read only",
    matches=lambda columns: False,
    other_service=(
        "has LangGraph's checkpoints and is read-only here: an interrupt is answered by the graph's own code, with Command(resume=…)."
    ),
    writer=None,
)
