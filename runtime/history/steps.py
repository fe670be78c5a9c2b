"""What a session's events did to its state, step by step, wherever the events are kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from runtime.events.event import Event


class Step(NamedTuple):
    """What one event did to the state.

    Attributes:
        event_id, invocation_id: which event.
        delta: its `state_delta`.
    """

    event_id: str
    invocation_id: str
    delta: Mapping[str, Any]


class Steps(Protocol):
    """A session's steps in commit order; a long session's are read when they are asked for."""

    def __len__(self) -> int:
        """Return how many there are."""

    def read(self, first: int, end: int) -> Sequence[Step]:
        """Return the steps from `first` up to and without `end`."""


class StepsOfEvents:
    """The steps of events that are at hand; grows with the list.

    Args:
        events: in commit order.
    """

    def __init__(self, events: list[Event]) -> None:
        self._events = events

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._events)

    def read(self, first: int, end: int) -> Sequence[Step]:
        """See `Steps.read`."""
        return [step_of(event) for event in self._events[first:end]]


class LongSteps:
    """Stored steps, and after them those of events that were committed since.

    Args:
        stored: read when asked for.
        count: how many of them are taken from there.
        since: those of the events after them.
    """

    def __init__(self, stored: Steps, count: int, since: Iterable[Step] = ()) -> None:
        self._stored = stored
        # One attribute: another thread reads, and must not find the count of one moment and the list of another.
        self._parts = count, list(since)

    def __len__(self) -> int:
        """Return how many there are."""
        count, since = self._parts
        return count + len(since)

    def append(self, event: Event) -> None:
        """Add an event that was just committed."""
        self._parts[1].append(step_of(event))

    def hand_over(self, end: int) -> None:
        """Let go of the steps up to and without `end`: they are stored by now, and read from there like those before."""
        count, since = self._parts
        if end > count:
            self._parts = end, since[end - count :]

    def read(self, first: int, end: int) -> Sequence[Step]:
        """See `Steps.read`."""
        count, since = self._parts
        stored = self._stored.read(first, min(end, count)) if first < count else []
        return [*stored, *since[max(first - count, 0) : max(end - count, 0)]]


def step_of(event: Event) -> Step:
    """Return what an event did to the state."""
    return Step(event.id, event.invocation_id, event.actions.state_delta)
