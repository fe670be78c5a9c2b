"""Passing events and sessions to a memory service; its failures never fail the run."""

from __future__ import annotations

import logging
from typing import Any

from runtime.events.event import Event
from runtime.sessions.session import Session

logger = logging.getLogger(__name__)


async def remember_event(service: Any, session: Session, event: Event) -> None:
    """Pass a committed event to a memory service; a failure is logged."""
    add_events = getattr(service, "add_events_to_memory", None)  # missing in services written for older versions of google-adk
    if add_events is None:
        await remember_session(service, session)
        return
    try:
        await add_events(app_name=session.app_name, user_id=session.user_id, session_id=session.id, events=[event])
    except NotImplementedError:  # accepts whole sessions only
        await remember_session(service, session)
    except Exception as error:
        _report(session, error)


async def remember_session(service: Any, session: Session) -> None:
    """Pass a whole session to a memory service; a failure is logged."""
    try:
        await service.add_session_to_memory(session)
    except Exception as error:
        _report(session, error)


def _report(session: Session, error: Exception) -> None:
    logger.error("The memory service could not store session %s: %s: %s", session.id, type(error).__name__, error, exc_info=error)
