"""Databases and sessions: opens and reads them off the GUI thread, and keeps the open session's past up to date while it runs."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QObject, Signal

from inspector_app.controllers.sources import DatabaseSource, MemorySource, Source
from inspector_app.cursor import Cursor, SessionAddress
from inspector_app.tasks import Tasks
from runtime.events.event import Event
from runtime.history.invocations import Invocation, PendingItem, invocations
from runtime.history.state_at import History, ScopedState
from runtime.sessions.session import SessionKey
from runtime.sessions.state import Change
from runtime.sessions.stored.reader import SessionSummary
from runtime.worker_threads import run_in_thread

MAX_SCANNED = 2_000
"""Sessions of one database that are looked through for pending work, newest first."""

MAX_TRIED, MAX_TRIED_EVENTS = 20, 2_000
"""Bounds on looking for the session that is shown first: opening a database must feel immediate."""


@dataclass(frozen=True, slots=True)
class Committed:
    """An event as it was committed, with the `temp:` keys it set (they are no part of the stored event)."""

    event: Event
    temp: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StateAtEvent:
    """What the state panes show: the state after one event, and what that event changed."""

    index: int
    event: Event
    state: ScopedState
    changes: list[Change]


@dataclass(slots=True)
class OpenSession:
    """The session on show.

    Attributes:
        address, source: which, and where it is kept.
        events: in commit order.
        history: its past, for the state at any event.
        invocations: as its events tell them; those of a running invocation are brought up to date when it ends.
    """

    address: SessionAddress
    source: Source
    events: list[Event]
    history: History
    invocations: list[Invocation]
    _places: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._places = {event.id: index for index, event in enumerate(self.events)}

    def index_of(self, event_id: str) -> int | None:
        """Return an event's place in commit order."""
        return self._places.get(event_id)

    def append(self, committed: Committed) -> bool:
        """Add an event unless it is there already (it may have been read from the database first)."""
        if committed.event.id in self._places:
            return False
        self._places[committed.event.id] = len(self.events)
        self.events.append(committed.event)
        self.history.append(committed.event, committed.temp)
        return True


class BrowseController(QObject):
    """What is open, and what is on show.

    Attributes:
        session: the session on show, once it is loaded.

    Signals:
        database_listed(Source, list[SessionSummary]): a database was opened, or listed again.
        database_failed(str, Exception): it could not be opened.
        database_closed(str): its target.
        session_changed_in_list(Source, SessionSummary): one session is new, or longer.
        pending_found(SessionAddress, list[PendingItem]): what waits for a person there (nothing, too).
        session_loading(SessionAddress | None), session_loaded(OpenSession), session_failed(SessionAddress, Exception): what becomes of the
            cursor's session.
        events_added(list[Event]): the session on show grew.
        state_computed(StateAtEvent | None): for the cursor's event.
    """

    database_listed = Signal(object, list)
    database_failed = Signal(str, object)
    database_closed = Signal(str)
    session_changed_in_list = Signal(object, object)
    pending_found = Signal(object, list)
    session_loading = Signal(object)
    session_loaded = Signal(object)
    session_failed = Signal(object, object)
    events_added = Signal(list)
    state_computed = Signal(object)

    def __init__(self, cursor: Cursor, tasks: Tasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._cursor = cursor
        self._tasks = tasks
        self._sources: dict[str, Source] = {}
        self._arrived_while_loading: list[Committed] = []
        self._loading: asyncio.Task[Any] | None = None
        self.session: OpenSession | None = None
        cursor.session_changed.connect(self._on_session_changed)
        cursor.event_changed.connect(self._on_event_changed)

    @property
    def sources(self) -> list[Source]:
        """Everything that is open, in the order it was opened."""
        return list(self._sources.values())

    def source(self, target: str) -> Source | None:
        """Return what was opened as `target`."""
        return self._sources.get(target)

    async def open_database(self, target: str) -> Source | None:
        """Open a database, or list it again if it is open; None if that failed (it is reported)."""
        source = self._sources.get(target)
        try:
            if source is None:
                source = await DatabaseSource.open(target)
                self._sources[target] = source
            sessions = await source.sessions()
        except Exception as error:
            self.database_failed.emit(target, error)
            return None
        self.database_listed.emit(source, sessions)
        self._tasks.spawn(self._scan(source, sessions), f"Looking for pending work in {source.title}")
        return source

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
        if source is None:
            return
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
        sources, self._sources = self.sources, {}
        for source in sources:
            await source.close()

    async def load_session(self, address: SessionAddress) -> None:
        """Read a session and show it, if it is still the selected one by then."""
        source = self._sources.get(address.database)
        if source is None:
            return
        self._arrived_while_loading.clear()
        self.session_loading.emit(address)
        try:
            history = await source.history(address.key)
            events = list(history.events)
            past = await run_in_thread(invocations, events)
        except Exception as error:
            if self._cursor.session == address:
                self.session_failed.emit(address, error)
            return
        if self._cursor.session != address:
            return
        self.session = session = OpenSession(address, source, events, history, past)
        for committed in self._arrived_while_loading:
            session.append(committed)
        self._arrived_while_loading.clear()
        if events:
            self.pending_found.emit(address, _pending(past))
        self.session_loaded.emit(session)
        self._on_event_changed(self._cursor.event_index)

    def add_committed(self, address: SessionAddress, batch: Sequence[Committed]) -> None:
        """Take in events that a run has just committed."""
        if self._cursor.session != address:
            return
        if self.session is None:
            self._arrived_while_loading.extend(batch)
            return
        added = [committed.event for committed in batch if self.session.append(committed)]
        if added:
            self.events_added.emit(added)

    async def refresh_session(self, address: SessionAddress) -> None:
        """Look again at a session that has just been written to: its length, its invocations, what waits in it."""
        source = self._sources.get(address.database)
        if source is None:
            return
        session = self.session if self.session is not None and self.session.address == address else None
        events = session.events if session else await source.events(address.key)
        past = await run_in_thread(invocations, list(events))
        if session:
            session.invocations = past
        updated = events[-1].timestamp if events else time.time()  # without events it has just been made
        self.session_changed_in_list.emit(source, SessionSummary(address.key, len(events), updated))
        if events:
            self.pending_found.emit(address, _pending(past))

    async def most_interesting(self, source: Source) -> SessionKey | None:
        """Return the session to show first: the newest one in which something waits, else the newest one."""
        newest_first = sorted(await source.sessions(), key=lambda summary: summary.last_update_time, reverse=True)
        for summary in newest_first[:MAX_TRIED]:
            if summary.event_count > MAX_TRIED_EVENTS:
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

    async def _scan(self, source: Source, sessions: Sequence[SessionSummary]) -> None:
        """Find what waits in a database's sessions, on a second connection: a click must not wait for this."""
        newest_first = sorted(sessions, key=lambda summary: summary.last_update_time, reverse=True)[:MAX_SCANNED]
        scanner = await DatabaseSource.open(source.target)
        try:
            for summary in newest_first:
                if source.target not in self._sources:
                    return
                if not summary.event_count:
                    continue
                # One session that cannot be read is said when it is selected; the others are looked through all the same.
                with contextlib.suppress(Exception):
                    items = await scanner.pending(summary.key)
                    self.pending_found.emit(SessionAddress(source.target, summary.key), items)
        finally:
            await scanner.close()

    def _on_session_changed(self, address: SessionAddress | None) -> None:
        self.session = None
        self.state_computed.emit(None)
        if address is None:
            self.session_loading.emit(None)
        else:
            self._loading = self._tasks.spawn(self.load_session(address), f"Reading session {address.key.session_id}")

    def _on_event_changed(self, index: int | None) -> None:
        session = self.session
        if session is None or index is None or not 0 <= index < len(session.events):
            self.state_computed.emit(None)
            return
        event = session.events[index]
        self.state_computed.emit(StateAtEvent(index, event, session.history.state_at(index), session.history.delta_at(index)))


def _pending(past: Sequence[Invocation]) -> list[PendingItem]:
    return [item for invocation in past for item in invocation.pending]
