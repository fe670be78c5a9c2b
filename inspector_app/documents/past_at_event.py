"""What the state panes show for an event."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from inspector_app.presentation.event_summary import writer_name
from runtime.events.event import Event
from runtime.history.scoped_state import ScopedState, differences
from runtime.history.state_at import History
from runtime.sessions.state import Change

MOST_NAMED = 100  # writers of keys whose names are looked up for one state


class Past(NamedTuple):
    """What the state panes show for one event.

    Attributes:
        state: the state after the event.
        changes: the event's changes, or the differences from the state after the event it is compared with.
        writers: key → place and name of its last writer; place `SOMEBODY_ELSE` for another session.
        changed_since: keys that another session has written since.
    """

    state: ScopedState
    changes: list[Change]
    writers: dict[str, tuple[int, str]]
    changed_since: set[str]


def past_at(history: History, index: int, compared: int | None, event_at: Callable[[int], Event]) -> Past:
    """Return what the state panes show for an event.

    Args:
        history: the session's history.
        index: place of the event.
        compared: place of the event to compare the state with; None for the event before.
        event_at: returns the event at a place.
    """
    state = history.state_at(index)
    changes = history.delta_at(index) if compared is None else differences(history.state_at(compared), state)
    writers = _writers(history.writers_at(index), event_at)
    return Past(state, changes, writers, history.changed_elsewhere_since(index))


def _writers(places: dict[str, int], event_at: Callable[[int], Event]) -> dict[str, tuple[int, str]]:
    """Return each key's writer: the event's place and the writer's name.

    The name is empty for another session, and for writers before the latest `MOST_NAMED`.

    Args:
        places: from `History.writers_at`.
        event_at: returns the event at a place.
    """
    named: dict[int, str] = {}
    for place in sorted({place for place in places.values() if place >= 0}, reverse=True)[:MOST_NAMED]:
        named[place] = writer_name(event_at(place))
    return {key: (place, named.get(place, "")) for key, place in places.items()}
