"""Pending items of stored sessions, found without decoding every row into an event.

A few fields of the JSON show that most invocations are finished. All others, and invocations with an unusual row, are decoded and read by
`history.invocations`, so the result is the same.
"""

from __future__ import annotations

import time
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from runtime.history.invocations import (
    BROKEN,
    Invocation,
    PendingItem,
    as_past,
    is_turn,
    read_invocation,
    rewound_invocations,
    stray_results,
    with_recorded_ends,
)
from runtime.sessions.recorded_end import RecordedEnd
from runtime.sessions.session_key import SessionKey
from runtime.storage.layouts.column_values import as_name
from runtime.storage.layouts.event_format import EventRow
from runtime.storage.layouts.table_names import OF_NAMED_SESSION, OF_SESSION
from runtime.storage.reading.copied_events import Readable
from runtime.storage.reading.event_glance import Fields, Ids, glance, look_closely
from runtime.storage.reading.saved_scan import SavedScan
from runtime.storage.reading.whole_invocations import Stretch, finished_look, stretches

if TYPE_CHECKING:
    from runtime.events.event import Event

_CHUNK = 1_000  # rows in one short transaction; about 3 ms of work
WORTH_SAVING = 20_000  # rows above which the result of a scan is saved
_COLUMNS = "id, invocation_id, timestamp, event_data"  # of a row to be decoded
_ROW, _NEXT = "SELECT rowid, invocation_id, event_data", f"ORDER BY rowid LIMIT {_CHUNK}"
_NAMES = ("app_name", "user_id", "session_id")
# Rows after one: those of a session; all, without the JSON of other sessions, as SQLite compares names faster than it returns them; all.
_OF_ONE = f"{_ROW} FROM events WHERE rowid > :last AND {OF_NAMED_SESSION} {_NEXT}"
_MARKED = f"SELECT rowid, invocation_id, CASE WHEN {OF_NAMED_SESSION} THEN event_data END FROM events WHERE rowid > :last {_NEXT}"
_NAMED = f"{_ROW}, app_name, user_id, session_id FROM events WHERE rowid > :last {_NEXT}"
_Run = tuple[tuple[Any, ...], list[Stretch]]  # stored names of a session, and successive rows of it
_NO_ANSWERS: frozenset[str | None] = frozenset()


class _Chunk(NamedTuple):
    """Rows that were read at once.

    Attributes:
        runs: by session.
        size: number of the rows.
        last: row number of the last one; 0 without rows.
    """

    runs: list[_Run]
    size: int
    last: int


@dataclass(slots=True)
class _Invocation:
    """What the rows read so far tell about one invocation.

    Attributes:
        rowids: row numbers of its events; None if it continued after it was finished, so that its events have to be searched.
        root: the author of its first agent event.
        open_calls, early: ids of calls without a result, and of results that came before their call; usually none.
        ended: whether its last agent event is the end of the root agent.
        has_steps: whether it has checkpoints, ends or long-running calls.
        failed: whether its last agent event has an error.
        answered: whether its last event with content is an agent's final answer.
        is_odd: whether its events have to be decoded.
    """

    rowids: array[int] | None = field(default_factory=lambda: array("q"))
    root: str | None = None
    open_calls: tuple[str | None, ...] = ()
    early: tuple[str | None, ...] = ()
    ended: bool = False
    has_steps: bool = False
    failed: bool = False
    answered: bool = False
    is_odd: bool = False

    def pair(self, calls: Ids, responses: Ids) -> None:
        """Note an event's calls and responses."""
        if not self.early:
            if not responses and not self.open_calls:
                self.open_calls = tuple(calls)
                return
            if not calls and tuple(responses) == self.open_calls:
                self.open_calls = ()
                return
        called = (*self.open_calls, *(call for call in calls if call not in self.early))
        self.early = (*self.early, *(response for response in responses if response not in called))
        self.open_calls = tuple(call for call in called if call not in responses)

    def kept(self) -> list[Any]:
        """Return it as JSON data, for `of`."""
        rowids = self.rowids if self.rowids is None else list(self.rowids)
        flags = [self.ended, self.has_steps, self.failed, self.answered, self.is_odd]
        return [rowids, self.root, self.open_calls, self.early, *flags]

    @classmethod
    def of(cls, kept: list[Any]) -> _Invocation:
        """Return the invocation of `kept`."""
        rowids, root, open_calls, early, *flags = kept
        return cls(rowids if rowids is None else array("q", rowids), root, tuple(open_calls), tuple(early), *flags)

    def is_finished(self, answers: set[str | None] | frozenset[str | None]) -> bool:
        """Return whether it certainly has no pending items."""
        if self.is_odd:
            return False
        return self.ended or (self.answered and not self.has_steps and not self.failed and answers.issuperset(self.open_calls))


@dataclass(slots=True)
class _Session:
    """What the rows read so far tell about one session.

    Attributes:
        invocations: invocations in order of their first event. None marks one that was finished when the next one began; no more is kept
            of these, which are most of a long session's invocations.
        answers: ids of the calls that the user answered.
        steps: from the first rewind on, pairs of an invocation and the invocation it rewinds, preceded by the earlier invocations.
        latest: the invocation of the last event.
    """

    invocations: dict[str, _Invocation | None] = field(default_factory=dict)
    answers: set[str | None] = field(default_factory=set)
    steps: list[tuple[str, str | None]] = field(default_factory=list)
    latest: str | None = None
    _current: _Invocation = field(init=False, repr=False)

    def kept(self) -> list[Any]:
        """Return it as JSON data, for `of`."""
        invocations = [[name, invocation and invocation.kept()] for name, invocation in self.invocations.items()]
        return [invocations, list(self.answers), self.steps, self.latest]

    @classmethod
    def of(cls, kept: list[Any]) -> _Session:
        """Return the session of `kept`."""
        invocations, answers, steps, latest = kept
        known = {name: one and _Invocation.of(one) for name, one in invocations}
        session = cls(known, set(answers), [(name, rewound) for name, rewound in steps], latest)
        current = known.get(latest)
        if current is None:
            session.latest = None
        else:
            session._current = current
        return session

    def add(self, rowid: int, seen: Fields) -> None:
        """Note an event. It runs for every event, so it is one function."""
        name, author, calls, responses, rewinds, is_end, is_open, failed, speaks, answers, is_odd = seen
        if rewinds is not None or self.steps:
            self._note_step((name, rewinds))
        if name != self.latest:
            self._go_to(name)
        invocation = self._current
        if invocation.rowids is not None:
            invocation.rowids.append(rowid)
        if calls or responses:
            invocation.pair(calls, responses)
        if is_odd:
            invocation.is_odd = True
        if author == "user":
            self.answers.update(responses)
            if is_open or is_end:
                invocation.is_odd = True
            if speaks:
                invocation.answered = False
            return
        if invocation.root is None:
            invocation.root = author
        invocation.ended = is_end and author == invocation.root
        if is_end or is_open:
            invocation.has_steps = True
        invocation.failed = failed
        if speaks:
            invocation.answered = answers

    def add_finished(self, name: str) -> None:
        """Note all the events of a new invocation that has no pending items."""
        if self.steps:
            self._note_step((name, None))
        self._settle_latest()
        self.invocations[name] = self.latest = None

    def _go_to(self, name: str) -> None:
        self._settle_latest()
        self.latest = name
        invocation = self.invocations.setdefault(name, _Invocation())
        if invocation is None:
            invocation = self.invocations[name] = _Invocation(rowids=None, is_odd=True)
        self._current = invocation

    def _settle_latest(self) -> None:
        invocation = self.invocations.get(self.latest) if self.latest is not None else None
        if invocation is not None and not invocation.early and invocation.is_finished(_NO_ANSWERS):
            self.invocations[self.latest] = None  # type: ignore[index]  # `get` found it

    def _note_step(self, step: tuple[str, str | None]) -> None:
        if not self.steps:
            self.steps.extend((name, None) for name in self.invocations)
        if step[1] is not None or self.steps[-1:] != [step]:
            self.steps.append(step)


class PendingRows:
    """A finder of pending items in a file whose events are JSON.

    Args:
        file: the database.
        decode: decodes a row into an event.
        json_wins: whether the JSON takes precedence over the column `invocation_id`, as in adk web's layout.
        ends: returns the recorded ends of a session or of all, by session and invocation id.
        saved: where a scan of all sessions is saved, so that the next one reads only new rows; None: nowhere.
    """

    def __init__(
        self,
        file: Readable,
        decode: Callable[[EventRow], Event],
        *,
        json_wins: bool,
        ends: Callable[[SessionKey | None], dict[SessionKey, dict[str, RecordedEnd]]] = lambda _: {},
        saved: SavedScan | None = None,
    ) -> None:
        self._file = file
        self._decode = decode
        self._ends = ends
        self._saved = saved
        self._glance = glance(json_wins=json_wins)
        self._is_finished = finished_look(json_wins=json_wins)

    def find(
        self, key: SessionKey | None = None, progress: Callable[[int], object] = lambda _: None
    ) -> dict[SessionKey, list[PendingItem]]:
        """Return pending items by session; see `StoredDatabase.pending`."""
        unfinished = self.unfinished(key, progress=progress)
        return {name: [item for invocation in found for item in invocation.pending] for name, found in unfinished.items()}

    def unfinished(
        self, key: SessionKey | None = None, *, gently: bool = False, progress: Callable[[int], object] = lambda _: None
    ) -> dict[SessionKey, list[Invocation]]:
        """Return, by session, the invocations that may have pending items, in order of their first event.

        Sessions without such an invocation are missing.

        Args:
            key: the session, or None for all sessions.
            gently: pause every few rows, so that other threads can run; one of them may have to draw a window.
            progress: called now and then with the number of events read so far.
        """
        sessions, last = self._load() if key is None else ({}, None)
        of_names: dict[tuple[Any, ...], _Session] = {}  # stored names → their session

        def session_of(names: tuple[Any, ...]) -> _Session:
            found = of_names.get(names)
            if found is None:
                found = of_names[names] = sessions.setdefault(SessionKey(*map(as_name, names)), _Session())
            return found

        number = rowid = 0
        quickly = self._glance
        for chunk in self._chunks(key, last, session_of):
            progress(number)
            number += chunk.size
            rowid = chunk.last if chunk.size else rowid
            for names, run in chunk.runs:
                session = session_of(names)
                add = session.add
                for invocation, rows in run:
                    if rows is None:
                        session.add_finished(invocation)
                        continue
                    for place, invocation_id, data in rows:
                        add(place, quickly(invocation_id, data) or self._look_closely(place))
            if gently:
                time.sleep(0.001)
        of_names.clear()
        if key is None and number > WORTH_SAVING:
            self._save(sessions, rowid)
        # Sessions are released one by one: freeing a million small objects at once would block all threads.
        found = []
        ends = self._ends(key)
        while sessions:
            name, session = sessions.popitem()
            if entries := self._unfinished(name, session, ends.get(name, {})):
                found.append((name, entries))
        return dict(reversed(found))

    def _unfinished(self, key: SessionKey, session: _Session, ends: Mapping[str, RecordedEnd]) -> list[Invocation]:
        rewound = rewound_invocations(session.steps)
        for name, end in ends.items():
            if end.status in BROKEN and name in session.invocations:  # its events may look finished
                session.invocations[name] = session.invocations[name] or _Invocation(rowids=None)
                session.invocations[name].is_odd = True  # type: ignore[union-attr]  # just set
        found = {name: invocation for name, invocation in session.invocations.items() if invocation is not None}
        open_ones = [name for name, each in found.items() if name not in rewound and not each.is_finished(session.answers)]
        stray: set[str | None] = set()
        for name, invocation in found.items() if open_ones else ():
            if invocation.early:
                stray |= stray_results(self._events(key, name, invocation.rowids))
        entries = [
            read_invocation(events, is_rewound=False, answered=session.answers, stray=stray)
            for name in open_ones
            if (events := self._events(key, name, found[name].rowids))  # none, if a damaged row is not found by its number
        ]
        entries = with_recorded_ends(entries, ends)
        newest = self._newest_turn(key, session, rewound, stray) if any(entry.pending for entry in entries) else ""
        return [as_past(entry) if entry.invocation_id != newest else entry for entry in entries]

    def _newest_turn(self, key: SessionKey, session: _Session, rewound: Set[str], stray: Set[str | None]) -> str:
        """Return the session's newest invocation that is a part of the conversation."""
        for name in reversed([*session.invocations]):
            found = session.invocations[name]
            if name in rewound:
                continue
            if (
                found is None or found.rowids is None or is_turn(self._events(key, name, found.rowids), stray)
            ):  # the first two were answered
                return name
        return ""

    def _invocation_of(self, row: EventRow) -> str:
        _, invocation_id, _, data = row
        return (self._glance(invocation_id, data) or look_closely(self._decode(row)))[0]

    def _look_closely(self, rowid: int) -> Fields:
        row = self._file.read(lambda connection: connection.execute(f"SELECT {_COLUMNS} FROM events WHERE rowid = ?", (rowid,)).fetchone())
        return look_closely(self._decode(row))

    def _chunks(self, key: SessionKey | None, after: int | None, session_of: Callable[[tuple[Any, ...]], _Session]) -> Iterable[_Chunk]:
        last = -(2**63) if after is None else after
        names: tuple[Any, ...] | None = key  # of all rows of the chunk before
        while True:
            chunk = self._file.read(partial(self._read_of, key, names, last, session_of)) if names is not None else None
            if chunk is None:
                chunk = self._file.read(partial(self._read_named, last, session_of))
                names = chunk.runs[0][0] if len(chunk.runs) == 1 else None
            yield chunk
            if chunk.size < _CHUNK:
                return
            last = chunk.last

    def _read_of(
        self, key: SessionKey | None, names: tuple[Any, ...], last: int, session_of: Callable[[tuple[Any, ...]], _Session], connection: Any
    ) -> _Chunk | None:
        """Return the next rows if they all have these names."""
        rows = connection.execute(_MARKED if key is None else _OF_ONE, {"last": last, **dict(zip(_NAMES, names, strict=True))})
        found = stretches(rows, session_of(names).invocations, set(), self._is_finished)
        if key is None and any(row[2] is None for _, kept in found.stretches for row in kept or ()):
            return None
        return _Chunk([(names, found.stretches)], found.size, found.last)

    def _read_named(self, last: int, session_of: Callable[[tuple[Any, ...]], _Session], connection: Any) -> _Chunk:
        rows = connection.execute(_NAMED, {"last": last}).fetchall()
        new: defaultdict[tuple[Any, ...], set[Any]] = defaultdict(set)
        runs = [
            (names, stretches((row[:3] for row in run), session_of(names).invocations, new[names], self._is_finished).stretches)
            for names, run in groupby(rows, itemgetter(3, 4, 5))
        ]
        return _Chunk(runs, len(rows), rows[-1][0] if rows else last)

    def _load(self) -> tuple[dict[SessionKey, _Session], int | None]:
        """Return what the saved scan found, and the last row it read; nothing if there is none."""
        found = self._saved.load(self._file) if self._saved is not None else None
        try:
            if found is not None:
                return {SessionKey(*key): _Session.of(kept) for key, kept in found.data}, found.last
        except (TypeError, ValueError, LookupError):  # damaged
            pass
        return {}, None

    def _save(self, sessions: dict[SessionKey, _Session], last: int) -> None:
        if self._saved is not None:
            self._saved.save(self._file, last, ([list(key), session.kept()] for key, session in sessions.items()))

    def _events(self, key: SessionKey, invocation_id: str, rowids: array[int] | None) -> list[Event]:
        if rowids is None:
            query = f"SELECT {_COLUMNS} FROM events WHERE {OF_SESSION} ORDER BY rowid"
            rows = self._file.read(partial(_fetch, query=query, values=key))
            return [self._decode(row) for row in rows if self._invocation_of(row) == invocation_id]
        query = f"SELECT {_COLUMNS} FROM events WHERE rowid = ?"
        found = self._file.read(lambda connection: [connection.execute(query, (rowid,)).fetchone() for rowid in rowids])
        return [self._decode(row) for row in found if row]


def _fetch(connection: Any, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = connection.execute(query, values).fetchall()
    return rows
