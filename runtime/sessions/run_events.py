"""Events that stay decoded between the runs of a session."""

from __future__ import annotations

import weakref

from runtime.sessions.event_list import EventList
from runtime.sessions.session import Session


class RunEvents:
    """The events of a session's last run, for the next one.

    Two runs of one session at the same time do not share a list: what one of them commits, the other has not seen.

    Args:
        session: as it was handed out.
    """

    __slots__ = ("_events", "_holder")

    def __init__(self, session: Session) -> None:
        self._events = session.events
        self._holder = weakref.ref(session)

    def __len__(self) -> int:
        return len(self._events)

    def events_if_unedited(self) -> EventList | None:
        """Return the list: itself if that run is over, else a copy; None if anybody but a service changed it."""
        if self._events.edited:
            return None
        return self._events if self._holder() is None else self._events.copy()
