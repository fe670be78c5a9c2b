"""How one layout stores its events; each layout is one `EventFormat`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runtime.support.file_names import free_name

if TYPE_CHECKING:
    from runtime.events.event import Event


EventRow = Sequence[Any]  # the values of `EventFormat.columns` in a row of `events`
EVENT_COLUMNS = frozenset({"id", "app_name", "user_id", "session_id", "invocation_id", "timestamp"})  # in every layout


@dataclass(frozen=True, slots=True)
class EventFormat:
    """How a layout stores its events.

    Attributes:
        kind: the layout's short name, as reports and command lines use it.
        badge: its name in a word or three, for a narrow pane.
        title: the layout's name for users.
        own_columns: columns of `events`, in any version of this layout, in addition to `EVENT_COLUMNS`.
        matches: returns whether a database has this layout, given the columns of `events` (name → declared type).
        columns: returns the columns to select, in the order for `decoder`, given the columns that are present.
        decoder: returns the function that decodes a row, given the selected columns and the offset in microseconds by which the writer's
            clock was ahead of UTC (0 unless `has_local_times`).
        delta_column: the column that holds the state delta.
        delta_of: returns the state delta in a value of `delta_column`; `UNKNOWN_DELTA` if it cannot be read.
        as_json: returns an event's JSON, given its columns and that offset; None if the column `event_data` is that JSON.
        amend: changes the object in `event_data` into what google-adk would store; None if it is that already.
        has_local_times: whether the column `timestamp` holds the writer's local time without a time zone.
        json_ids_win: whether the ids in an event's JSON take precedence over the columns.
        time_order: an SQL expression that sorts the values of a time column, given as `{}`.
        other_service: the reason why another service cannot open it, as the rest of a sentence that begins with the database's name; see
            `refusal`.
        writer: name of the session service that continues it, or None if it can only be read.
        reader: returns a function as `decoder` does, for code that only reads: it makes a `PlainEvent` if the event is a usual one. None
            if the layout has none.
    """

    kind: str
    badge: str
    title: str
    own_columns: frozenset[str]
    matches: Callable[[Mapping[str, str]], bool]
    columns: Callable[[Collection[str]], list[str]]
    decoder: Callable[[Sequence[str], int], Callable[[EventRow], Event]]
    delta_column: str
    delta_of: Callable[[Any], Mapping[str, Any]]
    other_service: str
    writer: str | None = None
    as_json: Callable[[Mapping[str, Any], int], dict[str, Any]] | None = None
    has_local_times: bool = False
    json_ids_win: bool = False
    reader: Callable[[Sequence[str], int], Callable[[EventRow], Any]] | None = None
    amend: Callable[[dict[str, Any]], None] | None = None
    time_order: str = "{}"

    @property
    def is_json(self) -> bool:
        """Whether `event_data` is the event's JSON, which SQLite can search."""
        return self.as_json is None

    def refusal(self, name: str) -> str:
        """Return why a database cannot be opened by another service, or cannot be written at all, as a sentence."""
        if self.writer is not None:
            return f"{name} {self.other_service}"
        command = "import" if "://" in name and not name.startswith("sqlite") else "convert"  # which copies a file only
        return f"{name} {self.other_service} Convert it into a new file: agent-inspector {command} {shlex.quote(name)} {free_name()}"
