"""The `temp:` state that events wrote. It lives until its invocation ends or is interrupted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runtime.events.marks import TEMP_GONE
from runtime.sessions.state import State

if TYPE_CHECKING:
    from runtime.events.event import Event


class TempStates:
    """A session's `temp:` state after each event.

    Args:
        deltas: event id → the keys that it set; `TEMP_GONE` is among them if the earlier keys were lost by then.
        places: invocation id → index and id of those events, in order.
    """

    def __init__(self, deltas: Mapping[str, Mapping[str, Any]], places: Mapping[str, list[tuple[int, str]]]) -> None:
        self._deltas = dict(deltas)
        self._places = {invocation_id: list(written) for invocation_id, written in places.items()}

    def __bool__(self) -> bool:
        """Return whether any `temp:` key was recorded."""
        return bool(self._places)

    def add(self, index: int, event: Event, delta: Mapping[str, Any]) -> None:
        """Add the keys that one more event set.

        Args:
            index: the event's index.
            event: an event of one of the session's invocations.
            delta: the keys.
        """
        self._deltas[event.id] = delta
        self._places.setdefault(event.invocation_id, []).append((index, event.id))

    def set_by(self, event_id: str) -> Mapping[str, Any]:
        """Return the keys that an event set."""
        return self._deltas.get(event_id, {})

    def after(self, index: int, invocation_id: str) -> dict[str, Any]:
        """Return the `temp:` state after an event.

        Args:
            index: the event's index.
            invocation_id: the invocation whose state it is.
        """
        state: dict[str, Any] = {}
        for event_id in self._until(index, invocation_id).values():
            written = self._deltas[event_id]
            if TEMP_GONE in written:
                state.clear()
            state.update(written)
        state.pop(TEMP_GONE, None)
        return state

    def writers_after(self, index: int, invocation_id: str) -> dict[str, int]:
        """Return the index of the event that set each key last. Arguments as for `after`."""
        writers: dict[str, int] = {}
        for place, event_id in self._until(index, invocation_id).items():
            writers.update(dict.fromkeys(self._deltas[event_id], place))
        writers.pop(TEMP_GONE, None)
        return writers

    def _until(self, index: int, invocation_id: str) -> dict[int, str]:
        return {place: event_id for place, event_id in self._places.get(invocation_id, ()) if place <= index}


def temp_part(event: Event) -> dict[str, Any]:
    """Return the `temp:` keys in an event's delta; google-adk stored them there up to 1.16."""
    return {key: value for key, value in event.actions.state_delta.items() if key.startswith(State.TEMP_PREFIX)}
