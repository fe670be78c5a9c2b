"""A session's row in a database, and the revision that shows whether the session changed since it was read."""

from __future__ import annotations

from typing import Any, NamedTuple

from runtime.sessions.session_key import SessionKey
from runtime.storage.layouts.commit_record import Execute
from runtime.storage.writing.database import Database

Row = tuple[Any, ...]


class Revision(NamedTuple):
    """The version of a session. Every append changes the last event; deleting and recreating the session changes its creation time.

    Attributes:
        create_time: the column's value.
        last_event_id: None if the session has no events.
        update_time: the column's value, on a server only: there, another program's newest event may not have the latest time.
    """

    create_time: Any
    last_event_id: str | None
    update_time: Any = None


def find_row(run: Execute, key: SessionKey) -> Row | None:
    """Return a session's `create_time`, `update_time` and the id of its last event, or None if the session does not exist."""
    row: Row | None = run("find_session", **key._asdict()).fetchone()
    return row


def revision_of(database: Database, row: Row) -> Revision:
    """Return the revision of a row that `find_row` returned."""
    return Revision(row[0], row[2], row[1] if database.has_locks else None)


def is_ours(run: Execute, database: Database, key: SessionKey, event_id: str | None) -> bool:
    """Return whether this process made a commit.

    Args:
        run: runs statements in the current transaction.
        database: the database.
        key: the session.
        event_id: the committed event, or None for the session's creation.
    """
    columns = key._asdict()
    row = run("last_commit", **columns, event_id=event_id).fetchone() if event_id else run("creation", **columns).fetchone()
    return row is not None and row[0] == database.writer
