"""Which layout a database has, from its tables alone (SEMANTICS.md 1)."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from runtime.errors.storage_error import ForeignDatabaseError, NotASessionDatabaseError
from runtime.storage.layouts.statements import quoted_name
from runtime.storage.layouts.table_names import COMMITS

LayoutKind = Literal["v1", "sqlite", "v0"]

_TITLES: dict[LayoutKind, str] = {
    "v1": "v1 · google-adk 1.22+ DatabaseSessionService",
    "sqlite": "sqlite · adk web's SqliteSessionService",
    "v0": "v0 · google-adk up to 1.21 DatabaseSessionService, pickled actions",
}
_VERSIONS: dict[str, LayoutKind] = {"0": "v0", "1": "v1"}
_NEEDED = {
    "sessions": {"app_name", "user_id", "id", "state", "create_time", "update_time"},
    "app_states": {"app_name", "state"},
    "user_states": {"app_name", "user_id", "state"},
    "events": {"id", "app_name", "user_id", "session_id", "invocation_id", "timestamp"},
}
_BODY: dict[LayoutKind, set[str]] = {
    "v1": {"event_data"},
    "sqlite": {"event_data"},
    "v0": {
        "author",
        "actions",
        "long_running_tool_ids_json",
        "branch",
        "content",
        "grounding_metadata",
        "custom_metadata",
        "usage_metadata",
        "citation_metadata",
        "partial",
        "turn_complete",
        "error_code",
        "error_message",
        "interrupted",
        "input_transcription",
        "output_transcription",
    },
}

_SEEMS_TO_BE = {
    "moz_cookies": "Firefox's cookies",
    "moz_places": "Firefox's history and bookmarks",
    "cookies": "the cookies of Chrome or a browser like it",
    "urls": "the history of Chrome or a browser like it",
    "logins": "the passwords of Chrome or a browser like it",
    "django_migrations": "a Django application's database",
    "alembic_version": "some application's database",
    "checkpoints": "LangGraph's checkpoints",
    "sqlar": "an SQLite archive",
    "gpkg_contents": "a GeoPackage, a map",
}


@dataclass(frozen=True, slots=True)
class Layout:
    """What a database is.

    Attributes:
        kind: how events and times are stored.
        ours: we wrote to it: commit order and baselines are recorded.
        title: for people.
        note: what is odd about it, or None.
        event_columns: the columns that its `events` table has.
        is_newer: it is of a version that this program does not know, or has columns of one.
    """

    kind: LayoutKind
    ours: bool
    title: str
    note: str | None
    event_columns: frozenset[str]
    is_newer: bool = False


def sqlite_tables(connection: sqlite3.Connection) -> dict[str, dict[str, str]]:
    """Return an SQLite database's tables: name → column name → declared type."""
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    tables = {name: connection.execute(f"PRAGMA table_info({quoted_name(name)})").fetchall() for name in names}
    return {name: {column[1]: column[2] for column in columns} for name, columns in tables.items() if not name.startswith("sqlite_")}


def layout_of(tables: Mapping[str, Mapping[str, str]], schema_version: str | None, name: str) -> Layout:
    """Return a database's layout.

    Args:
        tables: table name → column name → declared type.
        schema_version: the row `schema_version` of `adk_internal_metadata`, if there is one.
        name: what to call the database in an error.

    Raises:
        ForeignDatabaseError: it is no session database.
        NotASessionDatabaseError: it has no tables.
    """
    if not tables:
        raise NotASessionDatabaseError(f"{name} is an empty database: it has no tables, so no sessions.")
    for table, seems in _SEEMS_TO_BE.items():
        if table in tables and "events" not in tables:
            raise ForeignDatabaseError(f"{name} is no session database: it seems to be {seems}.")
    for table, columns in _NEEDED.items():
        missing = columns - set(tables.get(table, ()))
        if table not in tables:
            found = ", ".join(sorted(tables)[:8])
            raise ForeignDatabaseError(f"{name} is no session database: it has no table {table} (its tables: {found}).")
        if missing:
            raise ForeignDatabaseError(f"{name} is no session database: its table {table} has no column {', '.join(sorted(missing))}.")
    events = tables["events"]
    kind = _kind(events, name)
    unknown = _unknown_columns(kind, tables)
    notes = [note for note in (_note(kind, tables, schema_version), unknown) if note]
    is_newer = unknown is not None or schema_version not in (None, *_VERSIONS)
    return Layout(kind, COMMITS in tables, _TITLES[kind], " ".join(notes) or None, frozenset(events), is_newer)


def _unknown_columns(kind: LayoutKind, tables: Mapping[str, Mapping[str, str]]) -> str | None:
    known = _NEEDED["events"] | _BODY[kind]
    unknown = [name for name in tables["events"] if name not in known]
    return f"Its events have columns that this program does not know and does not show: {', '.join(unknown)}." if unknown else None


def _kind(events: Mapping[str, str], name: str) -> LayoutKind:
    if "event_data" in events:
        return "sqlite" if events["timestamp"].upper() == "REAL" else "v1"
    if {"actions", "author"} <= set(events):
        return "v0"
    raise ForeignDatabaseError(f"{name} is no session database: its table events has neither event_data nor actions.")


def _note(kind: LayoutKind, tables: Mapping[str, Mapping[str, str]], version: str | None) -> str | None:
    if "adk_internal_metadata" in tables:
        if version is None:
            return "Its table adk_internal_metadata has no schema_version: google-adk will not open it."
        if version not in _VERSIONS:
            return f"It says it has layout version {version}, which is newer than this program; what is unknown is shown as it stands."
        if kind == "sqlite":
            return "google-adk's DatabaseSessionService has opened it; if that has written to it, adk web cannot open it any more."
    elif kind == "v1":
        return "It has no table adk_internal_metadata; google-adk adds it when it opens the file."
    return None
