"""A cache of the events of the sessions that a database service ran last."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from runtime.events.event import Event
from runtime.sessions.event_list import EventList, StoredRow
from runtime.sessions.session import RunEvents, Session, SessionKey
from runtime.storage.layouts.commit_record import Execute

_SESSIONS, _EVENTS = 8, 50_000  # sessions and events kept in memory at most; the last session is always kept


@dataclass(frozen=True, slots=True)
class _Lent:
    """A run's events, and the database's version when the run began."""

    events: RunEvents
    created: Any
    data_version: int | None


class RecentRuns:
    """A cache that reuses the decoded events of a session's last run and decodes only new ones. Used in the service's thread."""

    def __init__(self, read: Callable[[StoredRow], Event]) -> None:
        self._read = read
        self._lent: OrderedDict[SessionKey, _Lent] = OrderedDict()

    def lend(self, session: Session, run: Execute, columns: dict[str, str], created: Any, data_version: int | None) -> None:
        """Set a session's events: those of its last run and the events stored since, or all events read again.

        Args:
            session: a session just loaded.
            run: runs statements in the transaction that loaded it.
            columns: the session's key columns.
            created: its creation time, to distinguish it from an earlier session of the same name.
            data_version: a number that changes when another connection writes, or None if the database has none.
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
        """Remove a session's events from the cache."""
        self._lent.pop(key, None)


def _extended(last: RunEvents, run: Execute, columns: dict[str, str], *, count: bool) -> EventList | None:
    """Return a run's events extended by those stored since, or None if they are not the first stored events.

    Args:
        last: the run's events.
        run, columns: see `RecentRuns.lend`.
        count: compare the number of events, because another connection may have deleted some.
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
