"""The address of a session: its database and its key."""

from __future__ import annotations

from dataclasses import dataclass

from runtime.sessions.session_key import SessionKey

MEMORY = "memory:"  # the `SessionAddress.database` of sessions in this window's memory


@dataclass(frozen=True, slots=True)
class SessionAddress:
    """The address of a session.

    Attributes:
        database: the path or URL the database was opened by, or `MEMORY`.
        key: app, user and session id.
    """

    database: str
    key: SessionKey
