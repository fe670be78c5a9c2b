"""The notes on events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from runtime.sessions.note import Note, NoteError, checked_text
from runtime.sessions.session_key import SessionKey
from runtime.storage.layouts.column_values import as_name, to_epoch
from runtime.storage.layouts.table_names import NOTES, OF_SESSION
from runtime.storage.reading.event_rows import ReadingConnection

Notes = dict[SessionKey, dict[str, Note]]


def has_notes(connection: ReadingConnection) -> bool:
    """Return whether an SQLite file has the table."""
    return connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (NOTES,)).fetchone() is not None


def server_has_notes(connection: ReadingConnection) -> bool:
    """Return whether a server's database has the table."""
    query = "SELECT 1 FROM information_schema.tables WHERE table_schema = current_schema() AND table_name = ?"
    return connection.execute(query, (NOTES,)).fetchone() is not None


def read_notes(connection: ReadingConnection, key: SessionKey | None = None) -> Notes:
    """Return the notes of one session or of all, by event id. The database must have the table."""
    where, values = (f" WHERE {OF_SESSION}", key) if key is not None else ("", ())
    query = f"SELECT app_name, user_id, session_id, event_id, text, is_bookmark, at FROM {NOTES}{where}"
    found: Notes = {}
    for app_name, user_id, session_id, event_id, *row in connection.execute(query, values):
        owner = SessionKey(as_name(app_name), as_name(user_id), as_name(session_id))
        found.setdefault(owner, {})[str(event_id)] = note_of(row)
    return found


def note_of(row: Iterable[Any]) -> Note:
    """Return the note in a row's `text`, `is_bookmark` and `at`, of any types; an empty one if its text is too long."""
    text, is_bookmark, at = row
    try:
        return Note(checked_text(str(text)) if text else "", bool(is_bookmark), to_epoch(at) if isinstance(at, int) else 0.0)
    except NoteError:
        return Note()


def revision(connection: ReadingConnection) -> tuple[Any, ...]:
    """Return values that change whenever a note does. The database must have the table."""
    query = f"SELECT count(*), max(at), sum(at % 1000003), sum(is_bookmark), sum(length(text)) FROM {NOTES}"
    return tuple(connection.execute(query).fetchone())
