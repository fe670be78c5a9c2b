"""Detection of a database's layout from its tables alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, replace

from runtime.errors.storage_error import EmptyDatabaseError, ForeignDatabaseError
from runtime.storage.layouts.column_values import is_milliseconds
from runtime.storage.layouts.decode_v0 import V0
from runtime.storage.layouts.event_format import EVENT_COLUMNS, EventFormat
from runtime.storage.layouts.json_formats import LANGGRAPH, SQLITE, TYPESCRIPT, V1
from runtime.storage.layouts.other_adks import ADK_TS, GO
from runtime.storage.layouts.statements import quoted_name
from runtime.storage.layouts.table_names import COMMITS, INVOCATIONS, NOTES, WrittenLayout

# Every layout that is read; the first that matches wins. A new one is a module with its `EventFormat`, and a place here.
FORMATS: tuple[EventFormat, ...] = (SQLITE, TYPESCRIPT, V1, ADK_TS, GO, V0)

_VERSIONS = ("0", "1")  # values of schema_version that are known
_NEEDED = {
    "sessions": {"app_name", "user_id", "id", "state", "create_time", "update_time"},
    "app_states": {"app_name", "state"},
    "user_states": {"app_name", "user_id", "state"},
    "events": EVENT_COLUMNS,
}
_CHECKPOINTS = {
    "checkpoints": {"thread_id", "checkpoint", "metadata"},
    "writes": {"thread_id", "task_id", "channel", "value"},
}  # LangGraph's
_SERVER_CHECKPOINTS = {
    "checkpoints": {"thread_id", "checkpoint_ns", "checkpoint", "metadata"},
    "checkpoint_blobs": {"channel", "version", "type", "blob"},
    "checkpoint_writes": {"task_id", "task_path", "channel", "type", "blob"},
}
_SEEMS_TO_BE = {
    "inspector_recording": "a recording of model requests. Open the database beside it, and its requests are read from here",
    "moz_cookies": "Firefox's cookies",
    "moz_places": "Firefox's history and bookmarks",
    "cookies": "the cookies of Chrome or a browser like it",
    "urls": "the history of Chrome or a browser like it",
    "logins": "the passwords of Chrome or a browser like it",
    "django_migrations": "a Django application's database",
    "alembic_version": "some application's database",
    "sqlar": "an SQLite archive",
    "gpkg_contents": "a GeoPackage, a map",
}


@dataclass(frozen=True, slots=True)
class Layout:
    """A database's layout.

    Attributes:
        format: how its events are stored.
        ours: whether we have written to it, so that commit order and baselines are recorded.
        records_ends: whether it has our table of recorded ends.
        keeps_notes: whether it has our table of notes.
        note: a remark about this database, or None.
        event_columns: the columns of its `events` table.
        is_newer: whether its version is unknown to this program.
    """

    format: EventFormat
    ours: bool
    note: str | None
    event_columns: frozenset[str]
    is_newer: bool = False
    records_ends: bool = False
    keeps_notes: bool = False

    @property
    def kind(self) -> str:
        """The layout's short name."""
        return self.format.kind

    @property
    def title(self) -> str:
        """The layout's name for users."""
        return self.format.title


def sqlite_tables(connection: sqlite3.Connection) -> dict[str, dict[str, str]]:
    """Return the tables of an SQLite database: name → column name → declared type."""
    # In a damaged file a name may be a BLOB, which SQLite reads as a text.
    names = [name for (name,) in connection.execute("SELECT CAST(name AS TEXT) FROM sqlite_master WHERE type = 'table'")]
    tables = {name: connection.execute(f"PRAGMA table_info({quoted_name(name)})").fetchall() for name in names}
    return {name: {column[1]: column[2] for column in columns} for name, columns in tables.items() if not name.startswith("sqlite_")}


def layout_of_file(connection: sqlite3.Connection, name: str) -> Layout:
    """Return the layout of an SQLite file; see `layout_of` for the errors.

    Args:
        connection: a connection in a transaction.
        name: the file's name in errors.
    """
    tables = sqlite_tables(connection)
    version = None
    if "adk_internal_metadata" in tables:
        row = connection.execute("SELECT value FROM adk_internal_metadata WHERE key = 'schema_version'").fetchone()
        version = str(row[0]) if row else None
    if (unfinished := _unfinished(connection, tables, version)) is not None:
        raise EmptyDatabaseError(
            f"{name} has no sessions yet: the program that created it was killed before it had all tables.", unfinished
        )
    if (found := layout_of_checkpoints(tables)) is not None:
        return found
    layout = layout_of(tables, version, name)
    if layout.format is V1 and any(map(is_milliseconds, _newest_times(connection))):
        layout = replace(layout, format=TYPESCRIPT)
    if layout.format is TYPESCRIPT and "text" in _kinds_of_times(connection):
        both = "Both google-adk and @google/adk have written to it, with different kinds of times."
        layout = replace(layout, note=f"{layout.note} {both}" if layout.note else both)
    return layout


def layout_of_checkpoints(tables: Mapping[str, Mapping[str, str]]) -> Layout | None:
    """Return the layout of LangGraph's checkpoints, in a file or on a server; None for a database of sessions, or without checkpoints.

    Args:
        tables: see `layout_of`.
    """
    is_there = (
        all(columns <= tables.get(table, {}).keys() for table, columns in each.items()) for each in (_CHECKPOINTS, _SERVER_CHECKPOINTS)
    )
    if _NEEDED.keys() <= tables.keys() or not any(is_there):
        return None
    return Layout(LANGGRAPH, ours=False, note=None, event_columns=EVENT_COLUMNS | LANGGRAPH.own_columns, records_ends=True)


def _unfinished(connection: sqlite3.Connection, tables: Mapping[str, Mapping[str, str]], version: str | None) -> WrittenLayout | None:
    """Return the layout of a database that is not completely created: google-adk commits each table, and then its version. None if it is.

    Args:
        connection: a connection in a transaction.
        tables: see `layout_of`.
        version: the value of `schema_version` in `adk_internal_metadata`, or None.
    """
    known = {*_NEEDED, "adk_internal_metadata"}
    is_complete = _NEEDED.keys() <= tables.keys() and ("adk_internal_metadata" not in tables or version is not None)
    if not tables or tables.keys() - known or is_complete:
        return None
    for table, columns in tables.items():
        if _NEEDED.get(table, set()) - columns.keys() or connection.execute(f"SELECT 1 FROM {quoted_name(table)} LIMIT 1").fetchone():
            return None
    return "sqlite" if any(columns.get("update_time") == "REAL" for columns in tables.values()) else "v1"


def _newest_times(connection: sqlite3.Connection) -> list[object]:
    queries = (
        "SELECT timestamp FROM events ORDER BY rowid DESC LIMIT 1",
        "SELECT update_time FROM sessions ORDER BY rowid DESC LIMIT 1",
    )
    return [value for query in queries for (value,) in connection.execute(query)]


def _kinds_of_times(connection: sqlite3.Connection) -> set[str]:
    """Return the types of a few times: the first and the last events', and the sessions' that fit into a page."""
    queries = (
        "SELECT typeof(timestamp) FROM events ORDER BY rowid LIMIT 1",
        "SELECT typeof(timestamp) FROM events ORDER BY rowid DESC LIMIT 1",
        "SELECT typeof(create_time) FROM sessions LIMIT 20",
    )
    return {kind for query in queries for (kind,) in connection.execute(query)}


def layout_of(tables: Mapping[str, Mapping[str, str]], schema_version: str | None, name: str) -> Layout:
    """Return a database's layout.

    Args:
        tables: table name → column name → declared type.
        schema_version: the value of `schema_version` in `adk_internal_metadata`, or None.
        name: the database's name in errors.

    Raises:
        ForeignDatabaseError: the database belongs to another application.
        EmptyDatabaseError: the database has no tables.
    """
    if not tables:
        raise EmptyDatabaseError(f"{name} is an empty database: it has no tables and therefore no sessions.")
    for table, seems in _SEEMS_TO_BE.items():
        if table in tables and "events" not in tables:
            raise ForeignDatabaseError(f"{name} is not a session database: it seems to be {seems}.")
    for table, columns in _NEEDED.items():
        missing = columns - set(tables.get(table, ()))
        if table not in tables:
            found = ", ".join(sorted(tables)[:8])
            raise ForeignDatabaseError(f"{name} is not a session database: it has no table {table} (its tables: {found}).")
        if missing:
            raise ForeignDatabaseError(f"{name} is not a session database: its table {table} has no column {', '.join(sorted(missing))}.")
    events = tables["events"]
    layout = _format(events, name)
    unknown = _unknown_columns(layout, events)
    notes = [note for note in (_note(layout.kind, tables, schema_version), unknown) if note]
    is_newer = schema_version not in (None, *_VERSIONS)  # a column is its owner's: google-adk ignores it, and newer tables have a version
    note = " ".join(notes) or None
    return Layout(layout, COMMITS in tables, note, frozenset(events), is_newer, INVOCATIONS in tables, NOTES in tables)


def _unknown_columns(layout: EventFormat, events: Mapping[str, str]) -> str | None:
    unknown = [name for name in events if name not in EVENT_COLUMNS | layout.own_columns]
    return f"Its events have columns that this program does not know and does not show: {', '.join(unknown)}." if unknown else None


def _format(events: Mapping[str, str], name: str) -> EventFormat:
    for layout in FORMATS:
        if layout.matches(events):
            return layout
    raise ForeignDatabaseError(f"{name} is not a session database: its table events has neither event_data nor actions.")


def _note(kind: str, tables: Mapping[str, Mapping[str, str]], version: str | None) -> str | None:
    if "adk_internal_metadata" in tables:
        if version is None:
            return "Its table adk_internal_metadata has no schema_version, so google-adk refuses to open it."
        if version not in _VERSIONS:
            return f"It has layout version {version}, which is newer than this program; unknown values are shown unchanged."
        if kind == "sqlite":
            return "google-adk's DatabaseSessionService has opened it; if it has also written to it, adk web can no longer open it."
    elif kind == "v1":
        return "It has no table adk_internal_metadata; google-adk adds the table when it opens the file."
    return None
