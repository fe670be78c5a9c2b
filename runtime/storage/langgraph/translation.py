"""LangGraph's threads as google-adk's tables in memory, which every reader of a session database reads.

A thread that grows is translated from its last settled step on, so its new events are new rows, as in a session database.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Protocol, TypeVar

from runtime.sessions.lineage import Lineage, dump_origin
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.open_files import open_files
from runtime.storage.langgraph.threads import Checkpoint, Content, Thread, Write, is_begin
from runtime.storage.layouts.column_values import as_name, micros_of
from runtime.storage.layouts.known_tables import created_tables
from runtime.storage.layouts.table_names import COMMITS, INVOCATIONS, OF_SESSION

T = TypeVar("T")
_OPEN_STEPS = 2  # last known steps of a thread that are translated again when it has grown
_STEPS_AT_ONCE = 200  # that are translated in the time of one read; starting it again can take 2 ms
_MOST_FORKS = 100  # of a thread that are sessions of their own; the newest ones
_KEY = "app_name TEXT, user_id TEXT, session_id TEXT"
_OURS = (
    "CREATE INDEX by_session ON events (app_name, user_id, session_id)",
    f"CREATE TABLE {INVOCATIONS} ({_KEY}, invocation_id, status, reason, last_event_id, at,"
    " PRIMARY KEY (app_name, user_id, session_id, invocation_id))",
    f"CREATE TABLE {COMMITS} (seq INTEGER PRIMARY KEY, {_KEY}, event_id, at, temp)",
)


@dataclass(slots=True)
class _Known:
    """What is translated of one branch of a thread, which is a session.

    Attributes:
        key: the session.
        chain: the ids of its checkpoints, the oldest first.
        counts: the number of events before each of their steps, and of all.
        keys: the state keys that any settled event wrote.
    """

    key: SessionKey
    chain: list[str] = field(default_factory=list)
    counts: list[int] = field(default_factory=lambda: [0])
    keys: set[str] = field(default_factory=set)


class Rows(Protocol):
    """The rows of a database of checkpoints, in one transaction."""

    def signatures(self) -> dict[Any, object]:
        """Return thread → numbers that change whenever it does."""

    def checkpoints(self, thread: Any) -> list[tuple[Checkpoint, str | None]]:
        """Return the checkpoints of a thread, each with the user that it names."""

    def content(self, thread: Any, place: Checkpoint) -> Content:
        """Return the content of a checkpoint."""

    def writes(self, thread: Any, place: Checkpoint) -> list[Write]:
        """Return the writes on a checkpoint, in the order in which the reducers take them."""


class Translation:
    """The tables of a session database, made of checkpoints.

    Args:
        app: the app's name in them.

    Attributes:
        tables: the connection to them.
    """

    def __init__(self, app: str) -> None:
        self.tables = open_files.connect(":memory:", isolation_level=None)
        for statement in (*created_tables("REAL", "TEXT").values(), *_OURS):
            self.tables.execute(statement)
        self._app = app
        self._read: Callable[[Callable[[Rows], Any]], Any]
        self._give_time: Callable[[], None]
        self._signatures: dict[Any, object] = {}
        self._known: dict[Any, dict[str, _Known]] = {}  # thread → leaf, or "" for the newest → its session

    def bring_up_to_date(self, read: Callable[[Callable[[Rows], Any]], Any], give_time: Callable[[], None] = lambda: None) -> None:
        """Translate what changed since the last call.

        Args:
            read: runs a function on the rows, in one transaction; it may run it again if the database changes meanwhile.
            give_time: called while rows are translated, so that this is not counted as time of the read.
        """
        self._read, self._give_time = read, give_time
        found = self._read(lambda rows: rows.signatures())
        for thread in self._signatures.keys() - found.keys():
            self._remove(self._known.pop(thread).values())
        for thread, signature in found.items():
            if self._signatures.get(thread) != signature:
                self._translate_thread(thread)
        self._signatures = found

    def _translate_thread(self, name: Any) -> None:

        def work(rows: Rows) -> None:
            if self.tables.in_transaction:
                self.tables.rollback()
            self.tables.execute("BEGIN")
            made.clear()
            checkpoints = rows.checkpoints(name)
            thread = Thread((each for each, _ in checkpoints), lambda each: rows.content(name, each), lambda each: rows.writes(name, each))
            user = next((user for _, user in checkpoints if user is not None), "user")
            for leaf in thread.leaves()[: _MOST_FORKS + 1]:
                place = leaf.id if made else ""
                session = SessionKey(self._app, user, f"{as_name(name)}@{place}" if place else as_name(name))
                known = self._known.get(name, {}).get(place) or _Known(session)
                made[place] = self._translate(thread, leaf, known, made.get(""))

        made: dict[str, _Known] = {}
        self._read(work)
        self._remove(known for place, known in self._known.get(name, {}).items() if place not in made)
        self.tables.execute("COMMIT")
        self._known[name] = made

    def _translate(self, thread: Thread, leaf: Checkpoint, known: _Known, origin: _Known | None) -> _Known:
        """Bring a session up to date, and return what is known of it then."""
        chain = thread.chain(leaf)
        ids = [place.id for place in chain]
        common = _common(known.chain, ids)
        first = max(common - _OPEN_STEPS, 0) if thread.problem(leaf) is None else 0
        steps: list[list[dict[str, Any]]] = []
        for events in thread.steps(chain, first):
            if len(steps) % _STEPS_AT_ONCE == 0:
                self._give_time()
            steps.append(events)
        counts = [*known.counts[:first], *accumulate(map(len, steps), initial=known.counts[first])]
        keys = known.keys.union(*(event["actions"]["state_delta"] for events in steps[:-1] for event in events))
        rows = [(event["id"], event["invocation_id"], event["timestamp"], _json(event)) for events in steps for event in events]
        query = f"SELECT rowid, id, invocation_id, timestamp, event_data FROM events WHERE {OF_SESSION} ORDER BY rowid LIMIT -1 OFFSET ?"
        stored = self.tables.execute(query, (*known.key, known.counts[first])).fetchall()
        same = _common([tuple(row[1:]) for row in stored], rows)
        self.tables.executemany("DELETE FROM events WHERE rowid = ?", [row[:1] for row in stored[same:]])
        columns = "app_name, user_id, session_id, id, invocation_id, timestamp, event_data"
        query = f"INSERT OR IGNORE INTO events ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)"
        self.tables.executemany(query, [(*known.key, *row) for row in rows[same:]])
        state = dict.fromkeys(sorted(keys)) | thread.values(leaf)
        if thread.problem(leaf) is not None:
            state = {key: value for events in steps for event in events for key, value in event["actions"]["state_delta"].items()}
        begun, ended = thread.time(chain[0]), max(thread.time(leaf), *(row[2] for row in rows[-20:]), 0.0)
        query = "INSERT INTO sessions (app_name, user_id, id, state, create_time, update_time) VALUES (?, ?, ?, ?, ?, ?)"
        query += " ON CONFLICT DO UPDATE SET state = excluded.state, update_time = excluded.update_time"
        self.tables.execute(query, (*known.key, _json(state), begun, ended))
        self._record_ends(thread, chain, first, known, steps)
        if origin is not None and not known.chain:
            self._record_origin(known.key, begun, ended, origin, _common(origin.chain, ids) - 1)
        return _Known(known.key, ids, counts, keys)

    def _record_ends(self, thread: Thread, chain: list[Checkpoint], first: int, known: _Known, steps: list[list[dict[str, Any]]]) -> None:
        """Record how the runs ended that have one of these steps."""
        if first == 0:
            self.tables.execute(f"DELETE FROM {INVOCATIONS} WHERE {OF_SESSION}", known.key)
        last = {event["invocation_id"]: event for events in steps for event in events}
        begins = [index for index in range(len(chain)) if is_begin(chain, index)]
        for begun, end in zip(begins, [*begins[1:], len(chain)], strict=True):
            if (event := last.get(chain[begun].id)) is not None:
                values = (*known.key, chain[begun].id, *thread.outcome(chain, end - 1), event["id"], micros_of(event["timestamp"]))
                self.tables.execute(f"INSERT OR REPLACE INTO {INVOCATIONS} VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)

    def _record_origin(self, key: SessionKey, created: float, at: float, origin: _Known, shared: int) -> None:
        """Record of what session another branch of a thread is a fork.

        Args:
            key: the branch's session.
            created: its time of creation in epoch seconds.
            at: the time of the fork.
            origin: the session of the newest branch.
            shared: index of the last checkpoint that both have.
        """
        count = origin.counts[max(shared, 0)]
        query = f"SELECT id FROM events WHERE {OF_SESSION} ORDER BY rowid LIMIT 1 OFFSET ?"
        row = self.tables.execute(query, (*origin.key, count - 1)).fetchone() if count else None
        lineage = Lineage(origin.key, None, row[0] if row else None, count, at)
        query = f"INSERT INTO {COMMITS} (app_name, user_id, session_id, at, temp) VALUES (?, ?, ?, ?, ?)"
        self.tables.execute(query, (*key, micros_of(created), dump_origin(lineage, ())))

    def _remove(self, sessions: Any) -> None:
        for known in sessions:
            for table in ("events", INVOCATIONS, COMMITS):
                self.tables.execute(f"DELETE FROM {table} WHERE {OF_SESSION}", known.key)
            self.tables.execute("DELETE FROM sessions WHERE app_name = ? AND user_id = ? AND id = ?", known.key)


def _common(first: list[Any], second: list[Any]) -> int:
    """Return how many items two lists begin with alike."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(first), len(second)))


def _json(value: Any) -> str:
    return str(importlib.import_module("msgspec").json.encode(value), "utf-8")
