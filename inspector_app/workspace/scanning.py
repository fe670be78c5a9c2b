"""Finding out on the side what listing a database left out: long sessions' counts, and what waits for a person."""

from __future__ import annotations

import contextlib
import heapq
import time
from collections.abc import Awaitable, Callable, Sequence, Set

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.long_session import LONG
from inspector_app.documents.sources import DatabaseSource, Source
from runtime.errors.storage_error import StorageError
from runtime.history.invocations import PendingItem
from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import SessionSummary
from runtime.support.worker_threads import run_in_thread

MAX_SCANNED = 2_000
"""Sessions of one database that are looked through for pending work one by one, newest first, before all events are."""

TELL_EVERY = 0.25
"""Seconds after which it is told what waits in the sessions looked through meanwhile."""


class Scanner(QObject):
    """Looks through databases on connections of its own: a click must not wait for it.

    Signals:
        counted(Source, DatabaseSource, list[SessionSummary]): the list of a database's sessions, with all counts, and what has counted.
        pending_found(Source, dict[SessionKey, list[PendingItem]]): what waits in some of its sessions (nothing, too).
        unfinished_found(Source, set[SessionKey]): its `unfinished` is known, for all sessions; these ones have been told of before.

    Args:
        is_open: whether something still is; looking through what is closed ends.
    """

    counted = Signal(object, object, object)
    pending_found = Signal(object, object)
    unfinished_found = Signal(object, object)

    def __init__(self, is_open: Callable[[Source], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_open = is_open
        self._reading_all: dict[str, DatabaseSource] = {}

    def stop(self, target: str) -> None:
        """Break off the look at all events of what was opened as `target`."""
        if target in self._reading_all:
            self._reading_all[target].stop_reading()

    async def scan(self, source: Source, sessions: Sequence[SessionSummary], before_all: Callable[[], Awaitable[None]]) -> None:
        """Look through a database.

        Args:
            source: the database.
            sessions: its sessions, as they were listed.
            before_all: waited for before all events are looked at: what somebody is looking at comes first.
        """
        scanner = await DatabaseSource.open(source.target)
        try:
            if any(summary.event_count is None for summary in sessions):
                sessions = await scanner.sessions()
                self.counted.emit(source, scanner, sessions)
            latest = await run_in_thread(newest, sessions, MAX_SCANNED)
            await self._scan_one_by_one(source, scanner, latest)
            scanned = {summary.key for summary in latest if (summary.event_count or 0) <= LONG}
            if len(scanned) < len(sessions) and self._is_open(source):
                await before_all()
                await self._scan_everything(source, scanner, scanned)
        finally:
            await scanner.close()

    async def _scan_one_by_one(self, source: Source, scanner: DatabaseSource, sessions: Sequence[SessionSummary]) -> None:
        found: dict[SessionKey, list[PendingItem]] = {}
        told = time.monotonic()
        for summary in sessions:
            if not self._is_open(source):
                return
            if not summary.event_count:
                continue
            # One session that cannot be read is said when it is selected; the others are looked through all the same.
            with contextlib.suppress(Exception):
                found[summary.key] = await scanner.pending(summary.key)
            if time.monotonic() - told > TELL_EVERY:
                self.pending_found.emit(source, found)
                found, told = {}, time.monotonic()
        if found:
            self.pending_found.emit(source, found)

    async def _scan_everything(self, source: Source, scanner: DatabaseSource, scanned: Set[SessionKey]) -> None:
        """Find what waits in sessions that are long, or too many to be looked at one by one; all others were scanned."""
        self._reading_all[source.target] = scanner
        try:
            source.unfinished = await scanner.find_unfinished()
        except StorageError:
            if self._is_open(source):
                raise
        finally:
            self._reading_all.pop(source.target, None)
        if self._is_open(source):
            self.unfinished_found.emit(source, scanned)


def newest(sessions: Sequence[SessionSummary], most: int) -> list[SessionSummary]:
    """Return the sessions that were changed last, the newest first."""
    return heapq.nlargest(most, sessions, key=lambda summary: summary.last_update_time)
