"""Rows that google-adk refuses, and the times by which it sorts events: what the columns say, without decoding an event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from runtime.errors.storage_error import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.storage.layouts.column_values import as_name, read_state, read_time, to_epoch
from runtime.storage.layouts.detect import Layout, sqlite_tables
from runtime.storage.layouts.table_names import OF_SESSION
from runtime.storage.reading.event_rows import ReadingConnection

_STATES = {"sessions": "app_name, user_id, id", "user_states": "app_name, user_id", "app_states": "app_name"}
FaultKind = Literal["state", "time", "text time", "app row", "user row", "schema version", "session row"]


class RowTime(NamedTuple):
    """Place and time of a stored event.

    Attributes:
        number: its row number: the commit order of the whole file.
        event_id: its id.
        time: the time column as seconds, read as UTC; None if it is no time.
    """

    number: int
    event_id: str
    time: float | None


@dataclass(frozen=True, slots=True)
class RowFault:
    """Something in the rows of a database that google-adk refuses.

    Attributes:
        kind: `state`: a stored state that is no JSON object; `time`: a time column that holds no time; `text time`: text where adk web's
            layout has a number; `app row`, `user row`: a session without the row of shared state that google-adk needs to continue it;
            `schema version`: the table of versions has no version; `session row`: events without their session.
        table: the table.
        names: the row's app, user and session, as far as the table has them.
        count: number of events, for `session row`.
    """

    kind: FaultKind
    table: str
    names: tuple[str, ...] = ()
    count: int = 1


def row_times(connection: ReadingConnection, key: SessionKey) -> list[RowTime]:
    """Return the times of a session's events in commit order. Only files have a commit order.

    Args:
        connection: a connection to a file, in a transaction.
        key: the session.
    """
    rows = connection.execute(f"SELECT rowid, id, timestamp FROM events WHERE {OF_SESSION} ORDER BY rowid", key).fetchall()
    return [RowTime(number, as_name(event_id), _time(value)) for number, event_id, value in rows]


def row_faults(connection: ReadingConnection, layout: Layout, *, is_file: bool) -> list[RowFault]:
    """Return what google-adk refuses in the tables of a database, apart from the events themselves.

    Args:
        connection: a connection in a transaction.
        layout: the database's layout.
        is_file: whether it is a file.
    """
    found = [*_schema_faults(connection)] if is_file else []
    found += _state_faults(connection, layout)
    if layout.kind in ("v0", "v1"):
        found += _missing_rows(connection)
    query = (
        "SELECT app_name, user_id, session_id, count(*) FROM events AS e WHERE NOT EXISTS (SELECT 1 FROM sessions AS s WHERE"
        " s.app_name = e.app_name AND s.user_id = e.user_id AND s.id = e.session_id) GROUP BY app_name, user_id, session_id"
    )
    found += [RowFault("session row", "events", _names(names), count) for *names, count in connection.execute(query).fetchall()]
    return found


def _schema_faults(connection: Any) -> Iterator[RowFault]:
    if "adk_internal_metadata" in sqlite_tables(connection):
        row = connection.execute("SELECT value FROM adk_internal_metadata WHERE key = 'schema_version'").fetchone()
        if row is None:
            yield RowFault("schema version", "adk_internal_metadata")


def _state_faults(connection: ReadingConnection, layout: Layout) -> Iterator[RowFault]:
    for table, keys in _STATES.items():
        for *names, state, updated in connection.execute(f"SELECT {keys}, state, update_time FROM {table}").fetchall():
            if not _is_state(state):
                yield RowFault("state", table, _names(names))
            if _time(updated) is None:
                yield RowFault("time", table, _names(names))
            elif layout.kind == "sqlite" and isinstance(updated, str):
                yield RowFault("text time", table, _names(names))


def _missing_rows(connection: ReadingConnection) -> Iterator[RowFault]:
    apps = "SELECT DISTINCT app_name FROM sessions AS s WHERE NOT EXISTS (SELECT 1 FROM app_states AS a WHERE a.app_name = s.app_name)"
    yield from (RowFault("app row", "app_states", _names(names)) for names in connection.execute(apps).fetchall())
    users = (
        "SELECT app_name, user_id FROM sessions AS s WHERE NOT EXISTS (SELECT 1 FROM user_states AS u WHERE u.app_name = s.app_name"
        " AND u.user_id = s.user_id) GROUP BY app_name, user_id"
    )
    yield from (RowFault("user row", "user_states", _names(names)) for names in connection.execute(users).fetchall())


def _names(values: Sequence[Any]) -> tuple[str, ...]:
    return tuple(map(as_name, values))


def _is_state(value: Any) -> bool:
    try:
        read_state(value)
    except StorageError:
        return False
    return True


def _time(value: Any) -> float | None:
    try:
        return to_epoch(read_time(value))
    except ValueError:
        return None
