"""Names of sessions."""

from __future__ import annotations

from typing import NamedTuple


class SessionKey(NamedTuple):
    """A session's full key, as ids are unique per app and user only."""

    app_name: str
    user_id: str
    session_id: str
