"""The history of a session that is kept in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime.history.state_at import History
from runtime.history.state_checkpoints import SharedWrite
from runtime.sessions.session_key import SessionKey

if TYPE_CHECKING:
    from runtime.sessions.in_memory_session_service import InMemorySessionService


def history_in_memory(service: InMemorySessionService, key: SessionKey) -> History:
    """Return a session's history; nothing in it is unknown.

    Args:
        service: the service that keeps the session.
        key: the session.

    Raises:
        SessionNotFoundError: the session does not exist.
    """
    past = service.past(key)
    return History(
        past.session.events,
        baseline=past.baseline,
        shared=[SharedWrite(*write) for write in past.shared],
        present=None if past.baseline is not None else past.session.state,
        temp=past.temp,
    )
