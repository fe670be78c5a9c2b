"""The displayed session: its events, and what is known about its past. No Qt."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from runtime.events.event import Event

from inspector_app.documents.invocation_groups import InvocationGroups
from inspector_app.documents.listeners import Listeners
from inspector_app.documents.past_at_event import Past, past_before_reading
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_events import SessionEvents
from runtime.history.invocations import Invocation, with_past
from runtime.history.scoped_state import ScopedState
from runtime.history.state_at import History

RECENT = 1_000  # last events of a session just read that are compared with those committed meanwhile


class Committed(NamedTuple):
    """A committed event, and the `temp:` keys it set, which the stored event lacks."""

    event: Event
    temp: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StateAtEvent:
    """What the state panes show: the state after one event, and what that event changed.

    Attributes:
        index, event: the event and its place.
        past: the state and what is known about it; None while it is unknown.
        compared: place of the event it is compared with; None: with the one before it.
    """

    index: int
    event: Event
    past: Past | None
    compared: int | None = None


class Pages(Protocol):
    """Reads the stored events of a long session.

    Attributes:
        history: the state at any event; None until it is read.
        present: the state after the last stored event; None if it is unknown.
    """

    history: History | None
    present: ScopedState | None

    def evict(self, row_ids: Sequence[int], history: History, events: SessionEvents) -> None:
        """Read the first events in memory from the database from now on, and evict them from memory."""

    def close(self) -> None:
        """Close the connections."""


class SessionDocument:
    """The displayed session and the only owner of its events. All changes go through its methods, on the window's thread.

    Listeners are called after a change: the document has grown already when `appended` is called.

    Attributes:
        address: the session.
        events: the session's events in commit order.
        history: the state at any event; None for a long session, whose `pages` has it.
        pages: reads the stored events of a long session; None for others.
        groups: neighbouring events of one invocation; of a long session, those known so far.
        invocations: the invocations of the events; those of a running invocation are updated when it ends.
        statuses: invocation id → `running`, `held`, `finished`, `paused`, `interrupted` or `rewound`.
        total_tokens: tokens of all events; of a long session, of those appended since it was opened.
        closed: whether another session is displayed now.
        appended: called with the place of the first new event and the new events.
        updated: called with the first place of a page that was read and the place after its last.
        evicted: called with the number of events that were evicted from memory.
        regrouped: called when `groups` was replaced.
        statuses_changed: called when a status has changed.

    Args:
        address: see above.
        events: the events read so far.
        history: see above.
        invocations: the invocations of these events; of a long session only the latest.
        pages: see above.
        groups: groups of the stored events; None computes them from `events`, which are all in memory then.
    """

    def __init__(
        self,
        address: SessionAddress,
        events: SessionEvents,
        history: History | None = None,
        invocations: Sequence[Invocation] = (),
        pages: Pages | None = None,
        groups: InvocationGroups | None = None,
    ) -> None:
        self.address = address
        self.events = events
        self.history = history
        self.pages = pages
        self.groups = InvocationGroups() if groups is None else groups
        self.total_tokens = sum(self.groups.append(event) for event in events.in_memory)
        self.statuses: dict[str, str] = {}
        self.closed = False
        self.appended = Listeners[int, "Sequence[Event]"]()
        self.updated = Listeners[int, int]()
        self.evicted = Listeners[int]()
        self.regrouped = Listeners[[]]()
        self.statuses_changed = Listeners[[]]()
        self.set_invocations(invocations)

    @property
    def past(self) -> History | None:
        """The session's history as far as it is read."""
        return self.pages.history if self.pages is not None else self.history

    def past_before_reading(self, index: int, event: Event) -> Past:
        """Return what is known about an event while the past of a long session is being read.

        Args:
            index: the event's place.
            event: the event.
        """
        later = self.events.in_memory[: max(index + 1 - self.events.stored_count, 0)]
        present = self.pages.present if self.pages is not None else None
        at_end = index >= self.events.stored_count - 1 and len(later) <= RECENT
        return past_before_reading(present if at_end else None, later, event)

    def index_of(self, event_id: str) -> int | None:
        """Return an event's place in commit order, None where it has to be looked up in the database first."""
        return self.events.index_of(event_id)

    def append(self, batch: Iterable[Committed]) -> list[Event]:
        """Append the events that are not there yet (some may have been read from the database first); return these.

        Their invocations are marked as running.
        """
        first = len(self.events)
        added = self._add(batch)
        if added:
            self.appended(first, added)
            self.set_statuses({event.invocation_id: "running" for event in added})
        return added

    def append_missed(self, arrived: Sequence[Committed]) -> None:
        """Append what was committed while the session was read, unless it is among what was read."""
        there = set(self.events.last_ids(len(arrived) + RECENT))
        first = len(self.events)
        added = self._add(committed for committed in arrived if committed.event.id not in there)
        if added:
            self.appended(first, added)

    def _add(self, batch: Iterable[Committed]) -> list[Event]:
        """Add the events that are not there yet; return these."""
        events, groups, history = self.events, self.groups, self.past
        # A long session's past may have been read a moment after its events, with the first of these.
        known = len(history) if history is not None else 0
        added: list[Event] = []
        for committed in batch:
            event = committed.event
            if events.index_of(event.id) is not None:
                continue
            events.append(event)
            added.append(event)
            if history is not None and len(events) > known:
                history.append(event, committed.temp)
            self.total_tokens += groups.append(event)
        return added

    def put(self, first: int, rows: list[Any]) -> None:
        """Put a page of stored events into the cache.

        Args:
            first: the place of its first row, from `SessionEvents.next_requested_page`.
            rows: the stored events.
        """
        self.events.store_page(first, rows)
        self.updated(first, first + len(rows))

    def evict(self, row_ids: Sequence[int], pages: Pages) -> None:
        """Evict the first events from memory: they are read from the database from now on, as those of a long session.

        Args:
            row_ids: their row numbers.
            pages: reads them; open.
        """
        history = self.past
        assert history is not None
        pages.evict(row_ids, history, self.events)
        self.history, self.pages = None, pages
        self.evicted(len(row_ids))

    def set_groups(self, groups: InvocationGroups) -> None:
        """Replace the groups of a long session.

        Args:
            groups: of all stored events, in order.
        """
        for event in self.events.in_memory:
            groups.append(event)
        self.groups = groups
        self.regrouped()

    def set_invocations(self, invocations: Sequence[Invocation]) -> None:
        """Replace what is known about the invocations, and with it their statuses."""
        self.invocations = with_past(invocations)
        self.reset_statuses()

    def reset_statuses(self) -> None:
        """Set the statuses that the invocations' events report: none of them is running any longer."""
        self.set_statuses({entry.invocation_id: entry.word for entry in self.invocations})

    def set_statuses(self, statuses: Mapping[str, str]) -> None:
        """Set statuses by invocation id; the others stay."""
        if any(self.statuses.get(name) != status for name, status in statuses.items()):
            self.statuses.update(statuses)
            self.statuses_changed()

    def catch_up(self) -> None:
        """Append to a past that was just read what was committed meanwhile."""
        if self.past is not None:
            for event in self.events[len(self.past) :]:
                self.past.append(event)

    def close(self) -> None:
        """Close the connections that read the session, and remove all listeners.

        A listener often refers to the document. Without this, a closed session's events would stay in memory until the next full
        garbage collection, which is rare in the window.
        """
        self.closed = True
        for listeners in (self.appended, self.updated, self.evicted, self.regrouped, self.statuses_changed):
            listeners.clear()
        if self.pages is not None:
            self.pages.close()
