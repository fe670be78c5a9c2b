"""Session summaries for tests of the session list."""

from __future__ import annotations

from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import SessionSummary


def summary(key: SessionKey, event_count: int = 3, last_update_time: float = 1000.0) -> SessionSummary:
    """Return a session summary as the reader does."""
    return SessionSummary(key, event_count, last_update_time)


def key(user: str, session: str, app: str = "order_desk") -> SessionKey:
    return SessionKey(app, user, session)
