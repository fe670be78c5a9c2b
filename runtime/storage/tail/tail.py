"""What other processes commit to a database, as they commit it."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from runtime.errors.storage_error import StorageError
from runtime.events.event import Event
from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import SessionSummary

MOST_IDS = 20_000
"""Of the followed session, by which events are known that are there already; more than are ever looked at twice."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What is different since the last look.

    Attributes:
        changed: sessions that are new, longer, shorter or made anew.
        new: those of them that were not there before.
        removed: sessions that are gone.
        events: what was added to the followed session, in commit order.
        reread: the followed session's events are not the ones that were read with something added: it has to be read again.
    """

    changed: list[SessionSummary] = field(default_factory=list)
    removed: list[SessionKey] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    reread: bool = False
    new: list[SessionSummary] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Return whether anything is different."""
        return bool(self.changed or self.removed or self.events or self.reread)


@dataclass(slots=True)
class Followed:
    """The session whose events are wanted as they come.

    Attributes:
        key: which.
        count: how many of its events are known.
        last_id: the last of them, None if there is none.
        ids: the latest of them, in order, to know them by.
    """

    key: SessionKey
    count: int
    last_id: str | None
    ids: dict[str, None]


class Tail(abc.ABC):
    """Looks at a database again and again. To be used by one thread at a time.

    Attributes:
        problem: why the database cannot be read just now; None if it can.

    Args:
        known: the sessions as they were listed last; what is different now is told first.
    """

    def __init__(self, known: Iterable[SessionSummary] = ()) -> None:
        self._known = {summary.key: summary for summary in known}
        self._followed: Followed | None = None
        self._asked = True
        self.problem: StorageError | None = None

    def follow(self, key: SessionKey | None, ids: Sequence[str] = (), count: int | None = None) -> None:
        """Tell a session's new events from now on, no other's; None: of none.

        Args:
            key: the session.
            ids: of its events that are known, in commit order; of a long session the last ones will do.
            count: how many are known, if they are more than `ids`.
        """
        self._followed = (
            None if key is None else Followed(key, len(ids) if count is None else count, ids[-1] if ids else None, dict.fromkeys(ids))
        )
        self._asked = True

    @abc.abstractmethod
    def poll(self) -> Changes:
        """Look whether something was committed, and return what. What stands in the way of reading is in `problem` afterwards."""

    @property
    @abc.abstractmethod
    def pause(self) -> float:
        """Seconds to wait until the next look."""

    @abc.abstractmethod
    def close(self) -> None:
        """Let go of the database."""

    def _differences(self, now: dict[SessionKey, SessionSummary]) -> tuple[list[SessionSummary], list[SessionKey]]:
        """Return what is changed and removed in a list of all sessions."""
        changed = [summary for key, summary in now.items() if self._known.get(key) != summary]
        return changed, [key for key in self._known if key not in now]

    def _take_sessions(self, changed: Sequence[SessionSummary], removed: Sequence[SessionKey]) -> list[SessionSummary]:
        """Take these as known; return those that are new."""
        for key in removed:
            del self._known[key]
            if self._followed is not None and key == self._followed.key:
                self._followed = None
        new = [summary for summary in changed if summary.key not in self._known]
        self._known.update({summary.key: summary for summary in changed})
        return new

    def _take_events(self, events: Sequence[Event], *, reread: bool) -> None:
        """Count the followed session's new events as known; one that has to be read again is not followed until it is."""
        followed = self._followed
        if followed is None:
            return
        if reread:
            self._followed = None
        elif events:
            followed.count += len(events)
            followed.last_id = events[-1].id
            followed.ids.update(dict.fromkeys(event.id for event in events))
            for event_id in list(islice(followed.ids, max(len(followed.ids) - MOST_IDS, 0))):
                del followed.ids[event_id]
