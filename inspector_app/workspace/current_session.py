"""Databases and sessions: opens and reads them off the GUI thread, and keeps the open session's past up to date while it runs."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import time
from collections.abc import Sequence, Set
from typing import Any

from PySide6.QtCore import QObject, Signal

from inspector_app.documents.long_session import LongSession, with_older
from inspector_app.documents.past_at_event import past_at
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_document import Committed, SessionDocument, StateAtEvent
from inspector_app.documents.session_events import SessionEvents
from inspector_app.documents.sources import DatabaseSource, MemorySource, Source
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.scanning import Scanner, newest
from runtime.errors.storage_error import StorageError
from runtime.events.event import Event
from runtime.history.invocations import Invocation, PendingItem, invocations
from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import SessionSummary
from runtime.support.worker_threads import run_in_thread

MAX_TRIED, MAX_TRIED_EVENTS = 20, 2_000
"""Bounds on looking for the session that is shown first: opening a database must feel immediate."""

FREEZE_EVERY = 2_000
"""Events that arrived while running, until the garbage collector is told to leave them alone."""


class CurrentSession(QObject):
    """What is open, and what is on show.

    Attributes:
        session: the session on show, once it is loaded.

    Signals:
        database_listed(Source, list[SessionSummary]): a database was opened, or listed again.
        database_failed(str, Exception): it could not be opened.
        database_counted(Source, list[SessionSummary]): its list again, with the counts that were left out at first.
        database_closed(str): its target.
        session_changed_in_list(Source, SessionSummary): one session is new, or longer.
        pending_found(SessionAddress, list[PendingItem]): what waits for a person there (nothing, too).
        much_pending_found(Source, dict[SessionKey, list[PendingItem]]): the same for many sessions at once.
        session_loading(SessionAddress | None), session_loaded(SessionDocument): the cursor's session is being read, or was read.
        session_failed(SessionAddress, Exception): the cursor's session could not be read.
        events_added(list[Event]): the session on show grew.
        events_read(int, int): events of a long session are here now, from and without these places.
        groups_found(InvocationGroups), invocations_found(SessionDocument), past_progress(int, int), past_read(SessionDocument): more of a
            long session was read.
        state_computed(StateAtEvent | None): for the cursor's event.
    """

    # Declared as `list`, each slot would be given a copy that Qt made of every item: 10 ms for 100,000.
    database_listed = Signal(object, object)
    database_failed = Signal(str, object)
    database_counted = Signal(object, object)
    database_closed = Signal(str)
    session_changed_in_list = Signal(object, object)
    pending_found = Signal(object, object)
    much_pending_found = Signal(object, object)
    session_loading = Signal(object)
    session_loaded = Signal(object)
    session_failed = Signal(object, object)
    events_added = Signal(object)
    events_read = Signal(int, int)
    groups_found = Signal(object)
    invocations_found = Signal(object)
    past_progress = Signal(int, int)
    past_read = Signal(object)
    state_computed = Signal(object)

    def __init__(self, cursor: Cursor, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cursor = cursor
        self._tasks = tasks
        self._sources: dict[str, Source] = {}
        self._listed: dict[str, list[SessionSummary]] = {}
        self._arrived_while_loading: list[Committed] = []
        self._reads = 0  # of sessions, that are going on
        self._unfrozen = 0  # events that the garbage collector was not told to leave alone yet
        self._loading: asyncio.Task[Any] | None = None
        self._reading_on: asyncio.Task[Any] | None = None
        self.session: SessionDocument | None = None
        self._scanner = Scanner(lambda source: source.target in self._sources, self)
        self._scanner.counted.connect(self._on_counted)
        self._scanner.pending_found.connect(self.much_pending_found)
        self._scanner.unfinished_found.connect(self._on_unfinished_found)
        cursor.session_changed.connect(self._on_session_changed)
        cursor.event_changed.connect(self._on_event_changed)
        cursor.compared_changed.connect(self._on_compared_changed)

    @property
    def sources(self) -> list[Source]:
        """Everything that is open, in the order it was opened."""
        return list(self._sources.values())

    def source(self, target: str) -> Source | None:
        """Return what was opened as `target`."""
        return self._sources.get(target)

    async def open_database(self, target: str, *, scan: bool = True) -> Source | None:
        """Open a database, or list it again if it is open; None if that failed (it is reported).

        Args:
            target: a path or URL.
            scan: see `scan`; False: whoever calls does that, once something is on show.
        """
        source = self._sources.get(target)
        try:
            if source is None:
                source = await DatabaseSource.open(target)
                self._sources[target] = source
            sessions = await source.listing()
        except Exception as error:
            self.database_failed.emit(target, error)
            return None
        self._listed[target] = sessions
        self.database_listed.emit(source, sessions)
        if scan:
            self.scan(source)
        return source

    def scan(self, source: Source) -> None:
        """Find out on the side what listing a database left out: long sessions' counts, and what waits for a person."""
        scan = self._scanner.scan(source, self._listed.get(source.target, []), self._wait_until_read_on)
        self._tasks.spawn(scan, f"Looking for pending work in {source.title}")

    async def memory(self, app_name: str) -> MemorySource:
        """Return this window's own sessions, listing those of `app_name`."""
        source = self._sources.get(MemorySource.target)
        if not isinstance(source, MemorySource):
            source = MemorySource()
            self._sources[source.target] = source
        source.add_app(app_name)
        self.database_listed.emit(source, await source.sessions())
        return source

    async def close_database(self, target: str) -> None:
        """Close what was opened as `target`."""
        source = self._sources.pop(target, None)
        self._listed.pop(target, None)
        if source is None:
            return
        self._scanner.stop(target)
        if self._cursor.session is not None and self._cursor.session.database == target:
            self._cursor.select_session(None)
        self.database_closed.emit(target)
        await source.close()

    async def reload(self) -> None:
        """Read everything again that is open: the lists, and the session on show."""
        for target in list(self._sources):
            if isinstance(self._sources.get(target), DatabaseSource):
                await self.open_database(target)
        if self._cursor.session is not None:
            await self.load_session(self._cursor.session)

    async def close(self) -> None:
        """Let go of every database."""
        self._let_go()
        sources, self._sources = self.sources, {}
        for source in sources:
            await source.close()

    async def load_session(self, address: SessionAddress, *, assume: bool = True) -> None:
        """Read a session and show it, if it is still the selected one by then.

        Args:
            address: the session.
            assume: a long one may be shown before its events are counted.
        """
        source = self._sources.get(address.database)
        if source is None:
            return
        self._arrived_while_loading.clear()
        self._reads += 1
        try:
            await self._read_session(address, source, assume=assume)
        finally:
            self._reads -= 1

    async def _read_session(self, address: SessionAddress, source: Source, *, assume: bool) -> None:
        self.session_loading.emit(address)
        try:
            if await source.is_long(address.key):
                await self._load_long(address, source, assume=assume)
                return
            history = await source.history(address.key)
            events = list(history.events)
            past = await run_in_thread(invocations, events)
        except Exception as error:
            if self._cursor.session == address:
                self.session_failed.emit(address, error)
            return
        if self._cursor.session != address:
            return
        self._show(SessionDocument(address, source, SessionEvents(events, on_request=self._on_page_requested), history, past))

    def _show(self, session: SessionDocument) -> None:
        self.session = session
        session.take_arrived(self._arrived_while_loading)
        self._arrived_while_loading.clear()
        if session.long is None and session.events:
            self.pending_found.emit(session.address, _pending(session.invocations))
        self.session_loaded.emit(session)
        self._on_event_changed(self._cursor.event_index)

    async def _load_long(self, address: SessionAddress, source: Source, *, assume: bool) -> None:
        count = source.listed_count(address.key) if assume else None
        long = LongSession(source.target, address.key, count, assume=assume and count is None)
        events, groups = await long.open(self._on_page_requested)
        if self._cursor.session != address:
            long.close()
            return
        self._let_go()
        session = SessionDocument(address, source, events, None, [], long, groups)
        self._show(session)
        self._reading_on = self._tasks.spawn(self._read_on(session, long), f"Reading the past of session {address.key.session_id}")

    async def _read_on(self, session: SessionDocument, long: LongSession) -> None:
        """Find out, while the session is on show already, what takes longer; broken off when another one is on show."""
        try:
            await self._read_end(session, long)
            if await long.confirm():
                await self._read_past(session, long)
        except StorageError:
            if not long.closed and await long.confirm():
                raise
        if not long.closed and not long.is_confirmed and self._cursor.session == session.address:
            await self.load_session(session.address, assume=False)

    async def _read_end(self, session: SessionDocument, long: LongSession) -> None:
        session.invocations = with_older(await long.latest_invocations(), session.source.unfinished.get(session.address.key, ()))
        if self.session is session:
            self.pending_found.emit(session.address, _pending(session.invocations))
            self.invocations_found.emit(session)

    async def _read_past(self, session: SessionDocument, long: LongSession) -> None:
        groups = await long.groups()
        if self.session is session:
            gc.freeze()  # of a long session so many that looking them through for garbage would be felt
            self.groups_found.emit(groups)
        await long.read_history(self.past_progress.emit)
        session.catch_up()
        if self.session is session:
            self.past_read.emit(session)
            self._on_event_changed(self._cursor.event_index)

    def _on_page_requested(self) -> None:
        session = self.session
        if session is not None and session.long is not None:
            self._tasks.spawn(self._bring_pages(session, session.long), "Reading events")

    async def _bring_pages(self, session: SessionDocument, long: LongSession) -> None:
        while self.session is session and (wanted := session.events.next_requested_page()) is not None:
            first, end = wanted
            try:
                rows = await long.rows(first, end)
            except StorageError:
                if long.is_confirmed:
                    raise
                return  # they are being counted, and are read again if they are not what was assumed
            session.events.store_page(first, rows)
            self.events_read.emit(first, end)
            index = self._cursor.event_index
            if index is not None and first <= index < end:
                self._on_event_changed(index)

    def _let_go(self) -> None:
        if self.session is not None and self.session.long is not None:
            self.session.long.close()
        self.session = None

    def add_committed(self, address: SessionAddress, batch: Sequence[Committed]) -> None:
        """Take in events that a run has just committed."""
        if self._cursor.session != address:
            return
        if self._reads:  # what was committed a moment ago may not be in what is read; nor what is on show stay there
            self._arrived_while_loading.extend(batch)
        if self.session is None:
            return
        self._unfrozen += len(batch)
        if self._unfrozen >= FREEZE_EVERY:
            self._unfrozen = 0
            # Events have no cycles and stay: left to the collector, it would walk over all of them again and again, for 100 ms each time.
            gc.collect(0)
            gc.freeze()
        added = [committed.event for committed in batch if self.session.append(committed)]
        if added:
            self.events_added.emit(added)

    async def refresh_session(self, address: SessionAddress) -> None:
        """Look again at a session that has just been written to: its length, its invocations, what waits in it."""
        source = self._sources.get(address.database)
        if source is None:
            return
        session = self.session if self.session is not None and self.session.address == address else None
        if session is not None and session.long is not None:
            self._refresh_long(session)
            return
        events = session.events.in_memory if session else await source.events(address.key)
        past = await run_in_thread(invocations, list(events))
        if session:
            session.invocations = past
        updated = events[-1].timestamp if events else time.time()  # without events it has just been made
        self.session_changed_in_list.emit(source, SessionSummary(address.key, len(events), updated))
        if events:
            self.pending_found.emit(address, _pending(past))

    def _refresh_long(self, session: SessionDocument) -> None:
        """Look at what was added to a long session since it was opened."""
        since = session.events.in_memory
        if not since:
            return
        new = invocations(since)
        names = {entry.invocation_id for entry in new}
        session.invocations = [entry for entry in session.invocations if entry.invocation_id not in names] + new
        summary = SessionSummary(session.address.key, len(session.events), since[-1].timestamp)
        self.session_changed_in_list.emit(session.source, summary)
        self.pending_found.emit(session.address, _pending(session.invocations))

    async def most_interesting(self, source: Source) -> SessionKey | None:
        """Return the session to show first: the newest one in which something waits, else the newest one."""
        newest_first = await run_in_thread(newest, self._listed.get(source.target, ()), MAX_TRIED)
        for summary in newest_first:
            count = summary.event_count
            if count > MAX_TRIED_EVENTS if count is not None else await source.is_longer_than(summary.key, MAX_TRIED_EVENTS):
                break
            with contextlib.suppress(Exception):  # it is said when the session is selected
                if await source.pending(summary.key):
                    return summary.key
        return newest_first[0].key if newest_first else None

    async def wait_until_loaded(self) -> None:
        """Wait until the selected session is on show, or its problem is."""
        if self._loading is not None:
            await asyncio.wait([self._loading])

    def position_of(self, event_id: str) -> int | None:
        """Return an event's place in the session on show."""
        return self.session.index_of(event_id) if self.session else None

    async def _wait_until_read_on(self) -> None:
        if self._reading_on is not None:
            await asyncio.wait([self._reading_on])

    def _on_counted(self, source: Source, scanner: DatabaseSource, sessions: list[SessionSummary]) -> None:
        if isinstance(source, DatabaseSource) and self._sources.get(source.target) is source:
            source.take_counts(scanner)
            self._listed[source.target] = sessions
            self.database_counted.emit(source, sessions)

    def _on_unfinished_found(self, source: Source, scanned: Set[SessionKey]) -> None:
        session = self.session
        found = {key: _pending(entries) for key, entries in source.unfinished.items() if key not in scanned}
        if session is not None and session.source is source and found.pop(session.address.key, None) is not None:
            session.invocations = with_older(session.invocations, source.unfinished[session.address.key])
            self.invocations_found.emit(session)
            self.pending_found.emit(session.address, _pending(session.invocations))
        self.much_pending_found.emit(source, found)

    def _on_session_changed(self, address: SessionAddress | None) -> None:
        self._let_go()
        self.state_computed.emit(None)
        if address is None:
            self.session_loading.emit(None)
        else:
            self._loading = self._tasks.spawn(self.load_session(address), f"Reading session {address.key.session_id}")

    def _on_compared_changed(self, _index: int | None) -> None:
        self._on_event_changed(self._cursor.event_index)

    def _on_event_changed(self, index: int | None) -> None:
        session = self.session
        if session is None or index is None or not 0 <= index < len(session.events):
            self.state_computed.emit(None)
            return
        event = session.events.cached(index)
        if event is None:  # asked for; it comes in a moment
            return
        if session.history is not None:
            past = past_at(session.history, index, self._compared, session.events.__getitem__)
            self.state_computed.emit(StateAtEvent(index, event, past, self._compared))
            return
        self.state_computed.emit(StateAtEvent(index, event, None))
        if session.long is not None and session.long.history is not None:
            self._tasks.spawn(self._compute_past(session, session.long, index, event), "Finding the state at an event")

    @property
    def _compared(self) -> int | None:
        """The event that the selected one is compared with, if it is still there: a session that is read again may be shorter."""
        index = self._cursor.compared_index
        return index if index is not None and self.session is not None and index < len(self.session.events) else None

    async def _compute_past(self, session: SessionDocument, long: LongSession, index: int, event: Event) -> None:
        compared = self._compared
        past = await long.past_at(index, session.events, compared)
        if past is not None and self.session is session and self._cursor.event_index == index and self._compared == compared:
            self.state_computed.emit(StateAtEvent(index, event, past, compared))


def _pending(past: Sequence[Invocation]) -> list[PendingItem]:
    return [item for invocation in past for item in invocation.pending]
