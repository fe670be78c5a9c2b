"""Read access to a session database written by any ADK version."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from runtime.errors.not_found_error import SessionNotFoundError
from runtime.errors.storage_error import EmptyDatabaseError, NotASessionDatabaseError, StorageError
from runtime.history.invocations import BROKEN, Invocation, PendingItem, invocations
from runtime.history.key_writers import Write, writes_of
from runtime.history.scoped_state import ScopedState
from runtime.history.state_at import History
from runtime.sessions.lineage import Lineage
from runtime.sessions.note import NAME, Note
from runtime.sessions.recorded_end import RecordedEnd
from runtime.sessions.session_key import SessionKey
from runtime.sessions.state import merge_scopes, scope_of
from runtime.storage.connections.database_url import database_url, named_file
from runtime.storage.connections.file_kind import not_sqlite
from runtime.storage.connections.sqlite_file import SqliteFile
from runtime.storage.langgraph.channel_sizes import ChannelSize
from runtime.storage.langgraph.checkpoint_file import CheckpointFile
from runtime.storage.layouts.column_values import as_name, epoch, read_state, to_epoch
from runtime.storage.layouts.detect import Layout, layout_of_file
from runtime.storage.layouts.event_format import EventRow
from runtime.storage.layouts.json_formats import JSON_COLUMNS, LANGGRAPH, V1
from runtime.storage.layouts.local_times import offset_text
from runtime.storage.layouts.read_time_limit import one_read
from runtime.storage.layouts.table_names import INVOCATIONS, OF_SESSION
from runtime.storage.reading.checkpoint_server import CheckpointServer
from runtime.storage.reading.copied_events import CopiedEvents, Readable
from runtime.storage.reading.event_pages import EventPages, Found
from runtime.storage.reading.event_rows import EventRows, ReadingConnection, no_event, read_offset
from runtime.storage.reading.notes import has_notes, read_notes, server_has_notes
from runtime.storage.reading.pending_rows import PendingRows
from runtime.storage.reading.present_state import state_after
from runtime.storage.reading.row_faults import RowFault, RowTime, row_faults, row_times
from runtime.storage.reading.saved_scan import SavedScan
from runtime.storage.reading.server_database import ServerDatabase, ServerRows
from runtime.storage.reading.session_history import read_first_state, read_history, read_lineages, read_long_history
from runtime.storage.reading.session_titles import StoredTitles
from runtime.storage.reading.shared_state import SharedScope, SharedState, shared_scopes, shared_state
from runtime.storage.reading.shared_writes import read_shared_commits, shared_writes
from runtime.support.file_names import unusable_name

if TYPE_CHECKING:
    from runtime.events.event import Event


T = TypeVar("T")
_SESSION = "app_name = ? AND user_id = ? AND id = ?"

_FIRST_PAGE, _PAGE = 50, 2_000  # rows read at once: the first ones are shown at once
_SEARCHED = 20_000  # rows that SQLite searches at once
MANY_EVENTS = 20_000  # in a database; counting more events takes too long for a list of sessions


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session in a list.

    Attributes:
        key: the session.
        event_count: number of its events, or None if they were not counted.
        last_update_time: epoch seconds.
    """

    key: SessionKey
    event_count: int | None
    last_update_time: float


class StoredDatabase:
    """A reader of a session database in any layout of google-adk and of the ADKs for other languages.

    It does not change the database and leaves no file behind. Only one thread at a time may use it.
    """

    def __init__(self, file: SqliteFile | ServerDatabase | CheckpointServer, layout: Layout) -> None:
        self._file: Readable = file
        self.layout = layout
        self._is_file = not isinstance(file, ServerDatabase)  # or tables in memory, which are read like one
        self._rows = EventRows(layout) if self._is_file else ServerRows(layout)

    @classmethod
    def open(cls, target: str) -> StoredDatabase:
        """Open a database.

        Args:
            target: a file path or an SQLAlchemy URL.

        Raises:
            NotASessionDatabaseError: the target is not a session database; the message says what it seems to be.
            StorageError: the database cannot be read.
        """
        file = named_file(target)
        if file is not None:
            return cls._open_file(file, target if "://" not in target else str(file))
        url = database_url(target)
        if url.get_backend_name() == "sqlite":
            raise StorageError(f"{url.render_as_string()} is not a database file; sessions are read from SQLite files.")
        server = ServerDatabase(url)
        layout = server.layout()
        return cls(CheckpointServer(server, url.database or "langgraph") if layout.format is LANGGRAPH else server, layout)

    @classmethod
    def _open_file(cls, path: Path, name: str) -> StoredDatabase:
        if reason := unusable_name(path):
            raise StorageError(f"{name} {reason}.")
        if path.is_dir():
            raise NotASessionDatabaseError(f"{name} is a folder, not a database.")
        if path.exists() and not path.is_file():
            raise NotASessionDatabaseError(f"{name} is not a regular file, so it cannot be a database.")
        if path.exists() and path.stat().st_size == 0:
            raise EmptyDatabaseError(f"{name} is an empty file: it holds no sessions.")
        if path.exists() and (kind := _not_sqlite(path)):
            raise NotASessionDatabaseError(f"{name} {kind}; it has no sessions that can be read.")
        file = SqliteFile(path, name=name)
        try:
            layout = file.read(lambda connection: _layout(connection, name))
            if layout.format is LANGGRAPH:
                file.close()
                file = CheckpointFile(path, name)
            return cls(file, layout)
        except BaseException:
            file.close()
            raise

    def sessions(self) -> list[SessionSummary]:
        """Return all sessions, sorted by app, user and id, with their numbers of events."""
        return self._file.read(self.sessions_in)

    def listing(self) -> list[SessionSummary]:
        """Return all sessions as `sessions` does, but without counts if there are many events, where counting reads the whole table."""
        return self._file.read(self.listing_in)

    def listing_in(self, connection: ReadingConnection) -> list[SessionSummary]:
        """Return all sessions as `listing` does, in the current transaction."""
        if self._is_file:
            lowest, highest = connection.execute("SELECT (SELECT min(rowid) FROM events), (SELECT max(rowid) FROM events)").fetchone()
            few = lowest is None or highest - lowest < MANY_EVENTS
        else:
            # Ordered, so that the index is read and not the table.
            few = not connection.execute("SELECT 1 FROM events ORDER BY id OFFSET ? LIMIT 1", (MANY_EVENTS,)).fetchall()
        return self.sessions_in(connection) if few else _summaries(connection, None)

    def sessions_in(self, connection: ReadingConnection) -> list[SessionSummary]:
        """Return all sessions as `sessions` does, in the current transaction."""
        counts = {
            SessionKey(*map(as_name, key)): count
            for *key, count in connection.execute(
                "SELECT app_name, user_id, session_id, count(*) FROM events GROUP BY app_name, user_id, session_id"
            )
        }
        return _summaries(connection, counts)

    @one_read()
    def titles(self, keys: Iterable[SessionKey] | None = None, names: Mapping[SessionKey, str] | None = None) -> dict[SessionKey, str]:
        """Return the titles of sessions, see `session_title`. A session that does not exist has none.

        Args:
            keys: the sessions; None: all, read in many short transactions.
            names: the names that the user gave; None: those in the database itself.
        """
        given = {key: named.text for key, notes in self.notes().items() if (named := notes.get(NAME))} if names is None else names
        return self._titles.read(keys, given)

    @cached_property
    def _titles(self) -> StoredTitles:
        return StoredTitles(self._file, self.layout, self._rows, self.plain_events, is_file=self._is_file)

    @one_read()
    def events(self, key: SessionKey, *, after: str | None = None, limit: int | None = None) -> list[Event]:
        """Return a session's events in commit order.

        Args:
            key: the session.
            after: return only the events after the one with this id.
            limit: maximum number of events.

        Raises:
            SessionNotFoundError: the session does not exist.
            NotFoundError: the session has no event `after`.
        """

        def read(connection: ReadingConnection) -> tuple[list[Sequence[Any]], Callable[[Sequence[Any]], Event]]:
            _stored_state(connection, key)
            return self._rows.read(connection, key, after, limit), self._rows.decoder(connection)

        rows, decode = self._file.read(read)
        return [decode(row) for row in rows]

    def plain_events(self, key: SessionKey, *, after: str | None = None, limit: int | None = None) -> Iterator[Event]:
        """Yield a session's events in commit order, read page by page, for code that only reads: most are `PlainEvent`s.

        Arguments and exceptions are those of `events`.
        """
        if self.layout.format.reader is None or not self._is_file:
            yield from self.events(key, after=after, limit=limit)
            return
        self._file.read(lambda connection: _stored_state(connection, key))
        numbers = self._file.read(lambda connection: self._rows.numbers(connection, key, after))[:limit]
        read_row = self._file.read(self._rows.reader)
        first, end = 0, _FIRST_PAGE
        while first < len(numbers):
            page = numbers[first:end]
            yield from map(read_row, self._file.read(lambda connection: self._rows.numbered(connection, page)))  # noqa: B023 - called at once
            first, end = end, end + _PAGE

    def matching(
        self,
        key: SessionKey,
        matches: Callable[[Event], bool],
        candidates: Found | None,
        *,
        after: str | None = None,
        progress: Callable[[int], object] = lambda _: None,
    ) -> Iterator[Event]:
        """Yield the events that match a condition, in commit order, as `plain_events` does.

        Args:
            key: the session.
            matches: the condition.
            candidates: what the row of each of these events meets, see `prefilter`; None if that may be every row.
            after: return only events after the one with this id.
            progress: called now and then with the number of events read so far.

        Raises:
            SessionNotFoundError: the session does not exist.
            NotFoundError: the session has no event `after`.
        """
        if candidates is None or not self._has_json:
            for number, event in enumerate(self.plain_events(key, after=after)):
                if number % _FIRST_PAGE == 0:
                    progress(number)
                if matches(event):
                    yield event
            return
        pages = self.pages(key)
        place = pages.index_of(after) if after is not None else -1
        if place is None:
            raise no_event(key, after or "")
        for first in range(place + 1, len(pages), _SEARCHED):
            progress(first)
            found = pages.rows_with(candidates, first, first + _SEARCHED)
            yield from filter(matches, (pages.read_plain(row) for _, row in found))

    def newest_events(self, key: SessionKey, count: int) -> list[Event]:
        """Return a session's newest events, the oldest first.

        Raises:
            SessionNotFoundError: the session does not exist.
        """

        def read(connection: ReadingConnection) -> list[Event]:
            _stored_state(connection, key)
            rows = self._rows.newest(connection, key, count)
            return [*map(self._rows.reader(connection), rows)]

        return self._file.read(read)

    def ids_beginning(self, key: SessionKey, beginning: str) -> list[str]:
        """Return the ids of a session's events that begin like this; a whole id does, too."""
        query = f"SELECT DISTINCT id FROM events WHERE {OF_SESSION} AND substr(id, 1, ?) = ?"
        rows = self._file.read(lambda connection: connection.execute(query, (*key, len(beginning), beginning)).fetchall())
        return [str(name) for (name,) in rows]

    def state(self, key: SessionKey) -> dict[str, Any]:
        """Return a session's current merged state.

        Raises:
            SessionNotFoundError: the session does not exist.
        """

        return self._file.read(lambda connection: _merged_state(connection, key))

    def shared_scopes(self) -> list[SharedScope]:
        """Return the apps and users that have state, each app before its users."""
        return self._file.read(shared_scopes)

    def shared_state(self, scope: SharedScope) -> SharedState:
        """Return the current state of an app or a user; it need not have sessions.

        Raises:
            StorageError: the state is damaged.
        """
        return self._file.read(lambda connection: shared_state(connection, scope))

    def created(self, key: SessionKey) -> float:
        """Return a session's creation time in epoch seconds, or 0.0 if it cannot be read.

        Raises:
            SessionNotFoundError: the session does not exist.
        """

        def read(connection: ReadingConnection) -> float:
            _stored_state(connection, key)
            return epoch(connection.execute(f"SELECT create_time FROM sessions WHERE {_SESSION}", key).fetchone()[0])

        return self._file.read(read)

    def first_state(self, key: SessionKey) -> dict[str, Any] | None:
        """Return a session's own first state; None if it was not recorded, as in databases of other programs."""
        return self._file.read(lambda connection: read_first_state(connection, key)) if self.layout.ours else None

    def lineages(self) -> dict[SessionKey, Lineage]:
        """Return the origin of each fork in this database."""
        return self._file.read(read_lineages) if self.layout.ours or self.layout.format is LANGGRAPH else {}

    @one_read()
    def history(self, key: SessionKey, *, plain: bool = False) -> History:
        """Return a session's history: its events, and its state after each of them as far as it is known.

        Args:
            key: the session.
            plain: for code that only reads: most of its events are `PlainEvent`s.

        Raises:
            SessionNotFoundError: the session does not exist.
        """

        def read(connection: ReadingConnection) -> History:
            state = _merged_state(connection, key)
            decode = self._rows.reader(connection) if plain and self._is_file else self._rows.decoder(connection)
            events = [*map(decode, self._rows.read(connection, key, None, None))]
            if isinstance(self._file, SqliteFile):
                self._file.give_time()
            return read_history(connection, self._rows, key, events, state, ours=self.layout.ours)

        return self._file.read(read)

    @one_read()
    def writes(self, key: SessionKey, name: str) -> list[Write]:
        """Return every write of a state key, the oldest first. For a `user:` or `app:` key, this includes other sessions' writes.

        Args:
            key: the session that has the state key.
            name: the state key with its scope prefix.

        Raises:
            SessionNotFoundError: the session does not exist.
        """
        if scope_of(name) not in ("user", "app"):
            return writes_of(self.history(key, plain=True), key, name)
        self._file.read(lambda connection: _stored_state(connection, key))
        commits = self._file.read(lambda connection: read_shared_commits(connection, self._rows, key, name, ours=self.layout.ours))
        return shared_writes(key, name, commits, self.events)

    def recorded_ends(self, key: SessionKey | None = None) -> dict[SessionKey, dict[str, RecordedEnd]]:
        """Return the recorded ends of the invocations of one session or of all, by session and invocation id."""
        if not self.layout.records_ends and not (self._is_file and self._file.read(has_recorded_ends)):
            return {}  # a file may have got the table since it was opened
        return self._file.read(lambda connection: recorded_ends(connection, key))

    def notes(self, key: SessionKey | None = None) -> dict[SessionKey, dict[str, Note]]:
        """Return the notes on one session or on all that are in the database itself, by session and event id; empty if it is not ours."""

        def read(connection: ReadingConnection) -> dict[SessionKey, dict[str, Note]]:
            # The database may have got the table since it was opened.
            is_there = self.layout.keeps_notes or (has_notes if self._is_file else server_has_notes)(connection)
            return read_notes(connection, key) if is_there else {}

        return self._file.read(read)

    def has_event_field(self, name: str) -> bool:
        """Return whether any event has a field of this name; False for layouts whose events are not JSON. It reads every event."""
        # The text also occurs in state and in other values, so each event that has it is parsed.
        field = "CASE WHEN instr(event_data, ?) > 0 AND json_valid(event_data) THEN json_type(event_data, ?) END"
        query = f"SELECT EXISTS (SELECT 1 FROM events WHERE {field} IS NOT NULL)"
        return self._has_json and bool(self.read(lambda connection: connection.execute(query, (f'"{name}":', f"$.{name}")).fetchone()[0]))

    @one_read()
    def invocations(self, key: SessionKey) -> list[Invocation]:
        """Return a session's invocations in the order of their first events.

        Raises:
            SessionNotFoundError: the session does not exist.
        """
        return invocations([*self.plain_events(key)], ends=self.recorded_ends(key).get(key, {}))

    @one_read()
    def pending(
        self, key: SessionKey | None = None, progress: Callable[[int], object] = lambda _: None, *, cache: Path | None = None
    ) -> dict[SessionKey, list[PendingItem]]:
        """Return pending items by session, the newest last. Sessions without pending items may be missing.

        Args:
            key: the session, or None for all sessions.
            progress: called now and then with the number of events read so far.
            cache: the folder where reading a large file is saved, so that the next call reads only new events; None: it is not.
        """
        if self._has_json:
            return self._pending_rows(self._read_plain, cache).find(key, progress)
        if key is not None:
            return {key: self._pending_of(key)}
        found, done = {}, 0
        for summary in self.sessions():
            found[summary.key] = self._pending_of(summary.key)
            done += summary.event_count or 0
            progress(done)
        return found

    def _pending_of(self, key: SessionKey) -> list[PendingItem]:
        return [item for each in self.invocations(key) for item in each.pending]

    def unfinished(self, *, cache: Path | None = None) -> dict[SessionKey, list[Invocation]]:
        """Return, by session, the invocations with pending items, in order of their first event.

        It reads every event once, about 10 s of CPU time for a million, and pauses so that other threads can run. Use a connection of its
        own. For the v0 layout and for a server, where it would take many times longer, the result is empty.

        Args:
            cache: see `pending`.
        """
        found = self._pending_rows(self._read_plain, cache).unfinished(gently=True) if self._has_json else {}
        waiting = {key: [entry for entry in entries if entry.pending] for key, entries in found.items()}
        return {key: entries for key, entries in waiting.items() if entries}

    def _pending_rows(self, decode: Callable[[EventRow], Event], cache: Path | None) -> PendingRows:
        saved = SavedScan(cache, self._file.file) if cache is not None and isinstance(self._file, SqliteFile) else None
        return PendingRows(self._file, decode, json_wins=self.layout.format.json_ids_win, ends=self.recorded_ends, saved=saved)

    @property
    def _read_plain(self) -> Callable[[EventRow], Event]:
        reader = self.layout.format.reader
        return reader(JSON_COLUMNS, 0) if reader is not None else self._decode_json

    def _decode_row(self, row: EventRow) -> Event:
        return self._decode_json(row)

    @cached_property
    def _decode_json(self) -> Callable[[EventRow], Event]:
        return self.layout.format.decoder(JSON_COLUMNS, 0)

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function that only reads, for queries that the other methods do not offer.

        Args:
            work: see `SqliteFile.read`.
        """
        return self._file.read(work)

    def row_faults(self) -> list[RowFault]:
        """Return what google-adk refuses in the tables, apart from the events themselves."""
        return self._file.read(lambda connection: row_faults(connection, self.layout, is_file=self._is_file))

    def channel_sizes(self) -> list[ChannelSize]:
        """Return what fills a file of LangGraph's checkpoints, the largest channel first; empty for all other databases."""
        return self._file.channel_sizes() if isinstance(self._file, CheckpointFile) else []

    def row_times(self, key: SessionKey) -> list[RowTime]:
        """Return the time columns of a session's events in commit order; empty for a server, which has no commit order."""
        return self._file.read(lambda connection: row_times(connection, key)) if self._is_file else []

    def count_up_to(self, key: SessionKey, limit: int) -> int:
        """Return a session's number of events, at most `limit`."""
        query = f"SELECT count(*) FROM (SELECT 1 FROM events WHERE {OF_SESSION} LIMIT ?)"
        return int(self._file.read(lambda connection: connection.execute(query, (*key, limit)).fetchone())[0])

    @one_read()
    def pages(self, key: SessionKey, count: int | None = None, *, assume: bool = False) -> EventPages:
        """Return a session's events, to be read in pages.

        Args:
            key: the session.
            count: the number of events in the list of sessions, if known.
            assume: see `EventPages`.

        Raises:
            SessionNotFoundError: the session does not exist.
        """
        if not self._has_json:
            decode = V1.decoder(JSON_COLUMNS, 0)
            return EventPages(CopiedEvents(key, self.events(key)), key, decode, decode)
        self._file.read(lambda connection: _stored_state(connection, key))
        return EventPages(self._file, key, self._decode_row, self._read_plain, count, assume=assume)

    @one_read()
    def long_history(self, key: SessionKey, pages: EventPages) -> History:
        """Return a session's history without its steps, which `History.read_on` reads.

        Raises:
            SessionNotFoundError: the session does not exist.
        """

        if not self._has_json:
            return self.history(key)

        def read(connection: sqlite3.Connection) -> History:
            present = _merged_state(connection, key)
            return read_long_history(connection, key, pages, present, ours=self.layout.ours, time_order=self.layout.format.time_order)

        return self._file.read(read)

    def state_after(self, key: SessionKey, pages: EventPages) -> ScopedState | None:
        """Return the state after the last event of `pages`, without reading the past; None if that takes reading it.

        Raises:
            SessionNotFoundError: the session does not exist.
        """
        rowid = pages.last_rowid
        if not self._has_json or rowid is None:
            return None

        def read(connection: sqlite3.Connection) -> ScopedState | None:
            present = _merged_state(connection, key)
            return state_after(connection, key, rowid, present, ours=self.layout.ours, time_order=self.layout.format.time_order)

        return self._file.read(read)

    @property
    def _has_json(self) -> bool:
        """Whether events are stored as JSON that SQLite can search."""
        return self._is_file and self.layout.format.is_json

    def stop(self) -> None:
        """Interrupt another thread's read and all later ones. On a server, the current query runs to its end."""
        if isinstance(self._file, SqliteFile):
            self._file.stop()

    def close(self) -> None:
        """Close the database."""
        self._file.close()

    def __enter__(self) -> StoredDatabase:
        """Return this object."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the database."""
        self.close()


def _summaries(connection: ReadingConnection, counts: Mapping[SessionKey, int] | None) -> list[SessionSummary]:
    rows = connection.execute("SELECT app_name, user_id, id, update_time FROM sessions ORDER BY app_name, user_id, id")
    keys = [(SessionKey(*map(as_name, key)), updated) for *key, updated in rows]
    return [SessionSummary(key, None if counts is None else counts.get(key, 0), epoch(updated)) for key, updated in keys]


def _not_sqlite(path: Path) -> str | None:
    try:
        return not_sqlite(path)
    except OSError:  # opening it reports the error
        return None


def _layout(connection: sqlite3.Connection, name: str) -> Layout:
    layout = layout_of_file(connection, name)
    return replace(layout, note=_note_on_times(connection, layout.note)) if layout.format.has_local_times else layout


def _note_on_times(connection: ReadingConnection, note: str | None) -> str:
    zone = offset_text(read_offset(connection))
    times = f"Its events have the writer's local time without a time zone; from its sessions' creation times, that was {zone}."
    return f"{note} {times}" if note else times


def _stored_state(connection: ReadingConnection, key: SessionKey) -> Any:
    row = connection.execute(f"SELECT state FROM sessions WHERE {_SESSION}", key).fetchone()
    if row is None:
        raise SessionNotFoundError(f"There is no session {key.session_id} of user {key.user_id} in app {key.app_name}.")
    return row[0]


def _merged_state(connection: ReadingConnection, key: SessionKey) -> dict[str, Any]:
    session = _stored_state(connection, key)
    user = connection.execute("SELECT state FROM user_states WHERE app_name = ? AND user_id = ?", key[:2]).fetchone()
    app = connection.execute("SELECT state FROM app_states WHERE app_name = ?", key[:1]).fetchone()
    return merge_scopes(read_state(session), read_state(user[0]) if user else {}, read_state(app[0]) if app else {})


def has_recorded_ends(connection: ReadingConnection) -> bool:
    """Return whether an SQLite file has the table."""
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (INVOCATIONS,)).fetchone() is not None


def recorded_ends(connection: ReadingConnection, key: SessionKey | None = None) -> dict[SessionKey, dict[str, RecordedEnd]]:
    """Return the recorded ends of one session or of all, by invocation id. The database must have the table."""
    query = f"SELECT app_name, user_id, session_id, invocation_id, status, reason, last_event_id, at FROM {INVOCATIONS}"
    of_session = f" WHERE {OF_SESSION}" if key else ""
    found: dict[SessionKey, dict[str, RecordedEnd]] = {}
    for app_name, user_id, session_id, name, status, reason, last_event_id, at in connection.execute(query + of_session, tuple(key or ())):
        if status in ("finished", "unfinished", *BROKEN) and isinstance(at, int):
            owner = SessionKey(as_name(app_name), as_name(user_id), as_name(session_id))
            found.setdefault(owner, {})[name] = RecordedEnd(status, str(reason), last_event_id, to_epoch(at))
    return found
