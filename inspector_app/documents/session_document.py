"""The session on show: its events, and what is known of its past."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from inspector_app.documents.invocation_groups import InvocationGroups
from inspector_app.documents.long_session import LongSession
from inspector_app.documents.past_at_event import Past
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_events import SessionEvents
from inspector_app.documents.sources import Source
from runtime.events.event import Event
from runtime.history.invocations import Invocation
from runtime.history.state_at import History

RECENT = 1_000
"""Last events of a session that was just read, among which those that arrived meanwhile are looked for."""


@dataclass(frozen=True, slots=True)
class Committed:
    """An event as it was committed, with the `temp:` keys it set (they are no part of the stored event)."""

    event: Event
    temp: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StateAtEvent:
    """What the state panes show: the state after one event, and what that event changed.

    Attributes:
        index, event: which.
        past: the state and what is known about it; None while it is not known yet.
        compared: place of the event it is compared with; None: with the one before it.
    """

    index: int
    event: Event
    past: Past | None
    compared: int | None = None


@dataclass(slots=True)
class SessionDocument:
    """The session on show.

    Attributes:
        address, source: which, and where it is kept.
        events: in commit order.
        history: its past, for the state at any event; None for a long session, whose `long` knows it.
        invocations: as its events tell them; those of a running invocation are brought up to date when it ends. Of a long session only
            the latest.
        long: reads a long session piece by piece; None for others.
        groups: of a long session, as far as they were known when it was opened.
    """

    address: SessionAddress
    source: Source
    events: SessionEvents
    history: History | None
    invocations: list[Invocation]
    long: LongSession | None = None
    groups: InvocationGroups = field(default_factory=InvocationGroups)

    def index_of(self, event_id: str) -> int | None:
        """Return an event's place in commit order, None where it has to be looked up first."""
        return self.events.index_of(event_id)

    def append(self, committed: Committed) -> bool:
        """Add an event unless it is there already (it may have been read from the database first)."""
        if self.events.index_of(committed.event.id) is not None:
            return False
        self.events.append(committed.event)
        history = self.past
        # A long session's past may have been read a moment after its events, this one included.
        if history is not None and len(history) < len(self.events):
            history.append(committed.event, committed.temp)
        return True

    def take_arrived(self, arrived: Sequence[Committed]) -> None:
        """Add what was committed while it was read, as far as it is not among what was read."""
        there = set(self.events.last_ids(len(arrived) + RECENT))
        for committed in arrived:
            if committed.event.id not in there:
                self.append(committed)

    @property
    def past(self) -> History | None:
        """Its history, as far as it is read."""
        return self.long.history if self.long is not None else self.history

    def catch_up(self) -> None:
        """Add to a past that has just been read what was committed meanwhile."""
        if self.past is not None:
            for event in self.events[len(self.past) :]:
                self.past.append(event)

    def hand_over(self, rowids: Sequence[int], long: LongSession) -> None:
        """Let go of the first events at hand: they are read from the database from now on, as those of a long session.

        Args:
            rowids: of theirs.
            long: reads them; open.
        """
        history = self.past
        assert history is not None
        long.take_over(rowids, history, self.events)
        self.history, self.long = None, long
