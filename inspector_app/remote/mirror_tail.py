"""Following of a server's sessions: its list is asked for now and then, and what has changed is copied."""

from __future__ import annotations

import time
from collections.abc import Sequence

from inspector_app.remote.mirror import Mirror
from runtime.errors.storage_error import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.storage.tail.tail import Changes, Tail

_PAUSE = 1.0  # seconds between two lists
_LONGEST_PAUSE = 20.0
_SHARE = 0.1  # of the time in which the server may be busy with us


class MirrorTail(Tail):
    """A tail of a copy that brings the copy up to date before each poll.

    Args:
        mirror: the copy.
        copy: a tail of the copy's file.
    """

    def __init__(self, mirror: Mirror, copy: Tail) -> None:
        super().__init__()
        self._mirror = mirror
        self._tail = copy
        self._cost = 0.0
        self._next = 0.0

    @property
    def pause(self) -> float:
        """See `Tail.pause`."""
        return min(max(_PAUSE, self._cost / _SHARE), _LONGEST_PAUSE)

    def follow(self, key: SessionKey | None, ids: Sequence[str] = (), count: int | None = None) -> None:
        """See `Tail.follow`."""
        self._tail.follow(key, ids, count)

    def poll(self) -> Changes:
        """See `Tail.poll`."""
        begin = time.monotonic()
        if begin >= self._next:  # a new selection polls at once, and needs nothing of the server
            self.problem = self._refreshed()
            self._cost = time.monotonic() - begin
            self._next = time.monotonic() + self.pause * 0.9
        changes = self._tail.poll()
        self.problem = self.problem or self._tail.problem
        return changes

    def close(self) -> None:
        """See `Tail.close`."""
        self._tail.close()

    def _refreshed(self) -> StorageError | None:
        try:
            self._mirror.refresh()
        except StorageError as error:
            return error
        return None
