"""A stored session that is too long to read at once: two worker threads read its pages and its past, and scan it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from inspector_app.documents.event_filter import EventFilter
from inspector_app.documents.invocation_groups import InvocationGroups
from inspector_app.documents.past_at_event import Past, past_at
from inspector_app.documents.session_events import PAGE, SessionEvents
from inspector_app.presentation.event_summary import is_failure
from inspector_app.support.data_folder import cache_folder
from inspector_app.support.worker import Worker
from runtime.errors.storage_error import StorageError
from runtime.history.invocations import Invocation, invocations, with_past
from runtime.history.last_writes import LastWrites, recent_state
from runtime.history.scoped_state import ScopedState
from runtime.history.state_at import History
from runtime.sessions.recorded_end import RecordedEnd
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import Change, scope_of
from runtime.storage.connections.database_url import named_file
from runtime.storage.reading.event_pages import EventPages, Found, SavedFiles, containing
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.reading.saved_scan import SavedScan

if TYPE_CHECKING:
    from runtime.events.event import Event

LONG = 2_000  # events above which a session is not read whole
TAIL = 1_000  # events at the end that are scanned for pending items
WORTH_SAVING = 20_000  # events above which what a scan found is saved for the next time
RECENT = 100_000  # events before a selected one that are read for its state, while the past is not read; 0.3 s

# Events that a scan reads in one job, so that page reads come between: in its first job, in later ones, and if it decodes each event.
FIRST_CHUNK, CHUNK, DECODED_CHUNK = 10_000, 20_000, 1_000


class LongSession:
    """A session read on two connections, so that displayed pages do not wait for background scans.

    Attributes:
        history: the session's history; None until it is read.
        present: the state after the last stored event, which is known before `history`; None if it is not.
        closed: whether the session was closed, which ends the scans.

    Args:
        target: the database.
        key: the session.
        count: the number of events it was listed with.
        assume: without a count, display the session before its events are counted; see `EventPages` and `confirm`.
    """

    def __init__(self, target: str, key: SessionKey, count: int | None = None, *, assume: bool = False) -> None:
        self._target = target
        self._key = key
        self._count = count
        self._assume = assume
        self._confirmed = not assume
        self._front = Worker(f"reader of {key.session_id}")
        self._back = Worker(f"past of {key.session_id}")
        self._databases: list[StoredDatabase] = []
        self._pages: EventPages | None = None
        self._pages_behind: EventPages | None = None
        self.history: History | None = None
        self.present: ScopedState | None = None
        self.closed = False
        file = named_file(target)
        self._failures = SavedScan(cache_folder(target) / "failures", file, key) if file is not None else None
        self._newest: tuple[dict[str, Any], LastWrites] | None = None  # the merged state, and the last writes of its keys

    async def open(self, on_request: Callable[[], None]) -> tuple[SessionEvents, InvocationGroups]:
        """Return the session's events, with the last pages cached, and the groups known so far.

        Args:
            on_request: see `SessionEvents`.
        """
        return await self._front.call(self._open, on_request)

    def _open(self, on_request: Callable[[], None]) -> tuple[SessionEvents, InvocationGroups]:
        database = self._connect()
        try:
            return self._show_end(database.pages(self._key, self._count, assume=self._assume), on_request)
        except StorageError:
            if not self._assume:
                raise
        # Row numbers are missing or belong to another session: the events have to be counted first.
        self._assume, self._confirmed = False, True
        return self._show_end(database.pages(self._key), on_request)

    def _show_end(self, pages: EventPages, on_request: Callable[[], None]) -> tuple[SessionEvents, InvocationGroups]:
        self._pages = pages
        self._confirmed = not pages.is_assumed
        with suppress(StorageError):  # reading the past reports it
            self.present = self._databases[0].state_after(self._key, pages)
        count = len(pages)
        events = SessionEvents(stored_count=count, decode=pages.read_plain, on_request=on_request)
        last_page = (count - 1) // PAGE * PAGE
        for first in (max(last_page - PAGE, 0), last_page):
            events.store_page(first, pages.rows(first, first + PAGE))
        known = max(count - TAIL, 0)
        return events, InvocationGroups(pages.invocations(known, count), count, unread=known)

    def _connect(self) -> StoredDatabase:
        database = StoredDatabase.open(self._target)
        self._databases.append(database)
        return database

    @property
    def is_confirmed(self) -> bool:
        """Whether the number of events is known and not only assumed."""
        return self._confirmed

    async def confirm(self) -> bool:
        """Count the events unless that is done, and return whether they are the assumed ones."""
        if not self._confirmed:
            self._confirmed = await self._back.call(self._is_as_assumed)
        return self._confirmed

    def _is_as_assumed(self) -> bool:
        assert self._pages is not None
        return self._databases[-1].pages(self._key).begins_with(self._pages)

    async def open_beside(self) -> None:
        """Open the database of a displayed session whose events are all in memory; see `evict`."""
        self._pages = await self._front.call(self._open_empty)
        self._pages_behind = await self._back.call(self._open_empty)

    def _open_empty(self) -> EventPages:
        pages = self._connect().pages(self._key)
        pages.clear()
        return pages

    async def following(self, most: int) -> list[tuple[int, str]]:
        """Return the row numbers and ids of at most `most` stored events after the paged ones."""
        assert self._pages is not None
        return await self._front.call(self._pages.following, most)

    def evict(self, row_ids: Sequence[int], history: History, events: SessionEvents) -> None:
        """Evict the first events in memory; they are read from the database from now on.

        Args:
            row_ids: their row numbers, from `following`.
            history: the session's history.
            events: the session's events.
        """
        pages, behind = self._pages, self._pages_behind
        assert pages is not None and behind is not None
        pages.grow(row_ids)
        if len(pages) >= len(behind):  # it was opened a moment later and may have more
            behind.take_from(pages)
        history.hand_over(len(pages), behind)
        events.evict(len(row_ids), pages.read_plain)
        self.history = history

    def rows(self, first: int, end: int) -> Awaitable[list[Any]]:
        """Begin to read the stored rows from place `first` to before `end`."""
        assert self._pages is not None
        return self._front.begin(self._pages.rows, first, end)

    async def first_events(self, count: int) -> list[Event]:
        """Return the first stored events."""
        return await self._front.call(self._first_events, count)

    def _first_events(self, count: int) -> list[Event]:
        pages = self._pages
        assert pages is not None
        return [pages.read_plain(row) for row in pages.rows(0, count)]

    async def index_of(self, event_id: str) -> int | None:
        """Return the place of a stored event, None if there is no such event."""
        assert self._pages is not None
        return await self._front.call(self._pages.index_of, event_id)

    async def filter(self, wanted: EventFilter) -> AsyncGenerator[tuple[list[int], float], None]:
        """Find the stored events that pass a filter.

        Args:
            wanted: the filter.

        Yields:
            The places found since the last time, ascending, and the scanned part, from 0 to 1.
        """
        pages = self._pages
        assert pages is not None
        candidates = wanted.candidates
        chunk = FIRST_CHUNK
        first = 0
        while first < len(pages) and not self.closed:
            end = min(first + (chunk if candidates else DECODED_CHUNK), len(pages))
            yield await self._front.call(_find, pages, wanted, candidates, first, end), end / len(pages)
            first, chunk = end, CHUNK

    async def find_calls(self, ids: set[str], first: int, end: int, *, calls: bool) -> list[int]:
        """Return the places from `first` to before `end` whose events have a call (a response if not `calls`) with one of these ids."""
        pages = self._pages
        assert pages is not None
        return await self._front.call(_find_calls, pages, ids, first, min(end, len(pages)), calls)

    async def find_failures(self) -> AsyncGenerator[list[int], None]:
        """Find the stored events that report a failure, in the background; yield their places, ascending.

        What was found is saved, so that the next time only new events are read.
        """
        pages = self._pages_behind
        assert pages is not None
        found, known = await self._back.call(pages.load_scan, self._failures) if self._failures is not None else ([], 0)
        found = [place for place in found if type(place) is int]
        yield list(found)
        count = len(pages)
        for first in range(known, count, CHUNK):
            if self.closed:
                return
            more = await self._back.call(_find_failures, pages, first, min(first + CHUNK, count))
            found += more
            yield more
        if self._failures is not None and count - known > WORTH_SAVING and not self.closed:
            await self._back.call(pages.save_scan, self._failures, count, found)

    async def find_files(self, first: int, last: int) -> AsyncGenerator[tuple[list[SavedFiles], int], None]:
        """Find the stored events that name files; yield those found and the place up to which events were scanned.

        Args:
            first: the first place to scan.
            last: the place after the last.
        """
        pages = self._pages
        assert pages is not None
        while first < last and not self.closed:
            end = min(first + CHUNK, last)
            yield await self._front.call(pages.files, first, end), end
            first = end

    async def latest_invocations(self) -> list[Invocation]:
        """Return the invocations of the last events."""
        return await self._back.call(self._latest_invocations)

    def _latest_invocations(self) -> list[Invocation]:
        database = self._connect()
        self._pages_behind = database.pages(self._key, self._count, assume=self._assume)
        return latest_invocations(self._pages_behind, database.recorded_ends(self._key).get(self._key, {}))

    async def groups(self) -> InvocationGroups:
        """Return the groups of all stored events."""
        pages = self._pages_behind
        assert self._pages is not None and pages is not None
        count = len(self._pages)  # `pages` was read later and may have events that the document has in memory
        starts: list[tuple[int, str]] = []
        for first in range(0, count, CHUNK):
            if self.closed:
                break
            found = await self._back.call(pages.invocations, first, min(first + CHUNK, count))
            starts += found[1:] if starts and found and starts[-1][1] == found[0][1] else found
        return await self._back.call(InvocationGroups, starts, count)

    async def read_history(self, progress: Callable[[int, int], None]) -> None:
        """Read the events' state deltas into `history`.

        Args:
            progress: called with the number of events read and of all.
        """
        history = await self._back.call(self._open_past)
        while not history.is_read and not self.closed:
            await self._back.call(history.read_on)
            progress(history.read_count, len(history))
        self.history = history

    def _open_past(self) -> History:
        assert self._pages_behind is not None
        return self._databases[-1].long_history(self._key, self._pages_behind)

    def past_at(
        self, index: int, events: SessionEvents, compared: int | None = None, is_wanted: Callable[[], bool] = lambda: True
    ) -> Awaitable[Past | None]:
        """Begin to compute what the state panes show for an event; the past must have been read.

        Args:
            index: the event's place.
            events: the session's events.
            compared: place of the event to compare the state with; None for the event before.
            is_wanted: asked on the worker thread; if not, the result is None.
        """
        assert self.history is not None
        since = events.in_memory
        return self._back.begin(self._past_at, self.history, index, since, len(events) - len(since), compared, is_wanted)

    def _past_at(
        self,
        history: History,
        index: int,
        since: Sequence[Event],
        first: int,
        compared: int | None,
        is_wanted: Callable[[], bool],
    ) -> Past | None:
        if not is_wanted():
            return None
        pages = self._pages_behind
        assert pages is not None

        def event_at(place: int) -> Event:
            return pages.read_plain(pages.rows(place, place + 1)[0]) if place < first else since[place - first]

        return past_at(history, index, compared, event_at)

    async def recent_past(self, index: int, is_wanted: Callable[[], bool]) -> AsyncGenerator[Past, None]:
        """Find out about a stored event while the past is being read, from the `RECENT` events before it, then from all.

        See `recent_state`.

        Args:
            index: the event's place.
            is_wanted: asked now and then whether to continue.

        Yields:
            What is known about the event; nothing if the events are not counted yet.
        """
        pages = self._pages_behind
        if pages is None or not self._confirmed:
            return
        if self._newest is None:
            present = await self._back.call(self._databases[-1].state, self._key)
            self._newest = present, LastWrites(pages, len(pages) - 1)
        before = LastWrites(pages, index - 1)
        yield await self._back.call(self._recent_past, index, before, RECENT)
        most = RECENT
        while most < len(pages) and not self._is_known(before):
            most += CHUNK
            found = await self._back.call(self._recent_past, index, before, most)
            if self.closed or not is_wanted():
                return
            if most >= len(pages) or self._is_known(before):
                yield found

    def _recent_past(self, index: int, before: LastWrites, most: int) -> Past:
        pages = self._pages_behind
        assert pages is not None and self._newest is not None
        present, newest = self._newest
        for writes in (newest, before):
            writes.read_back(_own(present), most, self._is_closed)
        delta = pages.read(index, index + 1)[0].delta
        known = recent_state(present, newest, before).session
        changes = [Change(key, known.get(key), value, "changed" if key in known else "written") for key, value in delta.items()]
        return Past(recent_state(present, newest, before.followed_by(delta)), changes, {}, set(), is_read=False)

    def _is_known(self, before: LastWrites) -> bool:
        """Return whether reading more cannot find the last write of another key."""
        assert self._newest is not None
        present, newest = self._newest
        return all(writes.begin == 0 or writes.values.keys() >= set(_own(present)) for writes in (before, newest))

    def _is_closed(self) -> bool:
        return self.closed

    def close(self) -> None:
        """Cancel reads in progress and close the connections."""
        self.closed = True
        databases = list(self._databases)
        for database in databases:
            database.stop()
        self._front.close(databases[0].close if databases else None)
        self._back.close(databases[1].close if len(databases) > 1 else None)


def _own(state: Iterable[str]) -> list[str]:
    return [key for key in state if scope_of(key) == "session"]


def latest_invocations(pages: EventPages, ends: Mapping[str, RecordedEnd]) -> list[Invocation]:
    """Return the invocations of a long session's last events.

    Args:
        pages: its events.
        ends: recorded ends by invocation id.
    """
    first = max(len(pages) - TAIL, 0)
    starts = pages.invocations(first, len(pages))
    # The first invocation may have begun before.
    first = starts[1][0] if len(starts) > 1 and first else first
    return invocations([pages.read_plain(row) for row in pages.rows(first, len(pages))], ends=ends)


def with_older(latest: Sequence[Invocation], older: Sequence[Invocation]) -> list[Invocation]:
    """Return the invocations of a session's last events, and those before them.

    Args:
        latest: computed from the last events alone.
        older: computed earlier from all events. It has priority for an invocation without newer events, whose first events may be missing
            from the last ones.
    """
    whole = {(entry.invocation_id, entry.last_event_id): entry for entry in older}
    names = {entry.invocation_id for entry in latest}
    before = [entry for entry in older if entry.invocation_id not in names]
    return with_past(before + [whole.get((entry.invocation_id, entry.last_event_id), entry) for entry in latest])


def _find(pages: EventPages, wanted: EventFilter, candidates: Found | None, first: int, end: int) -> list[int]:
    if candidates is None:
        return [place for place, row in enumerate(pages.rows(first, end), first) if wanted.matches(pages.read_plain(row))]
    if wanted.candidates_pass:
        return pages.find(candidates, first, end)
    return [place for place, row in pages.rows_with(candidates, first, end) if wanted.matches(pages.read_plain(row))]


def _find_calls(pages: EventPages, ids: set[str], first: int, end: int, calls: bool) -> list[int]:
    found = []
    for place, row in pages.rows_with(containing([[json.dumps(name)[1:-1] for name in ids]]), first, end):
        event = pages.read_plain(row)
        halves = event.get_function_calls() if calls else event.get_function_responses()
        if any(half.id in ids for half in halves):
            found.append(place)
    return found


def _find_failures(pages: EventPages, first: int, end: int) -> list[int]:
    return [place for place, row in pages.rows_with(containing([['"error']]), first, end) if is_failure(pages.read_plain(row))]
