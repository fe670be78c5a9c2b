"""A session's own row in a database, and what tells whether it changed since somebody read it."""

from __future__ import annotations

from typing import Any, NamedTuple

from runtime.sessions.session import SessionKey
from runtime.storage.layouts.commit_record import Run
from runtime.storage.writing.database import Database

Row = tuple[Any, ...]


class Revision(NamedTuple):
    """What a copy of a session is a copy of: any append changes the last event, deleting and creating it again the first time.

    Attributes:
        create_time: as its column has it.
        last_event_id: None: it has no events.
        update_time: on a server only, where somebody else's newest event may not be the one with the latest time.
    """

    create_time: Any
    last_event_id: str | None
    update_time: Any = None


def find_row(run: Run, key: SessionKey) -> Row | None:
    """Return a session's `create_time`, `update_time` and the id of its last event; None if there is no such session."""
    row: Row | None = run("find_session", **key._asdict()).fetchone()
    return row


def revision_of(database: Database, row: Row) -> Revision:
    """Return the revision that a row is, as `find_row` returns it."""
    return Revision(row[0], row[2], row[1] if database.has_locks else None)


def is_ours(run: Run, database: Database, key: SessionKey, event_id: str | None) -> bool:
    """Return whether this process made a commit.

    Args:
        run: in a transaction.
        database: that may have it.
        key: the session.
        event_id: the event that was committed; None: the session's creation.
    """
    columns = key._asdict()
    row = run("last_commit", **columns, event_id=event_id).fetchone() if event_id else run("creation", **columns).fetchone()
    return row is not None and row[0] == database.writer
