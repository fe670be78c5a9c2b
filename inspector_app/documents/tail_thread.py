"""Polls a database for commits of other processes, on a worker thread. No Qt.

Where the operating system hints at file changes, the thread polls rarely between hints. Hints can fail silently, so a change that was found
without a hint ends the rare polling for good.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from inspector_app.documents.event_notes import EventNotes
from runtime.errors.storage_error import StorageError
from runtime.sessions.session_key import SessionKey
from runtime.storage.tail.tail import Changes, Tail

RESTING = 0.25  # seconds between two polls of an idle database, where changes are hinted at
AWAKE = 1.5  # seconds after a change or a hint in which polling is as frequent as without hints
LATE = 1.0  # seconds that a hint may be late: a busy window passes it on when it can
MOST_WAITING = 2.0  # seconds without an acknowledgement after which the next update is sent all the same


@dataclass(frozen=True, slots=True)
class Subscription:
    """A request for a session's new events.

    Attributes:
        key: the session; None requests no events.
        ids: ids of its known events, or of the last of them.
        count: number of known events, if there are more than `ids`.
    """

    key: SessionKey | None
    ids: Sequence[str] = ()
    count: int | None = None


@dataclass(frozen=True, slots=True)
class TailUpdate:
    """What one poll found.

    Attributes:
        target: the database.
        following: the subscription in force, which the events belong to.
        changes: new and changed sessions and events.
        problem: why the database cannot be read at present, or None.
    """

    target: str
    following: Subscription
    changes: Changes
    problem: str | None


class TailThread:
    """Polls a database and reports updates.

    Each update waits until the one before is acknowledged, because events that are committed faster than the window can display them must
    not queue up. The thread is a daemon: a slow disk must not delay closing the window.

    Args:
        target: the database.
        open_tail: returns the tail, on this thread.
        tell: called on this thread with each update: changes, or another problem.
        is_hinted: whether `hint` will be called when the database may have changed.
    """

    def __init__(self, target: str, open_tail: Callable[[], Tail], tell: Callable[[TailUpdate], None], *, is_hinted: bool = False) -> None:
        self._target = target
        self._open_tail = open_tail
        self._tell = tell
        self._subscription = Subscription(None)
        self._ended = False
        self._wake = threading.Event()
        self._acknowledged = threading.Event()
        self._acknowledged.set()
        self._rests = is_hinted
        self._awake_until = time.monotonic() + AWAKE
        self._unhinted_since: float | None = None
        self._telling = threading.Lock()
        threading.Thread(target=self._run, name=f"tail of {target}", daemon=True).start()

    def follow(self, following: Subscription) -> None:
        """Report the events of this subscription from now on."""
        self._subscription = following
        self._awake_until = time.monotonic() + AWAKE  # the hints of earlier changes have passed
        self._wake.set()

    def hint(self) -> None:
        """Poll soon: the database may have changed."""
        self._unhinted_since = None
        self._awake_until = time.monotonic() + AWAKE
        self._wake.set()

    def acknowledge(self) -> None:
        """Allow the next update: the last one is displayed or no longer wanted."""
        self._acknowledged.set()

    def close(self) -> None:
        """End the thread at its next poll; no update is reported after this call."""
        with self._telling:  # the receiver may be deleted after this call
            self._ended = True
        self._wake.set()
        self._acknowledged.set()

    def _run(self) -> None:
        try:
            tail = self._open_tail()
        except StorageError as error:
            self._report(TailUpdate(self._target, self._subscription, Changes(), str(error)))
            return
        beside = EventNotes(self._target)
        notes = beside.revision_beside()
        following, problem = Subscription(None), None  # not the one in force: `follow` may have been called before this thread began
        try:
            while not self._ended:
                if self._subscription is not following:
                    following = self._subscription
                    tail.follow(following.key, following.ids, following.count)
                changes = tail.poll()
                now_noted = beside.revision_beside()
                if now_noted != notes:
                    notes, changes = now_noted, replace(changes, notes=True)
                now = str(tail.problem) if tail.problem is not None else None
                if changes or now != problem:
                    self._report(TailUpdate(self._target, following, changes, now))
                problem = now
                if changes:
                    self._judge_hints()
                self._wait(tail.pause, following)
        finally:
            tail.close()

    def _judge_hints(self) -> None:
        """Note whether the change just found was hinted at."""
        now = time.monotonic()
        if self._rests and now > self._awake_until and self._unhinted_since is None:
            self._unhinted_since = now
        self._awake_until = max(self._awake_until, now + AWAKE)

    def _wait(self, pause: float, following: Subscription) -> None:
        """Wait until the next poll: until a change is hinted at, and at least `pause` seconds."""
        looked = time.monotonic()
        if self._unhinted_since is not None and looked - self._unhinted_since > LATE:
            self._rests = False
        self._wake.wait(max(pause, RESTING) if self._rests and looked > self._awake_until else pause)
        self._wake.clear()
        while not self._ended and self._subscription is following and (left := looked + pause - time.monotonic()) > 0:
            self._wake.wait(left)
            self._wake.clear()

    def _report(self, update: TailUpdate) -> None:
        self._acknowledged.wait(MOST_WAITING)
        self._acknowledged.clear()
        with self._telling:
            if not self._ended:
                self._tell(update)
