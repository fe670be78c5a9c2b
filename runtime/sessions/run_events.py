"""Events that stay decoded between the runs of a session."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from runtime.events.event import Event
from runtime.sessions.event_list import EventList, StoredRow
from runtime.sessions.session import Session, SessionKey

_SESSIONS, _EVENTS = 8, 50_000
"""How many sessions' events stay in memory at most, and how many events altogether; the last session's always do."""

StoredRows = Callable[[str | None], list[StoredRow] | None]
"""Gives a session's stored rows after the event of an id, all of them for None; None if it has no such event."""


class RunEvents:
    """The events of a session's last run, for the next one.

    Two runs of one session at the same time do not share a list: what one of them commits, the other has not seen.

    Args:
        session: as it was handed out.
        incarnation: tells it from another session that had its name.
    """

    __slots__ = ("_events", "_holder", "incarnation")

    def __init__(self, session: Session, incarnation: Any = None) -> None:
        self._events = session.events
        self._holder = weakref.ref(session)
        self.incarnation = incarnation

    def __len__(self) -> int:
        return len(self._events)

    def events_if_unedited(self) -> EventList | None:
        """Return the list: itself if that run is over, else a copy; None if anybody but a service changed it."""
        if self._events.edited:
            return None
        return self._events if self._holder() is None else self._events.copy()


class RecentRuns:
    """The events of the sessions that a service ran last.

    Used under the service's own lock, or in its thread.

    Args:
        read: makes an event of a row.
    """

    def __init__(self, read: Callable[[StoredRow], Event]) -> None:
        self._read = read
        self._runs: OrderedDict[SessionKey, RunEvents] = OrderedDict()

    def lend(self, session: Session, incarnation: Any, rows: StoredRows, count: Callable[[], int] | None) -> None:
        """Give a session its events: those of its last run and what was stored since, or all of them anew.

        Args:
            session: just loaded.
            incarnation: tells it from another session that had its name.
            rows: reads what is stored.
            count: counts what is stored; None if nobody else can have removed anything since the last run.
        """
        last = self._runs.pop(session.key, None)
        session.events = self._extended(last, incarnation, rows, count) or EventList(rows(None) or (), self._read)
        self._runs[session.key] = RunEvents(session, incarnation)
        while len(self._runs) > 1 and (len(self._runs) > _SESSIONS or sum(map(len, self._runs.values())) > _EVENTS):
            self._runs.popitem(last=False)

    def _extended(self, last: RunEvents | None, incarnation: Any, rows: StoredRows, count: Callable[[], int] | None) -> EventList | None:
        events = last.events_if_unedited() if last and last.incarnation == incarnation else None
        added = rows(events.last_id()) if events else None
        if events is None or added is None or (count and len(events) + len(added) != count()):
            return None
        events.add_committed(added)
        return events

    def forget(self, key: SessionKey) -> None:
        """Let go of a session's events."""
        self._runs.pop(key, None)
