"""The paths of google-adk's endpoints, and what they name."""

from __future__ import annotations

from runtime.errors import SessionNotFoundError
from runtime.sessions.base_session_service import BaseSessionService
from runtime.sessions.session import Session
from runtime.sessions.session_key import SessionKey

APP = "/apps/{app_name}"
USER = APP + "/users/{user_id}"
SESSIONS = USER + "/sessions"
SESSION = SESSIONS + "/{session_id}"
DEV_APP = "/dev/apps/{app_name}"


async def found_session(service: BaseSessionService, key: SessionKey) -> Session:
    """Return a session with its events.

    Raises:
        SessionNotFoundError: it does not exist.
    """
    session = await service.get_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id)
    return existing(session, key)


def existing(session: Session | None, key: SessionKey) -> Session:
    """Return a session that was looked for.

    Raises:
        SessionNotFoundError: it is None.
    """
    if session is None:
        raise SessionNotFoundError(f"Session not found: {key.session_id}. It does not exist for user {key.user_id!r} in {key.app_name!r}.")
    return session
