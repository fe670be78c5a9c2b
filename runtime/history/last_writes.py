"""The last write of each key up to an event, found by reading a session's steps backwards: what was written lately is known at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from runtime.history.scoped_state import ScopedState
from runtime.history.steps import UNKNOWN_DELTA, Steps
from runtime.sessions.state import same_value, scope_of

_CHUNK = 2_000  # steps read at once


class LastWrites:
    """The last writes up to an event, as far as they are found.

    Attributes:
        values: key → the value written last.
        begin: index of the first event that was read; 0 if nothing earlier can be known.

    Args:
        steps: the session's steps.
        index: the event.
    """

    def __init__(self, steps: Steps, index: int) -> None:
        self.values: dict[str, Any] = {}
        self.begin = self._end = index + 1
        self._steps = steps

    def read_back(self, keys: Collection[str], most: int, is_stopped: Callable[[], bool] = lambda: False) -> None:
        """Read backwards until the last write of all these keys is found. A later call continues.

        Args:
            keys: the keys.
            most: number of steps up to the event that are read at most, together with earlier calls.
            is_stopped: asked now and then whether to stop.
        """
        missing = set(keys) - self.values.keys()
        last = max(self._end - most, 0)
        while missing and self.begin > last and not is_stopped():
            first = max(self.begin - _CHUNK, last)
            for delta in reversed(self._steps.deltas(first, self.begin)):
                if delta is UNKNOWN_DELTA:  # it may have written any key
                    self.begin = 0
                    return
                for key, value in delta.items():
                    self.values.setdefault(key, value)
            self.begin = first
            missing -= self.values.keys()

    def followed_by(self, delta: Mapping[str, Any]) -> LastWrites:
        """Return the last writes up to the next event, which has this delta."""
        following = LastWrites(self._steps, -1)
        if delta is not UNKNOWN_DELTA:
            following.values = {**self.values, **delta}
        return following


def recent_state(present: Mapping[str, Any], newest: LastWrites, writes: LastWrites) -> ScopedState:
    """Return the known part of the state after an event; the other keys are listed as unknown.

    A session's own key is known if it was written up to the event and its last write of all explains its present value, so that it was
    never changed by merge patches or without an event. `user:` and `app:` keys may have been written by other sessions.

    Args:
        present: the present merged state.
        newest: the last writes up to the newest event.
        writes: the last writes up to the event.
    """
    known = {}
    for key, value in present.items():
        is_explained = scope_of(key) == "session" and key in newest.values and same_value(newest.values[key], value)
        if is_explained and key in writes.values:
            known[key] = writes.values[key]
    written = {key for key in writes.values if scope_of(key) != "temp"}
    return ScopedState(session=known, unknown=sorted((present.keys() | written) - known.keys()))
