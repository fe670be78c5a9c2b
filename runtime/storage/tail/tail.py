"""Following of the commits that other processes make to a database."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from runtime.errors.storage_error import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import SessionSummary

if TYPE_CHECKING:
    from runtime.events.event import Event

MOST_IDS = 20_000  # latest ids of the followed session kept to recognise known events; more than are ever read twice


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes since the last poll.

    Attributes:
        changed: sessions that are new, longer, shorter or created again.
        new: the sessions in `changed` that did not exist before.
        notes: whether a note changed.
        removed: sessions that were deleted.
        events: events added to the followed session, in commit order.
        reread: whether the followed session has to be read again, because events were not just added at its end.
    """

    changed: list[SessionSummary] = field(default_factory=list)
    removed: list[SessionKey] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    reread: bool = False
    new: list[SessionSummary] = field(default_factory=list)
    notes: bool = False

    def __bool__(self) -> bool:
        """Return whether there are changes."""
        return bool(self.changed or self.removed or self.events or self.reread or self.notes)


@dataclass(slots=True)
class Followed:
    """The session whose new events a tail returns.

    Attributes:
        key: the session.
        count: number of its known events.
        last_id: id of the last known event, or None if there is none.
        ids: ids of the latest known events, in order.
    """

    key: SessionKey
    count: int
    last_id: str | None
    ids: dict[str, None]


class Tail(abc.ABC):
    """A poller of a database. Only one thread at a time may use it.

    Attributes:
        problem: why the last poll could not read the database, or None.

    Args:
        known: the sessions of the last listing; the first poll returns the differences.
    """

    def __init__(self, known: Iterable[SessionSummary] = ()) -> None:
        self._known = {summary.key: summary for summary in known}
        self._followed: Followed | None = None
        self._asked = True
        self.problem: StorageError | None = None
        self._notes: tuple[object, ...] | None = None  # what changes with every note; None before the first read

    def _notes_changed(self, now: tuple[object, ...]) -> bool:
        before, self._notes = self._notes, now
        return before is not None and before != now

    def follow(self, key: SessionKey | None, ids: Sequence[str] = (), count: int | None = None) -> None:
        """Return new events of this session, and of no other, from now on.

        Args:
            key: the session, or None to follow none.
            ids: ids of its known events, in commit order; for a long session the last ones are enough.
            count: number of known events, if there are more than `ids`.
        """
        self._followed = (
            None if key is None else Followed(key, len(ids) if count is None else count, ids[-1] if ids else None, dict.fromkeys(ids))
        )
        self._asked = True

    @abc.abstractmethod
    def poll(self) -> Changes:
        """Return the changes committed since the last poll. If the database cannot be read, set `problem`."""

    @property
    @abc.abstractmethod
    def pause(self) -> float:
        """Seconds to wait until the next poll."""

    @abc.abstractmethod
    def close(self) -> None:
        """Close the database."""

    def _differences(self, now: dict[SessionKey, SessionSummary]) -> tuple[list[SessionSummary], list[SessionKey]]:
        """Return the changed and the removed sessions, compared with a list of all sessions."""
        changed = [summary for key, summary in now.items() if self._known.get(key) != summary]
        return changed, [key for key in self._known if key not in now]

    def _take_sessions(self, changed: Sequence[SessionSummary], removed: Sequence[SessionKey]) -> list[SessionSummary]:
        """Update the known sessions, and return those that are new."""
        for key in removed:
            del self._known[key]
            if self._followed is not None and key == self._followed.key:
                self._followed = None
        new = [summary for summary in changed if summary.key not in self._known]
        self._known.update({summary.key: summary for summary in changed})
        return new

    def _take_events(self, events: Sequence[Event], *, reread: bool) -> None:
        """Add the followed session's new events to the known ones; a session that has to be read again is no longer followed."""
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
