"""Tables of the two layouts that are written, and the tables we add.

`sessions`, `events`, `app_states`, `user_states` and `adk_internal_metadata` are google-adk's tables, so it opens and continues our
databases unchanged. Data that has no place in them is in tables prefixed `inspector_`; a database with those tables is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.types import REAL, TypeEngine

from runtime.storage.layouts.table_names import COMMITS, INVOCATIONS, MAY_BE_SHARED, METADATA, NOTES, WrittenLayout


@dataclass(frozen=True)
class LayoutTables:
    """Tables of one layout.

    Attributes:
        metadata: all the tables, for `create_all`.
        our_index: our only index on one of google-adk's tables.
        later: our tables that databases of earlier versions lack: recorded ends, and notes.
        times_are_real: whether time columns hold epoch seconds instead of text or timestamps.
    """

    metadata: MetaData
    our_index: Index
    later: tuple[Table, ...]
    times_are_real: bool


def tables_of(layout: WrittenLayout) -> LayoutTables:
    """Return the tables of a layout, ours included."""
    metadata = MetaData()
    events = _v1(metadata) if layout == "v1" else _sqlite(metadata)
    _ours(metadata)
    later = (_invocations(metadata), _notes(metadata))
    # SQLite index entries end in the rowid, so this index gives a session's events in commit order, in either direction.
    our_index = Index("inspector_idx_events_session", events.c.app_name, events.c.user_id, events.c.session_id)
    _shared_events(events)
    return LayoutTables(metadata, our_index, later, times_are_real=layout == "sqlite")


def _v1(metadata: MetaData) -> Table:
    Table("adk_internal_metadata", metadata, _key("key"), Column("value", String(256), nullable=False))
    # On PostgreSQL google-adk creates jsonb, which changes numbers and refuses "\\u0000". It reads and writes json just as well.
    json = Text().with_variant(JSON(), "postgresql")
    _session_tables(metadata, lambda name: Column(name, String(128), nullable=False), DateTime(), json)
    events = Table(
        "events",
        metadata,
        *(Column(name, String(128), nullable=False) for name in ("id", "app_name", "user_id", "session_id")),
        Column("invocation_id", String(256), nullable=False),
        Column("timestamp", DateTime(), nullable=False),
        Column("event_data", json),
        PrimaryKeyConstraint("id", "app_name", "user_id", "session_id"),
        _of_a_session(),
    )
    columns = events.c
    Index(
        "idx_events_app_user_session_ts_id",
        columns.app_name,
        columns.user_id,
        columns.session_id,
        columns.timestamp.desc(),
        columns.id.desc(),
    )
    return events


def _sqlite(metadata: MetaData) -> Table:
    _session_tables(metadata, lambda name: Column(name, Text(), nullable=False), REAL(), Text())
    events = Table(
        "events",
        metadata,
        *(Column(name, Text(), nullable=False) for name in ("id", "app_name", "user_id", "session_id", "invocation_id")),
        Column("timestamp", REAL(), nullable=False),
        Column("event_data", Text(), nullable=False),
        PrimaryKeyConstraint("app_name", "user_id", "session_id", "id"),
        _of_a_session(),
    )
    return events


def _session_tables(metadata: MetaData, name: Any, time: TypeEngine[Any], json: TypeEngine[Any]) -> None:
    def state() -> list[Column[Any]]:
        return [Column("state", json, nullable=False)]

    def updated() -> Column[Any]:
        return Column("update_time", time, nullable=False)

    created = Column("create_time", time, nullable=False)
    session_key = [name("app_name"), name("user_id"), name("id")]
    Table("sessions", metadata, *session_key, *state(), created, updated(), PrimaryKeyConstraint("app_name", "user_id", "id"))
    Table("app_states", metadata, name("app_name"), *state(), updated(), PrimaryKeyConstraint("app_name"))
    Table("user_states", metadata, name("app_name"), name("user_id"), *state(), updated(), PrimaryKeyConstraint("app_name", "user_id"))


def _ours(metadata: MetaData) -> None:
    Table(METADATA, metadata, _key("key"), Column("value", String(256), nullable=False))
    commits = Table(
        COMMITS,
        metadata,
        Column("seq", BigInteger().with_variant(Integer(), "sqlite"), primary_key=True, autoincrement=True),
        *(Column(name, Text(), nullable=False) for name in ("app_name", "user_id", "session_id")),
        Column("event_id", Text()),
        Column("at", BigInteger(), nullable=False),
        Column("writer", Text()),
        Column("baseline", Text()),
        Column("shared", Text()),
        Column("temp", Text()),
        # Numbers are never reused, not even after the newest session was deleted.
        sqlite_autoincrement=True,
    )
    columns = commits.c
    is_origin = columns.event_id.is_(None) & columns.temp.is_not(None)
    Index("inspector_idx_commits_origins", columns.seq, postgresql_where=is_origin).ddl_if(dialect="postgresql")
    Index("inspector_idx_commits_session", columns.app_name, columns.user_id, columns.session_id, columns.event_id)
    Index(
        "inspector_idx_commits_shared",
        columns.app_name,
        columns.seq,
        sqlite_where=columns.shared.is_not(None),
        postgresql_where=columns.shared.is_not(None),
    )


def _shared_events(events: Table) -> None:
    """Add the index of the few events that may write shared state, which a session's history needs of all sessions of its app."""
    condition = text(MAY_BE_SHARED.format("CAST(event_data AS text)"))
    Index("inspector_idx_events_shared", events.c.app_name, postgresql_where=condition).ddl_if(dialect="postgresql")


def _invocations(metadata: MetaData) -> Table:
    names = ("app_name", "user_id", "session_id", "invocation_id")
    return Table(
        INVOCATIONS,
        metadata,
        *(Column(name, Text(), nullable=False) for name in (*names, "status", "reason", "last_event_id")),
        Column("at", BigInteger(), nullable=False),
        PrimaryKeyConstraint(*names),
    )


def _notes(metadata: MetaData) -> Table:
    names = ("app_name", "user_id", "session_id", "event_id")
    return Table(
        NOTES,
        metadata,
        *(Column(name, Text(), nullable=False) for name in (*names, "text")),
        Column("is_bookmark", Integer(), nullable=False),
        Column("at", BigInteger(), nullable=False),
        PrimaryKeyConstraint(*names),
    )


def _of_a_session() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["app_name", "user_id", "session_id"], ["sessions.app_name", "sessions.user_id", "sessions.id"], ondelete="CASCADE"
    )


def _key(name: str) -> Column[Any]:
    return Column(name, String(128), primary_key=True)
