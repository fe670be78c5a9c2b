"""Background scans for what listing a database leaves out: long sessions' counts, and pending items."""

from __future__ import annotations

import contextlib
import heapq
import time
from collections.abc import Awaitable, Callable, Sequence, Set

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.long_session import LONG
from inspector_app.documents.sources import DatabaseSource, Source
from runtime.errors.known_error import KnownError
from runtime.errors.storage_error import StorageError
from runtime.history.invocations import PendingItem
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import SessionSummary
from runtime.support.worker_threads import run_in_thread

AT_FIRST = 200  # newest sessions of a database whose titles are read when it is listed
MAX_SCANNED = 2_000  # newest sessions examined one by one before all events of a database are read

REPORT_EVERY = 0.25  # seconds; each report refreshes views


class Scanner(QObject):
    """Scans databases on connections of its own, so that a click does not wait for a scan.

    Signals:
        titled(Source, dict[SessionKey, str]): the titles of all sessions.
        counted(Source, DatabaseSource, list[SessionSummary]): all counts of a database are known: the
            database, the connection that counted, and the list with counts.
        pending_found(Source, dict[SessionKey, list[PendingItem]]): some sessions were examined; an empty list if nothing is pending.
        unfinished_found(Source, set[SessionKey]): `Source.unfinished` is known for all sessions; these were reported before.

    Args:
        is_open: returns whether a database is still open; the scan of a closed one ends.
    """

    titled = Signal(object, object)
    counted = Signal(object, object, object)
    pending_found = Signal(object, object)
    unfinished_found = Signal(object, object)

    def __init__(self, is_open: Callable[[Source], bool], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_open = is_open
        self._reading_all: dict[str, DatabaseSource] = {}

    def stop(self, target: str) -> None:
        """Cancel reading all events of the database that was opened as `target`."""
        if target in self._reading_all:
            self._reading_all[target].stop_reading()

    async def scan(self, source: Source, sessions: Sequence[SessionSummary], before_all: Callable[[], Awaitable[None]]) -> None:
        """Scan a database.

        Args:
            source: the database.
            sessions: its sessions as listed.
            before_all: awaited before all events are read, so that the displayed session is read first.
        """
        if isinstance(source, DatabaseSource):
            await source.complete()
        scanner = await DatabaseSource.open(source.target)
        try:
            if any(summary.event_count is None for summary in sessions):
                sessions = await scanner.sessions()
                self.counted.emit(source, scanner, sessions)
            if len(sessions) > AT_FIRST:
                with contextlib.suppress(KnownError):  # reported when a session is selected
                    self.titled.emit(source, await scanner.titles())
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
            # A session that cannot be read is reported when it is selected; the others are examined nevertheless.
            with contextlib.suppress(Exception):
                found[summary.key] = await scanner.pending(summary.key)
            if time.monotonic() - told > REPORT_EVERY:
                self.pending_found.emit(source, found)
                found, told = {}, time.monotonic()
        if found:
            self.pending_found.emit(source, found)

    async def _scan_everything(self, source: Source, scanner: DatabaseSource, scanned: Set[SessionKey]) -> None:
        """Find the pending items of sessions that are long or too many to be examined one by one; the others were scanned."""
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
    """Return the sessions that changed last, the newest first."""
    return heapq.nlargest(most, sessions, key=lambda summary: summary.last_update_time)
