"""Pending items of stored sessions, found without decoding every row into an event.

A few fields of the JSON show that most invocations are finished. All others, and invocations with an unusual row, are decoded and read by
`history.invocations`, so the result is the same.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from runtime.history.invocations import Invocation, PendingItem, read_invocation, rewound_invocations, stray_results, with_recorded_ends
from runtime.sessions.recorded_end import RecordedEnd
from runtime.sessions.session_key import SessionKey
from runtime.storage.layouts.column_values import as_name
from runtime.storage.layouts.event_format import EventRow
from runtime.storage.reading.copied_events import Readable
from runtime.storage.reading.saved_scan import SavedScan
from runtime.support.quick_json import from_json, parser_of_many

if TYPE_CHECKING:
    from runtime.events.event import Event

_CHUNK = 2_000  # rows in one short transaction
WORTH_SAVING = 20_000  # rows above which the result of a scan is saved
_COLUMNS = "id, invocation_id, timestamp, event_data"  # of a row to be decoded
_BREATH = 50  # rows between two pauses; about 2 ms of work

_EVENT: dict[str, type] = {"author": str, "error_code": str, "partial": bool, "long_running_tool_ids": list}
_ACTIONS: dict[str, type] = {"end_of_agent": bool, "escalate": bool, "agent_state": dict, "rewind_before_invocation_id": str}
_CONTENT: dict[str, type] = {"parts": list}
_PART: dict[str, type] = {"function_call": dict, "function_response": dict}
_CALL: dict[str, type] = {"id": str}
_NO_ANSWERS: frozenset[str | None] = frozenset()

Ids = list[str | None]


class _Glance(NamedTuple):
    """The relevant fields of an event's JSON.

    Attributes:
        invocation_id, author: the event's fields.
        calls, responses: ids of its function calls and responses.
        rewinds: the invocation that it rewinds.
        is_end: whether it marks the end of its author.
        is_open: whether it is a checkpoint or has a long-running call.
        failed: whether it has an error.
        speaks: whether it has content.
        answers: whether the content is a final answer.
        is_odd: whether only the ids and `rewinds` are reliable.
    """

    invocation_id: str
    author: str
    calls: Ids
    responses: Ids
    rewinds: str | None
    is_end: bool = False
    is_open: bool = False
    failed: bool = False
    speaks: bool = False
    answers: bool = False
    is_odd: bool = False


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
        answered: whether its last agent event with content is a final answer.
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

    def add(self, rowid: int, seen: _Glance) -> None:
        if self.rowids is not None:
            self.rowids.append(rowid)
        self.is_odd |= seen.is_odd
        if seen.calls or seen.responses:
            self._pair(seen)
        if seen.author == "user":
            self.is_odd |= seen.is_open or seen.is_end
            return
        if self.root is None:
            self.root = seen.author
        self.ended = seen.is_end and seen.author == self.root
        self.has_steps |= seen.is_end or seen.is_open
        self.failed = seen.failed
        if seen.speaks:
            self.answered = seen.answers

    def _pair(self, seen: _Glance) -> None:
        called = (*self.open_calls, *(call for call in seen.calls if call not in self.early))
        self.early = (*self.early, *(response for response in seen.responses if response not in called))
        self.open_calls = tuple(call for call in called if call not in seen.responses)

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

    def kept(self) -> list[Any]:
        """Return it as JSON data, for `of`."""
        invocations = [[name, invocation and invocation.kept()] for name, invocation in self.invocations.items()]
        return [invocations, list(self.answers), self.steps, self.latest]

    @classmethod
    def of(cls, kept: list[Any]) -> _Session:
        """Return the session of `kept`."""
        invocations, answers, steps, latest = kept
        known = {name: one and _Invocation.of(one) for name, one in invocations}
        return cls(known, set(answers), [(name, rewound) for name, rewound in steps], latest)

    def add(self, rowid: int, seen: _Glance) -> None:
        name = seen.invocation_id
        if name != self.latest:
            self._settle_latest()
            self.latest = name
        if seen.author == "user":
            self.answers.update(seen.responses)
        if seen.rewinds is not None or self.steps:
            self._note_step((name, seen.rewinds))
        if name not in self.invocations:
            self.invocations[name] = _Invocation()
        invocation = self.invocations[name]
        if invocation is None:
            invocation = self.invocations[name] = _Invocation(rowids=None, is_odd=True)
        invocation.add(rowid, seen)

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
        self._json_wins = json_wins
        self._ends = ends
        self._saved = saved

    def find(
        self, key: SessionKey | None = None, progress: Callable[[int], object] = lambda _: None
    ) -> dict[SessionKey, list[PendingItem]]:
        """Return pending items by session, the newest last. Sessions without pending items may be missing.

        Args:
            key: the session, or None for all sessions.
            progress: called now and then with the number of events read so far.
        """
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
            progress: see `find`.
        """
        sessions, last = self._load() if key is None else ({}, None)
        adders: dict[tuple[Any, ...], Callable[[int, _Glance], None]] = {}  # stored names → what adds a row to their session
        parse, json_wins = parser_of_many(), self._json_wins
        number = -1
        for number, (rowid, app_name, user_id, session_id, invocation_id, data) in enumerate(self._rows(key, last)):
            if number % _BREATH == 0:
                progress(number)
                if gently:
                    time.sleep(0.001)
            add = adders.get((app_name, user_id, session_id))
            if add is None:
                name = SessionKey(as_name(app_name), as_name(user_id), as_name(session_id))
                add = adders[app_name, user_id, session_id] = sessions.setdefault(name, _Session()).add
            add(rowid, _look(invocation_id, data, parse, json_wins=json_wins) or self._look_closely(rowid))
        adders.clear()
        if key is None and number >= WORTH_SAVING:
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
            if end.status == "interrupted" and name in session.invocations:  # its events may look finished
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
        return with_recorded_ends(entries, ends)

    def _glance_at(self, row: EventRow) -> _Glance:
        _, invocation_id, _, data = row
        return _look(invocation_id, data, from_json, json_wins=self._json_wins) or _look_closely(self._decode(row))

    def _look_closely(self, rowid: int) -> _Glance:
        row = self._file.read(lambda connection: connection.execute(f"SELECT {_COLUMNS} FROM events WHERE rowid = ?", (rowid,)).fetchone())
        return _look_closely(self._decode(row))

    def _rows(self, key: SessionKey | None, after: int | None) -> Iterable[tuple[Any, ...]]:
        of_session = " AND app_name = ? AND user_id = ? AND session_id = ?" if key else ""
        query = (
            "SELECT rowid, app_name, user_id, session_id, invocation_id, event_data FROM events"
            f" WHERE rowid > ?{of_session} ORDER BY rowid LIMIT {_CHUNK}"
        )
        values: tuple[Any, ...] = key or ()
        last = -(2**63) if after is None else after
        while True:
            rows = self._file.read(partial(_fetch, query=query, values=(last, *values)))
            yield from rows
            if len(rows) < _CHUNK:
                return
            last = rows[-1][0]

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
            query = f"SELECT {_COLUMNS} FROM events WHERE app_name = ? AND user_id = ? AND session_id = ? ORDER BY rowid"
            rows = self._file.read(partial(_fetch, query=query, values=key))
            return [self._decode(row) for row in rows if self._glance_at(row).invocation_id == invocation_id]
        query = f"SELECT {_COLUMNS} FROM events WHERE rowid = ?"
        found = self._file.read(lambda connection: [connection.execute(query, (rowid,)).fetchone() for rowid in rowids])
        return [self._decode(row) for row in found if row]


def _fetch(connection: Any, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = connection.execute(query, values).fetchall()
    return rows


def _look(invocation_id: str, data: Any, parse: Callable[[Any], Any], *, json_wins: bool) -> _Glance | None:
    """Return the relevant fields of a row's JSON, or None if one of them is unusual."""
    try:
        event = parse(data)
    except (ValueError, TypeError, RecursionError):
        return None
    if not _is_object(event, _EVENT) or event.get("custom_metadata"):
        return None
    actions, content = event.get("actions") or {}, event.get("content")
    if not (_is_object(actions, _ACTIONS) and (content is None or _is_object(content, _CONTENT))):
        return None
    parts = (content or {}).get("parts") or []
    calls: Ids = []
    responses: Ids = []
    for part in parts:
        if not _is_object(part, _PART):
            return None
        for kind, ids in (("function_call", calls), ("function_response", responses)):
            half = part.get(kind)
            if half is not None:
                if not _is_object(half, _CALL):
                    return None
                ids.append(half.get("id"))
    if json_wins and "invocation_id" in event:
        invocation_id = event["invocation_id"]
    author = event.get("author")
    if not isinstance(invocation_id, str) or author is None:
        return None
    # By position, as names take twice as long.
    return _Glance(
        invocation_id,
        author,
        calls,
        responses,
        actions.get("rewind_before_invocation_id"),
        bool(actions.get("end_of_agent")),
        actions.get("agent_state") is not None or bool(event.get("long_running_tool_ids")),
        bool(event.get("error_code")),
        content is not None,
        bool(parts)
        and not (calls or responses or event.get("partial") or actions.get("escalate"))
        and "code_execution_result" not in parts[-1]
        and "executable_code" not in parts[-1],
    )


def _look_closely(event: Event) -> _Glance:
    calls, responses = event.get_function_calls(), event.get_function_responses()
    return _Glance(
        event.invocation_id,
        event.author,
        [call.id for call in calls],
        [response.id for response in responses],
        event.actions.rewind_before_invocation_id,
        is_odd=True,
    )


def _is_object(value: Any, types: dict[str, type]) -> bool:
    """Return whether a value is a JSON object with lower-case keys whose named members are missing, null or of these types."""
    if type(value) is not dict:
        return False
    names = tuple(value)
    named = _shapes.get(names)  # most events have one of a few sets of keys
    if named is None:
        named = _shape(names)
    if named is False:
        return False
    for name in named:
        kind = types.get(name)
        if kind is not None and type(value[name]) is not kind and value[name] is not None:
            return False
    return True


_MOST_SHAPES = 1_000
_TYPED = frozenset((*_EVENT, *_ACTIONS, *_CONTENT, *_PART, *_CALL))
_shapes: dict[tuple[str, ...], tuple[str, ...] | Literal[False]] = {}


def _shape(names: tuple[str, ...]) -> tuple[str, ...] | Literal[False]:
    """Return the names whose types matter, or False if one of them is not in lower case."""
    found: tuple[str, ...] | Literal[False] = False
    if not names or "".join(names).islower():
        found = tuple(name for name in names if name in _TYPED)
    if len(_shapes) < _MOST_SHAPES:
        _shapes[names] = found
    return found
