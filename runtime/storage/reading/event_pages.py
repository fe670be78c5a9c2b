"""A stored session's events by index, read in pages on demand, so that sessions of any length can be displayed.

Every method reads at most the requested range, in one short transaction. So other readers get their turn, and a caller can stop in between.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from runtime.errors.storage_error import StorageError
from runtime.events.marks import UNREADABLE
from runtime.history.steps import UNKNOWN_DELTA, Step, step_of
from runtime.sessions.session_key import SessionKey
from runtime.storage.layouts.column_values import as_name
from runtime.storage.layouts.event_format import EventRow
from runtime.storage.layouts.table_names import OF_NAMED_SESSION
from runtime.storage.reading.copied_events import CopiedEvents, Readable
from runtime.storage.reading.saved_scan import SavedScan
from runtime.support.quick_json import from_json

if TYPE_CHECKING:
    from runtime.events.event import Event

# Using the session's index would need a sort, and would read database pages out of file order.
_PIECE = f"FROM events NOT INDEXED WHERE rowid BETWEEN :first AND :last AND {OF_NAMED_SESSION}"
# As bytes, which are parsed without being made a text first.
_DELTA = "CAST(coalesce(json_extract(event_data, '$.actions.state_delta'), json_extract(event_data, '$.actions.stateDelta')) AS BLOB)"
_IS_LOST = f"json_extract(event_data, '$.custom_metadata.{UNREADABLE}.actions') IS NOT NULL"  # in a copy of a v0 session
_FILES = "coalesce(json_extract(event_data, '$.actions.artifact_delta'), json_extract(event_data, '$.actions.artifactDelta'))"
_UNPARSED = 100  # events around one that SQLite cannot parse that are returned with it


class Found(NamedTuple):
    """An SQL condition on events.

    Attributes:
        sql: a condition on the column `event_data`; the names of its parameters begin with `find_`.
        parameters: values of the parameters.
        parses_json: whether SQLite parses the JSON, which fails on a text that is none.
    """

    sql: str
    parameters: Mapping[str, Any]
    parses_json: bool = False


class SavedFiles(NamedTuple):
    """The files that an event saved.

    Attributes:
        place: the event's index.
        author: the event's author.
        versions: file name → version.
    """

    place: int
    author: str
    versions: Mapping[str, int]


def containing(texts: Sequence[Sequence[str]]) -> Found:
    """Return the condition that the stored JSON contains at least one text of each group, ignoring ASCII case."""
    parameters: dict[str, str] = {}
    groups = []
    for group in texts:
        terms = []
        for text in group:
            name = f"find_{len(parameters)}"
            escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            parameters[name] = f"%{escaped}%"
            terms.append(f"event_data LIKE :{name} ESCAPE '\\'")
        groups.append(f"({' OR '.join(terms)})")
    return Found(" AND ".join(groups), parameters)


class EventPages:
    """The events of one session by index; 0 is the event that was committed first.

    The session may grow meanwhile. New events become part of this object when `grow` is called.

    Attributes:
        is_assumed: whether the events were not counted; see `assume`.
        decode, read_plain: as given.

    Args:
        file: the database.
        key: the session.
        decode: decodes a row into an event.
        read_plain: reads a row for code that only reads, see `EventFormat.reader`.
        count: the session's last known number of events. It saves counting them if no other session has events.
        assume: if the database has a single session, do not count its events, but assume that every row of the table belongs to it and
            that no row numbers are missing. The caller must later create another object without `assume` and compare (`begins_with`).
    """

    def __init__(
        self,
        file: Readable,
        key: SessionKey,
        decode: Callable[[EventRow], Event],
        read_plain: Callable[[EventRow], Event],
        count: int | None = None,
        *,
        assume: bool = False,
    ) -> None:
        self._file = file
        self._names = {"app_name": key.app_name, "user_id": key.user_id, "session_id": key.session_id}
        self.decode = decode
        self.read_plain = read_plain
        self.is_assumed = False
        self._rowids: Sequence[int] = file.read(lambda connection: self._read_rowids(connection, count, assume=assume))

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self._rowids)

    def begins_with(self, other: EventPages) -> bool:
        """Return whether the events of `other` are the first events of this object."""
        mine, count = self._rowids, len(other)
        return len(mine) >= count and (count == 0 or (mine[0], mine[count - 1]) == (other._rowids[0], other._rowids[-1]))

    @property
    def last_rowid(self) -> int | None:
        """The row number of the last event; None without events."""
        return self._rowids[-1] if self._rowids else None

    def following(self, most: int) -> list[tuple[int, str]]:
        """Return row numbers and ids of at most `most` events that follow the last known one, for `grow`."""
        query = f"SELECT rowid, id FROM events NOT INDEXED WHERE rowid > :last AND {OF_NAMED_SESSION} ORDER BY rowid LIMIT :most"
        parameters = {**self._names, "last": self._rowids[-1] if self._rowids else -1, "most": most}
        found: list[tuple[int, str]] = self._file.read(lambda connection: connection.execute(query, parameters).fetchall())
        return found

    def grow(self, rowids: Sequence[int]) -> None:
        """Add events that were committed later.

        Args:
            rowids: row numbers of the events directly after the last one, as returned by `following`.
        """
        before = self._rowids
        first = before[0] if before else rowids[0]
        if rowids[-1] - first + 1 == len(before) + len(rowids):  # still no gap
            self._rowids = range(first, rowids[-1] + 1)
        else:
            self._rowids = array("q", [*before, *rowids])

    def take_from(self, other: EventPages) -> None:
        """Take over the events of `other`, which reads the same session on another connection."""
        self._rowids = other._rowids

    def clear(self) -> None:
        """Remove all events from this object."""
        self._rowids = range(0)

    def rows(self, first: int, end: int) -> list[EventRow]:
        """Return the rows from index `first` up to, but not including, `end`, for `decode`.

        Raises:
            StorageError: events were deleted meanwhile.
        """
        rows: list[EventRow] = self._read(f"SELECT id, invocation_id, timestamp, event_data {_PIECE} ORDER BY rowid", first, end)
        if len(rows) != max(min(end, len(self)) - first, 0):
            raise StorageError("Another program deleted events of this session. Reload it.")
        return rows

    def row(self, connection: sqlite3.Connection, place: int) -> EventRow:
        """Return one row, in the current transaction."""
        rowid = self._rowids[place]
        row: EventRow = connection.execute(
            "SELECT id, invocation_id, timestamp, event_data FROM events WHERE rowid = ?", (rowid,)
        ).fetchone()
        return row

    def invocations(self, first: int, end: int) -> list[tuple[int, str]]:
        """Return index and invocation id of each event in a range whose invocation differs from the previous event's.

        The first event of the range is always included.
        """
        starts: list[tuple[int, str]] = []
        before = None
        for place, (invocation_id,) in enumerate(self._read(f"SELECT invocation_id {_PIECE} ORDER BY rowid", first, end), first):
            if invocation_id != before:
                starts.append((place, invocation_id))
                before = invocation_id
        return starts

    def read(self, first: int, end: int) -> list[Step]:
        """Return the state deltas of the events in a range."""
        try:
            lost = _IS_LOST if isinstance(self._file, CopiedEvents) else "0"
            rows = self._read(f"SELECT id, invocation_id, {_DELTA}, {lost} {_PIECE} ORDER BY rowid", first, end)
        except StorageError:
            # Some text is not JSON that SQLite accepts; our own decoder is more lenient.
            events = [self.read_plain(row) for row in self.rows(first, end)]
            return [step_of(event) for event in events]
        return [Step(as_name(event_id), as_name(invocation_id), _delta(delta, is_lost)) for event_id, invocation_id, delta, is_lost in rows]

    def deltas(self, first: int, end: int) -> list[Mapping[str, Any]]:
        """Return the state deltas alone."""
        try:
            lost = _IS_LOST if isinstance(self._file, CopiedEvents) else "0"
            rows = self._read(f"SELECT {_DELTA}, {lost} {_PIECE} ORDER BY rowid", first, end)
        except StorageError:
            return [step.delta for step in self.read(first, end)]
        return [_delta(delta, is_lost) for delta, is_lost in rows]

    def files(self, first: int, end: int) -> list[SavedFiles]:
        """Return the files that the events in a range saved, without events that saved none."""
        try:
            columns = f"rowid, json_extract(event_data, '$.author'), {_FILES}"
            rows = self._read(f"SELECT {columns} {_PIECE} AND {_FILES} <> '{{}}' ORDER BY rowid", first, end)
        except StorageError:  # as in `read`
            events = enumerate(map(self.read_plain, self.rows(first, end)), first)
            return [
                SavedFiles(place, event.author, event.actions.artifact_delta) for place, event in events if event.actions.artifact_delta
            ]
        return [SavedFiles(self.place_of(rowid), author, _object(saved)) for rowid, author, saved in rows]

    def find(self, condition: Found, first: int, end: int) -> list[int]:
        """Return the indexes of the events in a range that meet a condition."""
        rows = self._read(f"SELECT rowid {_PIECE} AND ({condition.sql}) ORDER BY rowid", first, end, condition.parameters)
        return [self.place_of(rowid) for (rowid,) in rows]

    def rows_with(self, condition: Found, first: int, end: int) -> list[tuple[int, EventRow]]:
        """Return indexes and rows of the events in a range that meet a condition, and of some whose JSON SQLite cannot parse."""
        columns = "rowid, id, invocation_id, timestamp, event_data"
        try:
            rows = self._read(f"SELECT {columns} {_PIECE} AND ({condition.sql}) ORDER BY rowid", first, end, condition.parameters)
        except StorageError:
            if not condition.parses_json:
                raise
            end = min(end, len(self))
            if end - first <= _UNPARSED:
                return [*enumerate(self.rows(first, end), first)]
            middle = (first + end) // 2
            return [*self.rows_with(condition, first, middle), *self.rows_with(condition, middle, end)]
        return [(self.place_of(rowid), row) for rowid, *row in rows]

    def load_scan(self, saved: SavedScan) -> tuple[list[Any], int]:
        """Return what a scan of the events found when it was saved, and the number of events that it read."""
        found = saved.load(self._file)
        return ([], 0) if found is None else (found.data, self.place_of(found.last + 1))

    def save_scan(self, saved: SavedScan, count: int, data: Iterable[Any]) -> None:
        """Save what a scan found."""
        saved.save(self._file, self._rowids[count - 1], data)

    def index_of(self, event_id: str) -> int | None:
        """Return the index of the event with this id, or None."""
        query = f"SELECT rowid FROM events WHERE id = :id AND {OF_NAMED_SESSION}"
        found = self._file.read(lambda connection: connection.execute(query, {**self._names, "id": event_id}).fetchone())
        place = self.place_of(found[0]) if found else len(self)
        return place if place < len(self) else None

    def place_of(self, rowid: int) -> int:
        """Return the number of the session's events that were committed before a row of the table."""
        if isinstance(self._rowids, range):
            return min(max(rowid - self._rowids.start, 0), len(self._rowids))
        return bisect_left(self._rowids, rowid)

    def _read(self, query: str, first: int, end: int, more: Mapping[str, Any] | None = None) -> list[Any]:
        end = min(end, len(self))
        if first >= end:
            return []
        parameters = {**self._names, **(more or {}), "first": self._rowids[first], "last": self._rowids[end - 1]}
        return self._file.read(lambda connection: connection.execute(query, parameters).fetchall())

    def _read_rowids(self, connection: sqlite3.Connection, listed: int | None, *, assume: bool) -> Sequence[int]:
        lowest, highest = connection.execute("SELECT (SELECT min(rowid) FROM events), (SELECT max(rowid) FROM events)").fetchone()
        if lowest is not None and highest - lowest + 1 == listed:
            return range(lowest, highest + 1)
        if assume and lowest is not None and len(connection.execute("SELECT 1 FROM sessions LIMIT 2").fetchall()) == 1:
            self.is_assumed = True
            return range(lowest, highest + 1)
        of_session = f"FROM events WHERE {OF_NAMED_SESSION}"
        count, lowest, highest = connection.execute(f"SELECT count(*), min(rowid), max(rowid) {of_session}", self._names).fetchone()
        if count == 0:
            return range(0)
        if highest - lowest + 1 == count:  # no events of other sessions in between
            return range(lowest, highest + 1)
        found: Iterator[tuple[int]] = connection.execute(f"SELECT rowid {of_session}", self._names)
        return array("q", sorted(rowid for (rowid,) in found))


def _delta(data: bytes | None, is_lost: int) -> Mapping[str, Any]:
    if data is None or data == b"{}":
        return UNKNOWN_DELTA if is_lost else {}
    if data[:1] != b"{":
        return UNKNOWN_DELTA
    try:
        return cast(Mapping[str, Any], from_json(data))
    except ValueError:
        value = json.loads(data.decode("utf-8", "replace"))
    return value if isinstance(value, dict) else UNKNOWN_DELTA


def _object(text: Any) -> Mapping[str, Any]:
    if not isinstance(text, str) or text == "{}":
        return {}
    value = json.loads(text)
    return value if isinstance(value, dict) else {}
