"""A database that is looked at all the time, on a thread of its own. No Qt."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from runtime.errors.storage_error import StorageError
from runtime.sessions.session import SessionKey
from runtime.sessions.stored.open_tail import open_tail
from runtime.sessions.stored.reader import SessionSummary
from runtime.sessions.stored.tail import Changes


@dataclass(frozen=True, slots=True)
class Following:
    """A wish to be told a session's events.

    Attributes:
        key: the session; None: no session's.
        ids: of its events that are known already.
        count: how many are, if they are more than `ids`.
    """

    key: SessionKey | None
    ids: Sequence[str] = ()
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """What one look found.

    Attributes:
        target: the database.
        following: the wish in force: events are for who asked last only.
        changes: what is different.
        problem: why the database cannot be read just now, or None.
    """

    target: str
    following: Following
    changes: Changes
    problem: str | None


class TailThread:
    """Looks, and tells. The thread is a daemon: a slow disk must not hold the window open.

    Args:
        target: the database.
        known: the sessions as they were listed last.
        tell: called on the thread, with what is new and when what stands in the way of reading is another thing.
    """

    def __init__(self, target: str, known: Sequence[SessionSummary], tell: Callable[[Told], None]) -> None:
        self._target = target
        self._known = known
        self._tell = tell
        self._wish = Following(None)
        self._ended = False
        self._wake = threading.Event()
        self._telling = threading.Lock()
        threading.Thread(target=self._run, name=f"tail of {target}", daemon=True).start()

    def follow(self, following: Following) -> None:
        """Tell these events from now on."""
        self._wish = following
        self._wake.set()

    def close(self) -> None:
        """Let the thread end with its next look; it tells nothing any more."""
        with self._telling:  # who is told may be gone right after this
            self._ended = True
        self._wake.set()

    def _run(self) -> None:
        try:
            tail = open_tail(self._target, self._known)
        except StorageError as error:
            self._say(Told(self._target, self._wish, Changes(), str(error)))
            return
        following, problem = self._wish, None
        try:
            while not self._ended:
                if self._wish is not following:
                    following = self._wish
                    tail.follow(following.key, following.ids, following.count)
                changes = tail.poll()
                now = str(tail.problem) if tail.problem is not None else None
                if changes or now != problem:
                    self._say(Told(self._target, following, changes, now))
                problem = now
                self._wake.wait(tail.pause)
                self._wake.clear()
        finally:
            tail.close()

    def _say(self, told: Told) -> None:
        with self._telling:
            if not self._ended:
                self._tell(told)
