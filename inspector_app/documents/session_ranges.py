"""The events of an invocation, and of a whole session, for panes that sum or draw many of them. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from inspector_app.documents.open_session import OpenSession
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from runtime.support.gc_freeze import collection_paused
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from runtime.events.event import Event

MOST_OF_INVOCATION = 3_000  # events of an invocation that are read, around the selected one
MOST_OF_SESSION = 50_000  # newest events of a session that are read


@dataclass(frozen=True, slots=True)
class EventRange:
    """Neighbouring events of a session.

    Attributes:
        first: position of the first one.
        events: the events.
    """

    first: int
    events: Sequence[Event]


def invocation_around(session: OpenSession, index: int) -> EventRange | None:
    """Return the events of one invocation around an event, as far as they are in memory; the others are requested.

    Args:
        session: the session.
        index: position of the event.

    Returns:
        None if the event itself is not in memory; `CurrentSession.events_read` reports when it is.
    """
    selected = session.events.cached(index) if 0 <= index < len(session.events) else None
    if selected is None:
        return None
    reach = MOST_OF_INVOCATION // 2

    def neighbours(places: range) -> list[Event]:
        found: list[Event] = []
        for place in places:
            event = session.events.cached(place)
            if event is None or event.invocation_id != selected.invocation_id:
                break
            found.append(event)
        return found

    before = neighbours(range(index - 1, max(index - reach, 0) - 1, -1))
    after = neighbours(range(index + 1, min(index + reach, len(session.events))))
    return EventRange(index - len(before), [*reversed(before), selected, *after])


class SessionReader:
    """Reads whole sessions; the stored events of the latest long one are kept."""

    def __init__(self) -> None:
        self._kept: tuple[OpenSession, int, list[Event]] | None = None

    async def newest(self, session: OpenSession, most: int = MOST_OF_SESSION) -> EventRange:
        """Return the newest events of a session.

        Args:
            session: the session.
            most: maximum number of events.

        Raises:
            StorageError: the database cannot be read.
        """
        live = list(session.events.in_memory[-most:])
        count = session.events.stored_count
        wanted = min(most - len(live), count)
        if not wanted:
            return EventRange(len(session.events) - len(live), live)
        before = self._kept[2] if self._kept is not None and self._kept[0] is session else []
        missing = count - self._kept[1] if before and self._kept is not None else 0  # evicted from memory since the last call
        if len(before) + missing < wanted:
            before, missing = [], wanted
        if missing:
            added = await run_in_thread(_read, session.source.target, session.address.key, count - missing, missing)
            before = [*before, *added][-most:]
            self._kept = (session, count, before)
        return EventRange(count - wanted, [*before[-wanted:], *live])


def _read(target: str, key: SessionKey, first: int, count: int) -> list[Event]:
    database = StoredDatabase.open(target)
    try:
        with collection_paused():
            after = database.pages(key).rows(first - 1, first)[0][0] if first else None
            return list(database.plain_events(key, after=after, limit=count))
    finally:
        database.close()
