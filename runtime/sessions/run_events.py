"""Events kept decoded between the runs of a session."""

from __future__ import annotations

import weakref

from runtime.sessions.event_list import EventList
from runtime.sessions.session import Session


class RunEvents:
    """The events of a session's last run, reused for the next one.

    Concurrent runs of one session do not share a list, as neither has seen the other's commits.
    """

    __slots__ = ("_events", "_holder")

    def __init__(self, session: Session) -> None:
        self._events = session.events
        self._holder = weakref.ref(session)

    def __len__(self) -> int:
        return len(self._events)

    def events_if_unedited(self) -> EventList | None:
        """Return the list if the run is over, else a copy; None if code other than a session service changed it."""
        if self._events.edited:
            return None
        return self._events if self._holder() is None else self._events.copy()
