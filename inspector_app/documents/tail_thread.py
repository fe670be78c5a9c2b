"""A database that is looked at all the time, on a thread of its own. No Qt.

Looking 50 times a second costs a percent of a processor. Where the system hints at changes, the thread rests between them and looks only
now and then. Hints can fail silently, so a change that was found without one ends the resting for good.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from runtime.errors.storage_error import StorageError
from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import SessionSummary
from runtime.storage.tail.open_tail import open_tail
from runtime.storage.tail.tail import Changes

RESTING = 0.25
"""Seconds between two looks while nobody writes, where changes are hinted at."""

AWAKE = 1.5
"""Seconds after a change or a hint in which it is looked as often as without hints."""

LATE = 1.0
"""Seconds that a hint may come late by: a busy window hands it on when it can."""

MOST_WAITING = 2.0
"""Seconds for which what was told before may stay untaken, until the next is told all the same."""


@dataclass(frozen=True, slots=True)
class Subscription:
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
class TailUpdate:
    """What one look found.

    Attributes:
        target: the database.
        following: the wish in force: events are for who asked last only.
        changes: what is different.
        problem: why the database cannot be read just now, or None.
    """

    target: str
    following: Subscription
    changes: Changes
    problem: str | None


class TailThread:
    """Looks, and tells; not before what it told last is taken: what is committed faster than it can be shown must not pile up as events.

    The thread is a daemon: a slow disk must not hold the window open.

    Args:
        target: the database.
        known: the sessions as they were listed last.
        tell: called on the thread, with what is new and when what stands in the way of reading is another thing.
        is_hinted: `hint` will be called when something may have changed.
    """

    def __init__(
        self, target: str, known: Sequence[SessionSummary], tell: Callable[[TailUpdate], None], *, is_hinted: bool = False
    ) -> None:
        self._target = target
        self._known = known
        self._tell = tell
        self._wish = Subscription(None)
        self._ended = False
        self._wake = threading.Event()
        self._taken = threading.Event()
        self._taken.set()
        self._rests = is_hinted
        self._awake_until = time.monotonic() + AWAKE
        self._unhinted_since: float | None = None
        self._telling = threading.Lock()
        threading.Thread(target=self._run, name=f"tail of {target}", daemon=True).start()

    def follow(self, following: Subscription) -> None:
        """Tell these events from now on."""
        self._wish = following
        self._awake_until = time.monotonic() + AWAKE  # what came meanwhile was hinted at before
        self._wake.set()

    def hint(self) -> None:
        """Look soon: something may have changed."""
        self._unhinted_since = None
        self._awake_until = time.monotonic() + AWAKE
        self._wake.set()

    def acknowledge(self) -> None:
        """Tell more: what was told is on show, or nobody wants it any more."""
        self._taken.set()

    def close(self) -> None:
        """Let the thread end with its next look; it tells nothing any more."""
        with self._telling:  # who is told may be gone right after this
            self._ended = True
        self._wake.set()
        self._taken.set()

    def _run(self) -> None:
        try:
            tail = open_tail(self._target, self._known)
        except StorageError as error:
            self._say(TailUpdate(self._target, self._wish, Changes(), str(error)))
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
                    self._say(TailUpdate(self._target, following, changes, now))
                problem = now
                if changes:
                    self._judge_hints()
                self._wait(tail.pause, following)
        finally:
            tail.close()

    def _judge_hints(self) -> None:
        """Note whether the change that was just found had been hinted at."""
        now = time.monotonic()
        if self._rests and now > self._awake_until and self._unhinted_since is None:
            self._unhinted_since = now
        self._awake_until = max(self._awake_until, now + AWAKE)

    def _wait(self, pause: float, following: Subscription) -> None:
        """Wait until it is time to look again: when a change is hinted at, though never sooner than `pause` after this look."""
        looked = time.monotonic()
        if self._unhinted_since is not None and looked - self._unhinted_since > LATE:
            self._rests = False
        self._wake.wait(max(pause, RESTING) if self._rests and looked > self._awake_until else pause)
        self._wake.clear()
        while not self._ended and self._wish is following and (left := looked + pause - time.monotonic()) > 0:
            self._wake.wait(left)
            self._wake.clear()

    def _say(self, told: TailUpdate) -> None:
        self._taken.wait(MOST_WAITING)
        self._taken.clear()
        with self._telling:
            if not self._ended:
                self._tell(told)
