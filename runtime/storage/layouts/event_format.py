"""How one layout stores its events; each layout is one `EventFormat`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runtime.events.event import Event

EventRow = Sequence[Any]
"""The values of `EventFormat.columns` in a row of `events`."""

EVENT_COLUMNS = frozenset({"id", "app_name", "user_id", "session_id", "invocation_id", "timestamp"})  # in every layout


@dataclass(frozen=True, slots=True)
class EventFormat:
    """How a layout stores its events.

    Attributes:
        kind: the layout's short name, as reports and command lines use it.
        title: the layout's name for people.
        own_columns: columns of `events` that a version of this layout has beside `EVENT_COLUMNS`.
        matches: tell from the columns of `events` (name → declared type) whether a database has this layout.
        columns: return the columns to select, in the order that `decoder` takes, from those that are present.
        decoder: return the function that turns a row into its event, from the selected columns and the offset in microseconds by which
            the writer's clock was ahead of UTC (0 unless `has_local_times`).
        delta_column: the column that holds the state delta.
        delta_of: return the state delta in a value of `delta_column`; empty if it cannot be read.
        as_json: return an event's JSON from its columns and that offset; None where the column `event_data` is that JSON already.
        has_local_times: the column `timestamp` is the writer's local time, without a zone.
        json_ids_win: an event's ids are those in its JSON, not those in the columns.
        other_service: why `DatabaseSessionService` or `SqliteSessionService` cannot open it, to follow the database's name.
        writer: which session service continues it, None if it can only be read.
    """

    kind: str
    title: str
    own_columns: frozenset[str]
    matches: Callable[[Mapping[str, str]], bool]
    columns: Callable[[Collection[str]], list[str]]
    decoder: Callable[[Sequence[str], int], Callable[[EventRow], Event]]
    delta_column: str
    delta_of: Callable[[Any], dict[str, Any]]
    as_json: Callable[[Mapping[str, Any], int], dict[str, Any]] | None
    has_local_times: bool
    json_ids_win: bool
    other_service: str
    writer: str | None

    @property
    def is_json(self) -> bool:
        """Whether `event_data` is the event's JSON, which SQLite can search."""
        return self.as_json is None
