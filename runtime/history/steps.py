"""What a session's events did to its state, step by step, wherever the events are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
        return [Step(event.id, event.invocation_id, event.actions.state_delta) for event in self._events[first:end]]


class LongSteps:
    """Stored steps, and after them those of events that were committed since.

    Args:
        stored: read when asked for.
    """

    def __init__(self, stored: Steps) -> None:
        self._stored = stored
        self._stored_count = len(stored)
        self._since: list[Step] = []

    def __len__(self) -> int:
        """Return how many there are."""
        return self._stored_count + len(self._since)

    def append(self, event: Event) -> None:
        """Add an event that was just committed."""
        self._since.append(Step(event.id, event.invocation_id, event.actions.state_delta))

    def read(self, first: int, end: int) -> Sequence[Step]:
        """See `Steps.read`."""
        stored = self._stored.read(first, min(end, self._stored_count)) if first < self._stored_count else []
        since = self._since[max(first - self._stored_count, 0) : max(end - self._stored_count, 0)]
        return [*stored, *since]
