"""Bounds a displayed session's memory: the oldest live events are evicted and paged in from the database. No Qt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from inspector_app.documents.long_session import LongSession
from inspector_app.documents.open_session import OpenSession
from inspector_app.support.tasks import Tasks
from runtime.errors.storage_error import StorageError
from runtime.history.invocations import Invocation, invocations
from runtime.sessions.recorded_end import RecordedEnd
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from runtime.events.event import Event

MAX_LIVE_EVENTS = 4_000  # newest events kept in memory; pending items are computed from them
STEP = 500  # events above the limit that begin an eviction, and events from a failed attempt to the next
MOST_AT_ONCE = 1_000  # events evicted in one turn, which must not hold the window's thread for long
MAX_LIVE_OF_ONE = 10_000  # an invocation with more live events is evicted in pieces
ANSWERS_WITHIN = 1_000  # events after the evicted ones that are searched for answers to their calls


class LiveEventEvictor:
    """Evicts the oldest events of a growing session once they are stored.

    It does nothing for a session whose database is not read page by page: in memory, on a server, or of the oldest layout.

    Args:
        session: the session to watch.
        tasks: runs the evictions.
    """

    def __init__(self, session: OpenSession, tasks: Tasks) -> None:
        self._session = session
        self._tasks = tasks
        self._is_evicting = False
        self._next_at = 0
        session.appended.add(self._on_appended)

    def _on_appended(self, _first: int, _events: Sequence[Event]) -> None:
        session = self._session
        if self._is_evicting or not session.source.is_paged or session.past is None:
            return
        if len(session.events.in_memory) >= MAX_LIVE_EVENTS + STEP and len(session.events) >= self._next_at:
            self._is_evicting = True
            self._next_at = len(session.events) + STEP
            self._tasks.spawn(self._evict(), f"Evicting old events of session {session.address.key.session_id}")

    async def _evict(self) -> None:
        session = self._session
        long = session.pages or LongSession(session.source.target, session.address.key)
        try:
            while await self._evict_some(long) and len(session.events.in_memory) >= MAX_LIVE_EVENTS + STEP:
                pass
        except StorageError:
            pass  # the events stay in memory, and eviction is tried again later
        finally:
            self._is_evicting = False
            if session.pages is not long:
                long.close()

    async def _evict_some(self, long: LongSession) -> bool:
        """Evict the oldest events; return whether there were any."""
        session = self._session
        if session.pages is None:
            await long.open_beside()
        live = list(session.events.in_memory)
        rows = await long.following(min(len(live) - MAX_LIVE_EVENTS, MOST_AT_ONCE))
        evicted = await run_in_thread(_what_to_evict, rows, live, await session.source.ends(session.address.key))
        if not evicted.row_ids or session.closed:
            return False
        session.evict(evicted.row_ids, long)
        self._keep_invocations(evicted.ended, evicted.left)
        return True

    def _keep_invocations(self, ended: Sequence[Invocation], left: set[str]) -> None:
        """Keep what is known about evicted invocations: their status and, if any, their pending items.

        Args:
            ended: the evicted invocations.
            left: ids of the invocations that are still in memory.
        """
        session = self._session
        session.set_statuses({entry.invocation_id: entry.word for entry in ended})
        known = {entry.invocation_id for entry in ended} | left
        older = [entry for entry in session.invocations if entry.invocation_id not in known]
        newer = [entry for entry in session.invocations if entry.invocation_id in left]
        session.invocations = [*older, *(entry for entry in ended if entry.pending), *newer]


class _Evicted(NamedTuple):
    """What to evict.

    Attributes:
        row_ids: the events' row numbers.
        ended: invocations of which no event is left.
        left: ids of invocations of which some events are left.
    """

    row_ids: list[int]
    ended: list[Invocation]
    left: set[str]


def _what_to_evict(rows: Sequence[tuple[int, str]], live: Sequence[Event], ends: Mapping[str, RecordedEnd]) -> _Evicted:
    count = _count_to_evict(rows, live)
    left = {event.invocation_id for event in live[count:]}
    ended = {event.invocation_id for event in live[:count]} - left
    return _Evicted([row_id for row_id, _ in rows[:count]], invocations(live[: count + ANSWERS_WITHIN], only=ended, ends=ends), left)


def _count_to_evict(rows: Sequence[tuple[int, str]], live: Sequence[Event]) -> int:
    """Return how many of the first live events are stored in the same order and can be evicted: whole invocations if possible."""
    count = 0
    for (_, event_id), event in zip(rows, live, strict=False):
        if event_id != event.id:
            break
        count += 1
    end = count
    while end and end < len(live) and live[end - 1].invocation_id == live[end].invocation_id:
        end -= 1
    return end if end or len(live) < MAX_LIVE_OF_ONE else count
