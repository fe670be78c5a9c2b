"""The recorded ends of invocations."""

from __future__ import annotations

from runtime.history.invocations import BROKEN
from runtime.sessions.recorded_end import RecordedEnd
from runtime.sessions.session_key import SessionKey
from runtime.storage.layouts.column_values import as_name, to_epoch
from runtime.storage.layouts.table_names import INVOCATIONS, OF_SESSION
from runtime.storage.reading.event_rows import ReadingConnection


def has_recorded_ends(connection: ReadingConnection) -> bool:
    """Return whether an SQLite file has the table."""
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (INVOCATIONS,)).fetchone() is not None


def recorded_ends(connection: ReadingConnection, key: SessionKey | None = None) -> dict[SessionKey, dict[str, RecordedEnd]]:
    """Return the recorded ends of one session or of all, by invocation id. The database must have the table."""
    query = f"SELECT app_name, user_id, session_id, invocation_id, status, reason, last_event_id, at FROM {INVOCATIONS}"
    of_session = f" WHERE {OF_SESSION}" if key else ""
    found: dict[SessionKey, dict[str, RecordedEnd]] = {}
    for app_name, user_id, session_id, name, status, reason, last_event_id, at in connection.execute(query + of_session, tuple(key or ())):
        if status in ("finished", *BROKEN) and isinstance(at, int):
            owner = SessionKey(as_name(app_name), as_name(user_id), as_name(session_id))
            found.setdefault(owner, {})[name] = RecordedEnd(status, str(reason), last_event_id, to_epoch(at))
    return found
