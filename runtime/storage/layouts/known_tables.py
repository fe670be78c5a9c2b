"""The statements that create google-adk's tables, for a file that has lost its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

_EVENT_FIELDS = 7
_TIME = 5  # the place of the time in a row of `events`


def known_tables(rows: Iterable[Sequence[Any]]) -> dict[str, str]:
    """Return the statements of the tables of the layout that some rows are of; none if they are of neither layout with JSON events.

    Args:
        rows: the values of rows whose tables are not known.
    """
    for values in rows:
        if len(values) == _EVENT_FIELDS and isinstance(values[-1], str) and values[-1].startswith("{"):
            return created_tables("REAL", "TEXT") if isinstance(values[_TIME], float) else created_tables("DATETIME", "VARCHAR(128)")
    return {}


def created_tables(time: str, name: str) -> dict[str, str]:
    """Return the statements by table, with these types of times and names."""
    key = f"app_name {name} NOT NULL, user_id {name} NOT NULL"
    event_key = "app_name, user_id, session_id, id" if time == "REAL" else "id, app_name, user_id, session_id"
    first = f"id {name} NOT NULL, {key}, session_id {name} NOT NULL"
    return {
        "sessions": f"CREATE TABLE sessions ({key}, id {name} NOT NULL, state TEXT NOT NULL, create_time {time} NOT NULL,"
        f" update_time {time} NOT NULL, PRIMARY KEY (app_name, user_id, id))",
        "app_states": f"CREATE TABLE app_states (app_name {name} NOT NULL, state TEXT NOT NULL, update_time {time} NOT NULL,"
        " PRIMARY KEY (app_name))",
        "user_states": f"CREATE TABLE user_states ({key}, state TEXT NOT NULL, update_time {time} NOT NULL,"
        " PRIMARY KEY (app_name, user_id))",
        "events": f"CREATE TABLE events ({first}, invocation_id {name} NOT NULL, timestamp {time} NOT NULL, event_data TEXT,"
        f" PRIMARY KEY ({event_key}))",
    }
