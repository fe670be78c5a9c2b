"""The owner of the displayed session: reads it on worker threads, and keeps its past up to date while it runs."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Sequence, Set
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Signal

from inspector_app.documents.live_event_eviction import LiveEventEvictor
from inspector_app.documents.long_session import LongSession, with_older
from inspector_app.documents.open_session import OpenSession
from inspector_app.documents.past_at_event import Past, past_at
from inspector_app.documents.session_address import SessionAddress
from inspector_app.documents.session_document import Committed, StateAtEvent
from inspector_app.documents.session_events import SessionEvents
from inspector_app.documents.sources import Source
from inspector_app.support.tasks import Tasks
from inspector_app.workspace.cursor import Cursor
from inspector_app.workspace.open_databases import OpenDatabases, pending_of
from inspector_app.workspace.session_catalog import SessionCatalog
from runtime.errors.storage_error import StorageError
from runtime.history.invocations import invocations
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import SessionSummary
from runtime.support.worker_threads import run_in_thread

if TYPE_CHECKING:
    from runtime.events.event import Event

FREEZE_EVERY = 2_000  # live events between two calls of `gc.freeze`, which exempts them from garbage collection

TOGETHER_MS = 30  # an event of a long session waits for its state at most so long, so that rows and panes are painted once


@dataclass(slots=True)
class _Selected:
    """What is known about the selected event of a long session whose past was read."""

    session: OpenSession
    index: int
    compared: int | None
    event: Event | None = None
    past: Past | None = None
    computing: asyncio.Task[Any] | None = None


class CurrentSession(QObject):
    """The session that the cursor selects, and the state at its selected event.

    Attributes:
        session: the displayed session; None until it is loaded.

    Signals:
        session_loading(SessionAddress | None), session_loaded(OpenSession): the cursor's session is being read, or was read.
        session_failed(SessionAddress, Exception): the selected session could not be read.
        events_added(list[Event]): events were added to the displayed session.
        events_read(int, int): a range of a long session's events was read: first index, and end (exclusive).
        invocations_found(OpenSession), past_progress(int, int), past_read(OpenSession): more of a
            long session was read.
        state_computed(StateAtEvent | None): the state at the selected event is known.
        calls_recorded: calls were recorded outside the runs of this window, perhaps of the displayed session.

    Args:
        cursor: the selection.
        databases: where sessions are read from.
        catalog: receives summaries and pending items.
        tasks: runs the reading.
    """

    session_loading = Signal(object)
    session_loaded = Signal(object)
    session_failed = Signal(object, object)
    events_added = Signal(object)
    events_read = Signal(int, int)
    invocations_found = Signal(object)
    past_progress = Signal(int, int)
    past_read = Signal(object)
    state_computed = Signal(object)
    calls_recorded = Signal()

    def __init__(
        self, cursor: Cursor, databases: OpenDatabases, catalog: SessionCatalog, tasks: Tasks, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._cursor = cursor
        self._databases = databases
        self._catalog = catalog
        self._tasks = tasks
        self._arrived_while_loading: list[Committed] = []
        self._reads = 0  # of sessions, in progress
        self._unfrozen = 0  # live events since the last `gc.freeze`
        self._loading: asyncio.Task[Any] | None = None
        self._reading_on: asyncio.Task[Any] | None = None
        self._selected: _Selected | None = None
        self._event_alone = QTimer(self, singleShot=True)
        self._event_alone.timeout.connect(self._report_event_alone)
        self.session: OpenSession | None = None
        databases.before_full_scan(self._wait_until_read_on)
        databases.database_closed.connect(self._on_database_closed)
        databases.unfinished_found.connect(self._on_unfinished_found)
        cursor.session_changed.connect(self._on_session_changed)
        cursor.event_changed.connect(self._on_event_changed)
        cursor.compared_changed.connect(self._on_compared_changed)

    async def reload(self) -> None:
        """Read the selected session again."""
        if self._cursor.session is not None:
            await self.load_session(self._cursor.session)

    def close(self) -> None:
        """Release the displayed session."""
        self._release()

    async def load_session(self, address: SessionAddress, *, assume: bool = True) -> None:
        """Read a session and display it, if it is still selected by then.

        Args:
            address: the session.
            assume: display a long session before its events are counted.
        """
        source = self._databases.source(address.database)
        if source is None or self._cursor.session != address:  # else the session list would select it again
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
            history = await source.displayed_history(address.key)
            events = list(history.events)
            past = await run_in_thread(partial(invocations, events, ends=await source.ends(address.key)))
        except Exception as error:
            if self._cursor.session == address:
                self.session_failed.emit(address, error)
            return
        if self._cursor.session != address:
            return
        self._show(OpenSession(address, source, SessionEvents(events, on_request=self._on_page_requested), history, past))

    def _show(self, session: OpenSession) -> None:
        self._release()
        self.session = session
        session.append_missed(self._arrived_while_loading)
        self._arrived_while_loading.clear()
        LiveEventEvictor(session, self._tasks)
        if session.pages is None and session.events:
            self._catalog.set_pending(session.address, pending_of(session.invocations))
        self.session_loaded.emit(session)
        self._on_event_changed(self._cursor.event_index)

    async def _load_long(self, address: SessionAddress, source: Source, *, assume: bool) -> None:
        count = source.listed_count(address.key) if assume else None
        long = LongSession(source.target, address.key, count, assume=assume and count is None)
        events, groups = await long.open(self._on_page_requested)
        if self._cursor.session != address:
            long.close()
            return
        self._release()
        session = OpenSession(address, source, events, None, [], long, groups)
        self._show(session)
        self._reading_on = self._tasks.spawn(
            self._read_on(session, long), f"Reading the past of session {address.key.session_id}", background=True
        )

    async def _read_on(self, session: OpenSession, long: LongSession) -> None:
        """Read what takes longer while the session is displayed already; ends when another session is displayed."""
        try:
            await self._read_end(session, long)
            if await long.confirm():
                if self.session is session:
                    self._on_event_changed(self._cursor.event_index)
                await self._read_past(session, long)
        except StorageError:
            if not long.closed and await long.confirm():
                raise
        if not long.closed and not long.is_confirmed and self._cursor.session == session.address:
            await self.load_session(session.address, assume=False)

    async def _read_end(self, session: OpenSession, long: LongSession) -> None:
        latest = await long.latest_invocations()
        session.set_invocations(with_older(latest, session.source.unfinished.get(session.address.key, ())))
        if self.session is session:
            self._catalog.set_pending(session.address, pending_of(session.invocations))
            self.invocations_found.emit(session)

    async def _read_past(self, session: OpenSession, long: LongSession) -> None:
        groups = await long.groups()
        if self.session is session:
            gc.freeze()  # a long session has so many objects that collecting garbage among them would be felt
            session.set_groups(groups)
        await long.read_history(self.past_progress.emit)
        session.catch_up()
        if self.session is session:
            self.past_read.emit(session)
            self._on_event_changed(self._cursor.event_index)

    def _on_page_requested(self) -> None:
        session = self.session
        if session is not None and session.pages is not None:
            self._tasks.spawn(self._bring_pages(session, session.pages, _begin_page(session, session.pages)), "Reading events")

    async def _bring_pages(self, session: OpenSession, long: LongSession, reading: _ReadPage | None) -> None:
        while reading is not None:
            first, end, read = reading
            try:
                rows = await read
            except StorageError:
                if long.is_confirmed:
                    raise
                return  # the count is being checked; a wrong one has the session read again
            await self._wait_for_state(first, end)
            session.put(first, rows)
            self.events_read.emit(first, end)
            index = self._cursor.event_index
            if index is not None and first <= index < end:
                self._on_event_read(index)
            reading = _begin_page(session, long) if self.session is session else None

    async def _wait_for_state(self, first: int, end: int) -> None:
        """Wait for the state at the selected event, if that is in this range, for a moment."""
        selected = self._selected
        if selected is not None and first <= selected.index < end and selected.computing is not None:
            await asyncio.wait([selected.computing], timeout=TOGETHER_MS / 1000)

    def _on_event_read(self, index: int) -> None:
        selected = self._selected
        if selected is None or selected.index != index:
            self._on_event_changed(index)
        elif selected.event is None:
            selected.event = selected.session.events.cached(index)
            self._report(selected)

    def _release(self) -> None:
        self._forget_selected()
        if self.session is not None:
            self.session.close()
        self.session = None

    def add_committed(self, address: SessionAddress, batch: Sequence[Committed]) -> None:
        """Add events that were just committed, if their session is displayed."""
        if self._cursor.session != address:
            return
        if self._reads:  # what is being read may not contain these, and will replace what is displayed
            self._arrived_while_loading.extend(batch)
        if self.session is None:
            return
        self._unfrozen += len(batch)
        if self._unfrozen >= FREEZE_EVERY:
            self._unfrozen = 0
            # Events have no cycles and stay; each collection would walk over all of them.
            gc.collect(0)
            gc.freeze()
        added = self.session.append(batch)
        if added:
            self.events_added.emit(added)

    async def refresh_session(self, address: SessionAddress) -> None:
        """Update a session's summary, invocations and pending items after it was written to."""
        source = self._databases.source(address.database)
        if source is None:
            return
        session = self.session if self.session is not None and self.session.address == address else None
        if session is not None and session.pages is not None:
            await self._refresh_long(session)
            return
        events = session.events.in_memory if session else await source.events(address.key)
        past = await run_in_thread(partial(invocations, list(events), ends=await source.ends(address.key)))
        if session:
            session.set_invocations(past)
        updated = events[-1].timestamp if events else time.time()  # without events it was just created
        self._catalog.update_sessions(source.target, [SessionSummary(address.key, len(events), updated)])
        if events:
            self._catalog.set_pending(address, pending_of(past))

    async def refresh_invocations(self, address: SessionAddress) -> None:
        """Do the same as `refresh_session` after something other than a run wrote, and report the displayed session's invocations."""
        await self.refresh_session(address)
        if self.session is not None and self.session.address == address:
            self.invocations_found.emit(self.session)

    async def _refresh_long(self, session: OpenSession) -> None:
        """Update a long session from what was added since it was opened."""
        since, count = list(session.events.in_memory), len(session.events)
        if not since:
            return
        latest = await session.source.latest_invocations(session.address.key)
        if session.closed:
            return
        names = {entry.invocation_id for entry in latest}
        session.set_invocations([entry for entry in session.invocations if entry.invocation_id not in names] + latest)
        summary = SessionSummary(session.address.key, count, since[-1].timestamp)
        self._catalog.update_sessions(session.source.target, [summary])
        self._catalog.set_pending(session.address, pending_of(session.invocations))

    async def wait_until_loaded(self) -> None:
        """Wait until the selected session, or why it cannot be read, is displayed."""
        if self._loading is not None:
            await asyncio.wait([self._loading])

    def position_of(self, event_id: str) -> int | None:
        """Return an event's place in the displayed session."""
        return self.session.index_of(event_id) if self.session else None

    async def _wait_until_read_on(self) -> None:
        if self._reading_on is not None:
            await asyncio.wait([self._reading_on])

    def _on_database_closed(self, target: str) -> None:
        if self._cursor.session is not None and self._cursor.session.database == target:
            self._cursor.select_session(None)

    def _on_unfinished_found(self, source: Source, scanned: Set[SessionKey]) -> None:
        """Add to a long session's invocations those that only reading all its events finds."""
        session = self.session
        older = source.unfinished.get(session.address.key) if session is not None else None
        if session is None or older is None or session.source is not source or session.address.key in scanned:
            return
        session.set_invocations(with_older(session.invocations, older))
        self.invocations_found.emit(session)
        self._catalog.set_pending(session.address, pending_of(session.invocations))

    def _on_session_changed(self, address: SessionAddress | None) -> None:
        self._release()
        self.state_computed.emit(None)
        if address is None:
            self.session_loading.emit(None)
        else:
            self._loading = self._tasks.spawn(self.load_session(address), f"Reading session {address.key.session_id}")

    def _on_compared_changed(self, _index: int | None) -> None:
        self._on_event_changed(self._cursor.event_index)

    def _on_event_changed(self, index: int | None) -> None:
        self._forget_selected()
        session = self.session
        if session is None or index is None or not 0 <= index < len(session.events):
            self.state_computed.emit(None)
            return
        long = session.pages
        if session.history is None and long is not None and long.history is not None:
            selected = self._selected = _Selected(session, index, self._compared)
            past = long.past_at(index, session.events, selected.compared, lambda: self._selected is selected)
            selected.computing = self._tasks.spawn(self._take_past(selected, past), "Finding the state at an event")
            selected.event = session.events.cached(index)  # None: requested; it arrives in a moment
            self._report(selected)
        elif (event := session.events.cached(index)) is not None:
            self._report_read(session, index, event)

    def _report_read(self, session: OpenSession, index: int, event: Event) -> None:
        if session.history is not None:
            past = past_at(session.history, index, self._compared, session.events.__getitem__)
            self.state_computed.emit(StateAtEvent(index, event, past, self._compared))
            return
        self.state_computed.emit(StateAtEvent(index, event, session.past_before_reading(index, event), self._compared))
        if session.pages is not None and self._compared is None and index < session.events.stored_count:
            self._tasks.spawn(self._compute_recent(session, session.pages, index, event), "Finding the state at an event")

    def _forget_selected(self) -> None:
        self._selected = None
        self._event_alone.stop()

    def _report(self, selected: _Selected) -> None:
        """Report the selected event with its state; without it if it takes long."""
        if selected.event is None:
            return
        if selected.past is None:
            self._event_alone.start(TOGETHER_MS)
            return
        self._event_alone.stop()
        self.state_computed.emit(StateAtEvent(selected.index, selected.event, selected.past, selected.compared))

    def _report_event_alone(self) -> None:
        selected = self._selected
        if selected is not None and selected.event is not None:
            self.state_computed.emit(StateAtEvent(selected.index, selected.event, None))

    async def _compute_recent(self, session: OpenSession, long: LongSession, index: int, event: Event) -> None:
        """Report what the latest events before one tell about its state, then what the earlier ones do, until the past is read."""

        def is_wanted() -> bool:
            return self.session is session and self._cursor.event_index == index and self._compared is None and long.history is None

        with suppress(StorageError):  # reading the past reports it
            async with aclosing(long.recent_past(index, is_wanted)) as pasts:
                async for found in pasts:
                    if not is_wanted():
                        return
                    known = session.past_before_reading(index, event).state
                    self.state_computed.emit(StateAtEvent(index, event, found._replace(state=known or found.state)))

    @property
    def _compared(self) -> int | None:
        """The event that the selected one is compared with, if it still exists: a session that is read again may be shorter."""
        index = self._cursor.compared_index
        return index if index is not None and self.session is not None and index < len(self.session.events) else None

    async def _take_past(self, selected: _Selected, computing: Awaitable[Past | None]) -> None:
        past = await computing
        if past is not None and self._selected is selected:
            selected.past = past
            self._report(selected)


_ReadPage = tuple[int, int, Awaitable[list[Any]]]
"""The first place of a page, the place after its last, and its rows, which are being read."""


def _begin_page(session: OpenSession, long: LongSession) -> _ReadPage | None:
    wanted = session.events.next_requested_page()
    return (*wanted, long.rows(*wanted)) if wanted is not None else None
