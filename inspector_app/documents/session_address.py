"""The address of a session: its database and its key."""

from __future__ import annotations

from dataclasses import dataclass

from runtime.sessions.session import SessionKey

MEMORY = "memory:"
"""The `SessionAddress.database` of sessions that live in this window only."""


@dataclass(frozen=True, slots=True)
class SessionAddress:
    """Which session of which open database.

    Attributes:
        database: the path or URL it was opened by, or `MEMORY`.
        key: app, user and session id.
    """

    database: str
    key: SessionKey
