"""What the state panes show for an event."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from inspector_app.presentation.event_summary import writer_name
from runtime.history.scoped_state import ScopedState, differences
from runtime.history.state_at import History
from runtime.sessions.state import SCOPES, Change, Scope, apply_delta, scope_of

if TYPE_CHECKING:
    from runtime.events.event import Event

MOST_NAMED = 100  # writers of keys whose names are looked up for one state


class Past(NamedTuple):
    """What the state panes show for one event.

    Attributes:
        state: the state after the event; None while it is unknown.
        changes: the event's changes, or the differences from the state after the event it is compared with.
        writers: key → place and name of its last writer; place `SOMEBODY_ELSE` for another session.
        changed_since: keys that another session has written since.
        is_read: whether the session's past is read. Before, values before the event and writers are unknown.
    """

    state: ScopedState | None
    changes: list[Change]
    writers: dict[str, tuple[int, str]]
    changed_since: set[str]
    is_read: bool = True


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


def past_before_reading(present: ScopedState | None, later: Sequence[Event], event: Event) -> Past:
    """Return what is known about an event while the session's past is being read: its own delta, and the state if it is the newest.

    Args:
        present: the state after the stored events; None if it is unknown, or the event is not one of the newest.
        later: the events committed after the stored ones, up to this one.
        event: the event.
    """
    changes = [Change(key, None, value, "written") for key, value in event.actions.state_delta.items()]
    if present is None:
        return Past(None, changes, {}, set(), is_read=False)
    merged = present.merged()
    unknown = set(present.unknown)
    for one in later:
        # Another session may have written shared keys meanwhile.
        unknown.update(key for key in merged if scope_of(key) != "session")
        apply_delta(merged, one.actions.state_delta)
        unknown.difference_update(one.actions.state_delta)
    scopes: dict[Scope, dict[str, Any]] = {scope: {} for scope in SCOPES}
    for key, value in merged.items():
        if key not in unknown:
            scopes[scope_of(key)][key] = value
    scopes["temp"] = {key: value for key, value in event.actions.state_delta.items() if scope_of(key) == "temp"}
    state = ScopedState(scopes["session"], scopes["user"], scopes["app"], scopes["temp"], sorted(unknown))
    changes = [replace(change, after=merged.get(change.key, change.after)) for change in changes]
    return Past(state, changes, {}, set(), is_read=False)


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
