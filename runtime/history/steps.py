"""The changes that a session's events made to its state, one step per event, wherever the events are stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from runtime.events.marks import has_unreadable_actions

if TYPE_CHECKING:
    from runtime.events.event import Event

# The delta of an event whose actions cannot be read: compared by identity. It may have written any key.
UNKNOWN_DELTA: Mapping[str, Any] = MappingProxyType({})


class Step(NamedTuple):
    """The change that one event made to the state.

    Attributes:
        event_id, invocation_id: the event.
        delta: its `state_delta`; `UNKNOWN_DELTA` if that cannot be read.
    """

    event_id: str
    invocation_id: str
    delta: Mapping[str, Any]


class Steps(Protocol):
    """A session's steps in commit order; those of a long session are read on demand."""

    def __len__(self) -> int:
        """Return the number of steps."""

    def read(self, first: int, end: int) -> Sequence[Step]:
        """Return the steps from `first` up to, not including, `end`."""

    def deltas(self, first: int, end: int) -> Sequence[Mapping[str, Any]]:
        """Return the deltas of these steps, which takes less time."""


class StepsOfEvents:
    """The steps of events in memory; grows with their list.

    Args:
        events: in commit order.
    """

    def __init__(self, events: list[Event]) -> None:
        self._events = events

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self._events)

    def read(self, first: int, end: int) -> Sequence[Step]:
        """See `Steps.read`."""
        return [step_of(event) for event in self._events[first:end]]

    def deltas(self, first: int, end: int) -> Sequence[Mapping[str, Any]]:
        """See `Steps.deltas`."""
        return [step_of(event).delta for event in self._events[first:end]]


class LongSteps:
    """Stored steps, followed by the steps of events committed since.

    Args:
        stored: the stored steps, read on demand.
        count: how many steps are read from `stored`.
        since: the steps after them.
    """

    def __init__(self, stored: Steps, count: int, since: Iterable[Step] = ()) -> None:
        self._stored = stored
        # One attribute, so that a reading thread never sees a count and a list of different moments.
        self._parts = count, list(since)

    def __len__(self) -> int:
        """Return the number of steps."""
        count, since = self._parts
        return count + len(since)

    @property
    def in_memory(self) -> int:
        """The number of steps that are not read from `stored`."""
        return len(self._parts[1])

    def append(self, event: Event) -> None:
        """Add an event that was just committed."""
        self._parts[1].append(step_of(event))

    def hand_over(self, end: int) -> None:
        """Drop the steps before `end`: they are stored by now and are read from there."""
        count, since = self._parts
        if end > count:
            self._parts = end, since[end - count :]

    def read(self, first: int, end: int) -> Sequence[Step]:
        """See `Steps.read`."""
        count, since = self._parts
        stored = self._stored.read(first, min(end, count)) if first < count else []
        return [*stored, *since[max(first - count, 0) : max(end - count, 0)]]

    def deltas(self, first: int, end: int) -> Sequence[Mapping[str, Any]]:
        """See `Steps.deltas`."""
        count, since = self._parts
        stored = self._stored.deltas(first, min(end, count)) if first < count else []
        return [*stored, *(step.delta for step in since[max(first - count, 0) : max(end - count, 0)])]


def step_of(event: Event) -> Step:
    """Return the change that an event made to the state."""
    return Step(event.id, event.invocation_id, UNKNOWN_DELTA if has_unreadable_actions(event) else event.actions.state_delta)
