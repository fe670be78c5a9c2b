"""The public names that the clauses use: ours, or google-adk's if `INSPECTOR_CONFORMANCE_OF` is `google.adk`.

Clauses run with both packages, so they use public names only. google-adk has no specific error for a value that cannot be stored, so any
ValueError counts there.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

PACKAGE = os.environ.get("INSPECTOR_CONFORMANCE_OF", "runtime")

if TYPE_CHECKING:
    from runtime.errors import AlreadyExistsError, SessionNotFoundError, StaleSessionError, UnstorableValueError
    from runtime.events import Event, EventActions
    from runtime.sessions import BaseSessionService, GetSessionConfig, Session
else:

    def _name(module: str, name: str, otherwise: type = ValueError) -> Any:
        try:
            return getattr(importlib.import_module(f"{PACKAGE}.{module}"), name)
        except (ImportError, AttributeError):
            return otherwise

    Event = _name("events.event", "Event")
    EventActions = _name("events.event_actions", "EventActions")
    Session = _name("sessions.session", "Session")
    BaseSessionService = _name("sessions.base_session_service", "BaseSessionService")
    GetSessionConfig = _name("sessions.base_session_service", "GetSessionConfig")
    AlreadyExistsError = _name("errors.already_exists_error", "AlreadyExistsError")
    # google-adk raises ValueError; its own StaleSessionError (2.7 and later) is a subclass.
    SessionNotFoundError = _name("errors", "SessionNotFoundError")
    StaleSessionError = _name("errors", "StaleSessionError")
    UnstorableValueError = _name("errors", "UnstorableValueError", Exception)

__all__ = [
    "PACKAGE",
    "AlreadyExistsError",
    "BaseSessionService",
    "Event",
    "EventActions",
    "GetSessionConfig",
    "Session",
    "SessionNotFoundError",
    "StaleSessionError",
    "UnstorableValueError",
    "content",
    "delta",
    "raises",
]


def content(session: Session | None) -> dict[str, Any] | None:
    """Return a session's content as JSON data."""
    if session is None:
        return None
    names = ("app_name", "user_id", "id", "state", "last_update_time")
    return {**{name: getattr(session, name) for name in names}, "events": list(session.events)}


def delta(**changes: Any) -> Event:
    """Return an event that changes the state."""
    return Event(author="me", actions=EventActions(state_delta=changes))


@contextmanager
def raises(error: type[Exception], naming: str = "") -> Iterator[None]:
    """Expect an error whose message contains `naming`."""
    try:
        yield
    except error as raised:
        assert naming in str(raised), f"{naming!r} is not in {str(raised)!r}"
    else:
        raise AssertionError(f"no {error.__name__} was raised")
