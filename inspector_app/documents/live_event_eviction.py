"""Keeps what a session on show takes in memory from growing with it: its oldest live events are read from the database again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QObject

from inspector_app.documents.long_session import LongSession
from inspector_app.documents.session_document import SessionDocument
from inspector_app.stream.event_list_model import EventListModel
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.current_session import CurrentSession
from runtime.errors.storage_error import StorageError
from runtime.events.event import Event
from runtime.history.invocations import Invocation, invocations
from runtime.support.worker_threads import run_in_thread

KEPT = 4_000
"""Of a session's newest events, kept at hand: what waits in it is read from them."""

STEP = 500
"""Events more than that, until the oldest are handed over; as many again, if that was not possible."""

AT_ONCE = 1_000
"""Events that are handed over together at most: what is done with them on the window's thread must not be felt."""

MOST_OF_ONE = 10_000
"""Events at hand, from which on an invocation is handed over in pieces."""

LOOKED_AHEAD = 1_000
"""Events after those that are handed over, among which what waited in them may have been answered."""


class LiveEventEvictor(QObject):
    """Watches the session on show grow. One that is in memory only keeps its events, and so does one on a server or of the oldest layout.

    Args:
        browse, tasks: of the window.
        events: the model that shows the session.
    """

    def __init__(self, browse: CurrentSession, tasks: Tasks, events: EventListModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._browse = browse
        self._tasks = tasks
        self._events = events
        self._is_at_it = False
        self._next_at = 0
        browse.session_loaded.connect(self._on_session_loaded)
        browse.events_added.connect(self._on_events_added)

    def _on_session_loaded(self, _session: SessionDocument) -> None:
        self._next_at = 0

    def _on_events_added(self, _added: Sequence[Event]) -> None:
        session = self._browse.session
        if session is None or not session.source.is_paged or session.past is None or self._is_at_it:
            return
        if len(session.events.in_memory) >= KEPT + STEP and len(session.events) >= self._next_at:
            self._is_at_it = True
            self._next_at = len(session.events) + STEP
            self._tasks.spawn(self._hand_over(session), f"Letting go of old events of session {session.address.key.session_id}")

    async def _hand_over(self, session: SessionDocument) -> None:
        long = session.long or LongSession(session.source.target, session.address.key)
        try:
            while await self._try(session, long) and len(session.events.in_memory) >= KEPT + STEP:
                pass
        except StorageError:
            pass  # they stay, and it is tried again
        finally:
            self._is_at_it = False
            if session.long is not long:
                long.close()

    async def _try(self, session: SessionDocument, long: LongSession) -> bool:
        """Hand over the oldest events; return whether some were."""
        if session.long is None:
            await long.open_beside()
        since = list(session.events.in_memory)
        rows = await long.following(min(len(since) - KEPT, AT_ONCE))
        gone = await run_in_thread(_what_goes, rows, since)
        if not gone.rowids or self._browse.session is not session or self._events.event_count != len(session.events):
            return False
        session.hand_over(gone.rowids, long)
        self._events.let_go(session.events)
        self._note(session, gone.ended, gone.left)
        return True

    def _note(self, session: SessionDocument, ended: Sequence[Invocation], left: set[str]) -> None:
        """Keep what the handed over invocations told: of finished ones how they ended, of others what waits, too.

        Args:
            session: the session.
            ended: these.
            left: names of those that are still at hand.
        """
        self._events.set_statuses({entry.invocation_id: entry.status for entry in ended})
        gone = {entry.invocation_id for entry in ended}
        known = gone | left
        older = [entry for entry in session.invocations if entry.invocation_id not in known]
        newer = [entry for entry in session.invocations if entry.invocation_id in left]
        session.invocations = [*older, *(entry for entry in ended if entry.pending), *newer]


class _Gone(NamedTuple):
    """What is handed over.

    Attributes:
        rowids: of the events.
        ended: invocations of which none is left.
        left: ids of those of which some are.
    """

    rowids: list[int]
    ended: list[Invocation]
    left: set[str]


def _what_goes(rows: Sequence[tuple[int, str]], since: Sequence[Event]) -> _Gone:
    count = _count_of(rows, since)
    left = {event.invocation_id for event in since[count:]}
    ended = {event.invocation_id for event in since[:count]} - left
    return _Gone([rowid for rowid, _ in rows[:count]], invocations(since[: count + LOOKED_AHEAD], only=ended), left)


def _count_of(rows: Sequence[tuple[int, str]], since: Sequence[Event]) -> int:
    """Return how many of the first events at hand are stored in the same order, and can be handed over: whole invocations if possible."""
    count = 0
    for (_, event_id), event in zip(rows, since, strict=False):
        if event_id != event.id:
            break
        count += 1
    end = count
    while end and end < len(since) and since[end - 1].invocation_id == since[end].invocation_id:
        end -= 1
    return end if end or len(since) < MOST_OF_ONE else count
