"""What the state panes show of a session's past."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from inspector_app.presentation.event_summary import writer_name
from runtime.events.event import Event
from runtime.history.scoped_state import ScopedState, differences
from runtime.history.state_at import History
from runtime.sessions.state import Change

MOST_NAMED = 100
"""Writers of keys that are looked up for one state."""


class Past(NamedTuple):
    """What the state panes show for one event.

    Attributes:
        state: after it.
        changes: what it changed; while it is compared with another event, what differs from the state after that one.
        writers: key → place and name of who wrote it last; place `SOMEBODY_ELSE` for another session.
        changed_since: keys that another session has written since.
    """

    state: ScopedState
    changes: list[Change]
    writers: dict[str, tuple[int, str]]
    changed_since: set[str]


def past_at(history: History, index: int, compared: int | None, event_at: Callable[[int], Event]) -> Past:
    """Return what the state panes show for an event.

    Args:
        history: the session's.
        index: place of the event.
        compared: place of the event it is compared with; None: with the one before it.
        event_at: returns the event at a place.
    """
    state = history.state_at(index)
    changes = history.delta_at(index) if compared is None else differences(history.state_at(compared), state)
    writers = _writers(history.writers_at(index), event_at)
    return Past(state, changes, writers, history.changed_elsewhere_since(index))


def _writers(places: dict[str, int], event_at: Callable[[int], Event]) -> dict[str, tuple[int, str]]:
    """Return who wrote each key: the event's place and its writer's name; for another session's write the name is empty.

    Args:
        places: as `History.writers_at` returns them.
        event_at: returns the event at a place.
    """
    named: dict[int, str] = {}
    for place in sorted({place for place in places.values() if place >= 0}, reverse=True)[:MOST_NAMED]:
        named[place] = writer_name(event_at(place))
    return {key: (place, named.get(place, "")) for key, place in places.items()}
