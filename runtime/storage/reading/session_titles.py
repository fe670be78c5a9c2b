"""The titles of stored sessions, found without decoding more events than needed."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from runtime.errors.storage_error import StorageError
from runtime.history.session_title import METADATA, first_message, message_of, one_line, session_title, text_of_user
from runtime.sessions.lineage import read_origin
from runtime.sessions.session_key import SessionKey
from runtime.storage.layouts.column_values import as_name, epoch, micros_of, read_state
from runtime.storage.layouts.detect import Layout
from runtime.storage.layouts.table_names import COMMITS, OF_SESSION
from runtime.storage.reading.copied_events import Readable
from runtime.storage.reading.event_rows import EventRows, ReadingConnection
from runtime.support.gc_freeze import collection_paused

if TYPE_CHECKING:
    from runtime.events.event import Event

_NAMES = "app_name, user_id, session_id"
_CHUNK = 1_000  # sessions in one short transaction; about 10 ms of work
_SCANNED = 10_000  # rows searched in one short transaction
_FIRST = 20  # a session's events that are decoded before all of them are
_SESSION = "s.app_name = ? AND s.user_id = ? AND s.id = ?"
_OF_SESSION = "e.app_name = s.app_name AND e.user_id = s.user_id AND e.session_id = s.id"
_BY_USER = "instr(event_data, '\"user\"') > 0"
_IS_REWIND = "({0} LIKE '%\"rewind_before_invocation_id\"%' OR {0} LIKE '%\"rewindBeforeInvocationId\"%')"
# SQLite finds a word several times faster than it matches a pattern.
_REWINDS = f"(instr(event_data, 'rewind') > 0 AND {_IS_REWIND.format('event_data')})"
# A pickle names each field of its actions; here one that is None.
_PICKLED, _PICKLED_NONE = b"rewind_before_invocation_id", b"rewind_before_invocation_id\x94N"

_Names = tuple[Any, ...]


class _Row(NamedTuple):
    """What a session's title is made of.

    Attributes:
        names: the session's app, user and id.
        created: the time column.
        state: the column; None if adk web's title is not in it.
        by_user: the JSON of the first event that may be a user's; None if there is none.
        rewinds: whether any of its events may be a rewind; None if neither that nor `by_user` is known.
        forked, origin: when the session was made as a fork or an import, and how; None for others.
    """

    names: _Names
    created: Any
    state: Any
    by_user: Any
    rewinds: Any
    forked: Any
    origin: Any


class _Scanned(NamedTuple):
    """What one reading of all events has found: the row numbers of sessions' first events, and the sessions that may have rewinds."""

    first: Mapping[_Names, int]
    rewinds: frozenset[_Names]


class StoredTitles:
    """A reader of the titles of a database's sessions.

    Args:
        file: the database.
        layout: its layout.
        rows: reads its events.
        all_events: returns a session's events, read page by page.
        is_file: whether it is an SQLite file.
    """

    def __init__(
        self, file: Readable, layout: Layout, rows: EventRows, all_events: Callable[[SessionKey], Iterator[Event]], *, is_file: bool
    ) -> None:
        self._file = file
        self._layout = layout
        self._rows = rows
        self._all_events = all_events
        self._is_file = is_file
        self._has_json = is_file and layout.format.is_json
        self._is_indexed = self._has_json and file.read(_is_indexed)

    def read(self, keys: Iterable[SessionKey] | None, names: Mapping[SessionKey, str]) -> dict[SessionKey, str]:
        """Return titles; see `StoredDatabase.titles`."""
        with collection_paused():
            return self._read(keys, names)

    def _read(self, keys: Iterable[SessionKey] | None, names: Mapping[SessionKey, str]) -> dict[SessionKey, str]:
        scanned = self._scan() if self._has_json and (keys is None or not self._is_indexed) else None
        query = self._query(with_events=self._is_indexed and scanned is None)
        found = {}
        for rows in self._all_rows(query) if keys is None else self._rows_of(query, list(keys)):
            for row in rows if scanned is None else self._completed(rows, scanned):
                key = SessionKey(*map(as_name, row.names))
                found[key] = self._title(key, row, names.get(key, ""))
        return found

    def _title(self, key: SessionKey, row: _Row, name: str) -> str:
        state, message, fork_at, name = None, "", None, one_line(name) if name else ""
        try:
            message = "" if name else self._message(key, row)
            state = read_state(row.state) if row.state is not None else None
        except StorageError:  # reported when the session is displayed
            pass
        if row.origin is not None and row.forked == micros_of(row.created):
            lineage = (read_origin(row.origin) or (None,))[0]
            fork_at = lineage.event_count if lineage is not None else None
        created = 0.0 if name or message else epoch(row.created)
        return session_title(key, created, name=name, state=state, message=message, fork_at=fork_at)

    def _message(self, key: SessionKey, row: _Row) -> str:
        is_known = row.rewinds is not None
        if row.rewinds if is_known else self._file.read(lambda connection: self._may_rewind(connection, key)):
            return message_of(list(self._all_events(key)))
        if not is_known:
            return first_message(self._gradually(key))
        if row.by_user is None:
            return ""
        return _text_in(row.by_user) or first_message(self._by_user(key) if self._is_indexed else self._all_events(key))

    def _by_user(self, key: SessionKey) -> Iterator[Event]:
        """Yield a session's events that may be a user's."""
        query = f"SELECT rowid FROM events WHERE {OF_SESSION} AND {_BY_USER} ORDER BY rowid"
        numbers = [number for (number,) in self._file.read(lambda connection: connection.execute(query, key).fetchall())]
        for first in range(0, len(numbers), _FIRST):
            page = numbers[first : first + _FIRST]

            def read(connection: ReadingConnection) -> list[Event]:
                return [*map(self._rows.reader(connection), self._rows.numbered(connection, page))]  # noqa: B023 - called at once

            yield from self._file.read(read)

    def _gradually(self, key: SessionKey) -> Iterator[Event]:
        """Yield a session's first events, then all of them if it has more."""

        def read(connection: ReadingConnection) -> list[Event]:
            return [*map(self._rows.decoder(connection), self._rows.read(connection, key, None, _FIRST))]

        first = self._file.read(read)
        yield from first
        if len(first) == _FIRST:
            yield from self._all_events(key)

    def _may_rewind(self, connection: ReadingConnection, key: SessionKey) -> bool:
        """Return whether any event of a session may be a rewind."""
        column = self._layout.format.delta_column
        values: tuple[bytes, ...] = ()
        condition = _IS_REWIND.format(f"CAST({column} AS text)")
        if not self._layout.format.is_json:
            if not self._is_file:
                return True  # a server does not search pickles
            condition, values = f"instr({column}, ?) > 0 AND instr({column}, ?) = 0", (_PICKLED, _PICKLED_NONE)
        query = f"SELECT 1 FROM events WHERE {OF_SESSION} AND {condition} LIMIT 1"
        return connection.execute(query, (*key, *values)).fetchone() is not None

    def _rows_of(self, query: str, keys: Sequence[SessionKey]) -> Iterator[list[_Row]]:
        query += f" WHERE {_SESSION}"
        for first in range(0, len(keys), _CHUNK):
            chunk = keys[first : first + _CHUNK]
            found = self._file.read(lambda connection: [connection.execute(query, key).fetchone() for key in chunk])  # noqa: B023 - called at once
            yield [_Row(row[:3], *row[3:]) for row in found if row is not None]

    def _all_rows(self, query: str) -> Iterator[list[_Row]]:
        order = f"ORDER BY s.app_name, s.user_id, s.id LIMIT {_CHUNK}"
        after: _Names = ()
        while True:
            place = "WHERE (s.app_name, s.user_id, s.id) > (?, ?, ?)" if after else ""
            rows = self._file.read(lambda connection: connection.execute(f"{query} {place} {order}", after).fetchall())  # noqa: B023 - called at once
            yield [_Row(row[:3], *row[3:]) for row in rows]
            if len(rows) < _CHUNK:
                return
            after = rows[-1][:3]

    def _query(self, *, with_events: bool) -> str:
        state, by_user, rewinds, forked, origin = "s.state", "NULL", "NULL", "NULL", "NULL"
        if self._has_json:
            state = f"CASE WHEN instr(s.state, '{METADATA}') > 0 THEN s.state END"
        if with_events:
            by_user = f"(SELECT event_data FROM events AS e WHERE {_OF_SESSION} AND {_BY_USER} ORDER BY e.rowid LIMIT 1)"
            rewinds = f"EXISTS (SELECT 1 FROM events AS e WHERE {_OF_SESSION} AND {_REWINDS})"
        if self._layout.ours:
            made = f"(SELECT {{}} FROM {COMMITS} AS e WHERE {_OF_SESSION} AND event_id IS NULL AND temp IS NOT NULL ORDER BY seq LIMIT 1)"
            forked, origin = made.format("e.at"), made.format("temp")
        return f"SELECT s.app_name, s.user_id, s.id, s.create_time, {state}, {by_user}, {rewinds}, {forked}, {origin} FROM sessions AS s"

    def _scan(self) -> _Scanned:
        by_user = "" if self._is_indexed else f"WHERE {_BY_USER}"  # with an index, later ones are found one by one
        first = f"SELECT {_NAMES}, min(rowid) FROM events {by_user} GROUP BY {_NAMES}"
        rows = self._file.read(lambda connection: connection.execute(first).fetchall())
        rewinds: set[_Names] = set()
        end = f"SELECT max(rowid) FROM (SELECT rowid FROM events WHERE rowid > ? ORDER BY rowid LIMIT {_SCANNED}) AS next"
        query = f"SELECT DISTINCT {_NAMES} FROM events NOT INDEXED WHERE rowid > ? AND rowid <= ? AND {_REWINDS}"

        def search(connection: ReadingConnection) -> int | None:
            last = connection.execute(end, (place,)).fetchone()[0]
            rewinds.update(connection.execute(query, (place, last)).fetchall())
            return last if last is None else int(last)

        place: int | None = -(2**63)
        while place is not None:
            place = self._file.read(search)
        return _Scanned({row[:3]: row[3] for row in rows}, frozenset(rewinds))

    def _completed(self, rows: Sequence[_Row], scanned: _Scanned) -> list[_Row]:
        numbers = {names: scanned.first[names] for row in rows if (names := row.names) in scanned.first}
        listed = ",".join(map(str, numbers.values()))
        later = f"SELECT event_data FROM events WHERE {OF_SESSION} AND {_BY_USER} ORDER BY rowid LIMIT 1"

        def read(connection: ReadingConnection) -> list[Any]:
            found = dict(connection.execute(f"SELECT rowid, event_data FROM events WHERE rowid IN ({listed})").fetchall())
            firsts = [found.get(numbers.get(row.names)) for row in rows]
            if not self._is_indexed:
                return firsts
            # Most sessions begin with their user's message.
            return [
                (connection.execute(later, row.names).fetchone() or (None,))[0] if type(first) is str and '"user"' not in first else first
                for row, first in zip(rows, firsts, strict=True)
            ]

        found = self._file.read(read)
        return [
            _Row(row[0], row[1], row[2], first, row[0] in scanned.rewinds, row[5], row[6]) for row, first in zip(rows, found, strict=True)
        ]


def _is_indexed(connection: ReadingConnection) -> bool:
    """Return whether a session's events are found without reading those of all sessions; files of older versions have no index."""
    plan = connection.execute(f"EXPLAIN QUERY PLAN SELECT 1 FROM events WHERE {OF_SESSION}", ("", "", "")).fetchone()
    return "session_id=?" in str(plan[3])


def _text_in(data: Any) -> str:
    """Return the text of `text_of_user` in an event's JSON, empty if it has none or is no usual event."""
    decode, errors = _decoder()
    try:
        return text_of_user(decode(data))
    except errors:
        return ""


@cache
def _decoder() -> tuple[Callable[[Any], Any], tuple[type[Exception], ...]]:
    msgspec = importlib.import_module("msgspec")  # 10 ms
    part = msgspec.defstruct("Part", [("text", str | None, None), ("thought", bool | None, None)], gc=False)
    content = msgspec.defstruct("Content", [("parts", list[part] | None, None)], gc=False)  # type: ignore[valid-type]
    event = msgspec.defstruct("Event", [("author", str), ("content", content | None, None)], gc=False)
    return msgspec.json.Decoder(event).decode, (msgspec.MsgspecError, ValueError, TypeError, RecursionError)
