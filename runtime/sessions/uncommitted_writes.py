"""The writes to a run's state that no event has committed yet, by writer and in order."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, Protocol

_MISSING = object()


class View(Protocol):
    """A view of the state through which an open call reads; `State` is one."""

    def keep(self, container: Any, content: Any, *, is_written: bool) -> None:
        """Note that another call wrote a list or dict that may have been read here."""

    def has_read(self, container: Any) -> bool:
        """Return whether an open call read this list or dict here."""

    def has_unrecorded(self, container: Any) -> bool:
        """Return whether a list or dict that was read here has changed since."""


class UncommittedWrites:
    """Who wrote which keys of a state since they were last committed, so that the writes of a failed call can be reverted.

    A writer is the delta of a call's context. Calls may run concurrently: tools and callbacks on several threads write to one state, and
    each key shows the newest write.

    Args:
        state: the run's state; shared with `State`.
    """

    def __init__(self, state: dict[str, Any]) -> None:
        self.open_views: list[View] = []
        self._state = state
        self._lock = threading.Lock()
        self._writers: dict[str, list[dict[str, Any]]] = {}  # key → deltas, newest write last
        self._before: dict[str, Any] = {}  # key → value below the oldest of these writes

    def write(self, delta: dict[str, Any], key: str, value: Any) -> None:
        """Set a key in the state and in its writer's delta."""
        with self._lock:
            writers = self._writers.setdefault(key, [])
            if not writers:
                self._before[key] = self._state.get(key, _MISSING)
            _remove(writers, delta)
            writers.append(delta)
            self._state[key] = delta[key] = value

    def join(self, delta: dict[str, Any], others: list[dict[str, Any]]) -> None:
        """Make one writer of several whose changes are committed by one event.

        Args:
            delta: the event's delta, with the changes of all.
            others: the deltas that were merged into it.
        """
        with self._lock:
            for writers in self._writers.values():
                writers[:] = [delta if any(writer is other for other in others) else writer for writer in writers]

    def commit(self, delta: dict[str, Any], keys: Mapping[str, Any]) -> None:
        """Record that keys were committed and set in the state; where a concurrent call wrote since, show its value again.

        Args:
            delta: the committed event's own delta, by which the writer is recognised.
            keys: what was committed, as it was before the commit.
        """
        with self._lock:
            if not self._writers and not self.open_views:
                return  # the usual case: no other write, and no call that may have read one of the values
            for key, value in keys.items():
                self._share_again(key, value)
                writers = self._writers.get(key)
                if writers is None:
                    continue
                last = max((number for number, writer in enumerate(writers) if writer is delta), default=len(writers) - 1)
                del writers[: last + 1]
                if writers:
                    self._before[key] = self._state[key]
                    self._state[key] = writers[-1][key]
                else:
                    self._forget(key)

    def revert(self, delta: dict[str, Any], to: Mapping[str, Any]) -> None:
        """Take back the writes of a failed call, but not what others wrote since.

        Args:
            delta: the call's delta; changed in place.
            to: the delta as it was before the writes.
        """
        with self._lock:
            for key in [key for key, value in delta.items() if key not in to or to[key] is not value]:
                writers = self._writers.get(key, [])
                is_newest = bool(writers) and writers[-1] is delta
                if key in to:
                    delta[key] = to[key]
                else:
                    del delta[key]
                    _remove(writers, delta)
                if not is_newest:
                    continue
                value = writers[-1][key] if writers else self._before[key]
                if value is _MISSING:
                    self._state.pop(key, None)
                else:
                    self._state[key] = value
                if not writers:
                    self._forget(key)

    def keep(self, container: Any, content: Any, writer: View) -> None:
        """Keep other open calls from reverting a list or dict that they read too.

        Args:
            container: the list or dict.
            content: a copy of what was written.
            writer: the view that wrote it.
        """
        for view in list(self.open_views):
            if view is not writer:
                view.keep(container, content, is_written=False)

    def clear(self) -> None:
        """Forget all writes, after the state was reset."""
        with self._lock:
            self._writers.clear()
            self._before.clear()

    def _share_again(self, key: str, value: Any) -> None:
        """Show a committed list or dict itself, not the copy, where an open call has read it and may change it in place."""
        readers = [view for view in self.open_views if view.has_read(value)] if isinstance(value, (dict, list)) else []
        if readers:
            for view in readers:
                view.keep(value, self._state[key], is_written=True)
            self._state[key] = value

    def _forget(self, key: str) -> None:
        del self._writers[key], self._before[key]


def _remove(writers: list[dict[str, Any]], delta: dict[str, Any]) -> None:
    writers[:] = [writer for writer in writers if writer is not delta]
