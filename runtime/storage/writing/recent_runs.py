"""The events of the sessions that a database service ran last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from runtime.events.event import Event
from runtime.sessions.event_list import EventList, StoredRow
from runtime.sessions.run_events import RunEvents
from runtime.sessions.session import Session, SessionKey
from runtime.storage.layouts.commit_record import Run

_SESSIONS, _EVENTS = 8, 50_000
"""How many sessions' events stay in memory at most, and how many events altogether; the last session's always do."""


@dataclass(frozen=True, slots=True)
class _Lent:
    """A run's events, and what the database looked like when it began."""

    events: RunEvents
    created: Any
    data_version: int | None


class RecentRuns:
    """Gives a run the decoded events of the session's last run, and decodes only what is new. Used in the service's thread.

    Args:
        read: makes an event of a row.
    """

    def __init__(self, read: Callable[[StoredRow], Event]) -> None:
        self._read = read
        self._lent: OrderedDict[SessionKey, _Lent] = OrderedDict()

    def lend(self, session: Session, run: Run, columns: dict[str, str], created: Any, data_version: int | None) -> None:
        """Give a session its events: those of its last run and what was stored since, or all of them anew.

        Args:
            session: just loaded.
            run: in the transaction that loaded it.
            columns: what names the session in the database.
            created: tells it from another session that had its name.
            data_version: as long as it is the same nobody else wrote to the database; None if that cannot be known.
        """
        lent = self._lent.pop(session.key, None)
        events = None
        if lent and lent.created == created:
            events = _extended(lent.events, run, columns, count=data_version is None or data_version != lent.data_version)
        session.events = EventList(run("events", **columns).fetchall(), self._read) if events is None else events
        self._lent[session.key] = _Lent(RunEvents(session), created, data_version)
        while len(self._lent) > 1 and (len(self._lent) > _SESSIONS or sum(len(each.events) for each in self._lent.values()) > _EVENTS):
            self._lent.popitem(last=False)

    def forget(self, key: SessionKey) -> None:
        """Let go of a session's events."""
        self._lent.pop(key, None)


def _extended(last: RunEvents, run: Run, columns: dict[str, str], *, count: bool) -> EventList | None:
    """Return a run's events with those stored since; None if they are not the beginning of what is stored.

    Args:
        last: the run's.
        run, columns: as for `RecentRuns.lend`.
        count: somebody else may have removed some.
    """
    events = last.events_if_unedited()
    if not events:
        return None
    number = run("event_number", event_id=events.last_id(), **columns).fetchone()
    if number is None:
        return None
    added = run("events_after", number=number[0], **columns).fetchall()
    if count and run("count_events", **columns).fetchone()[0] != len(events) + len(added):
        return None
    events.add_committed(added)
    return events
