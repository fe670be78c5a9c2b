"""A file of LangGraph's SqliteSaver, read as if it were a session database.

Its threads are translated into google-adk's tables in memory, which every reader of a session database then reads. A thread that grows is
translated from its last settled step on, so its new events are new rows, as in a session database.
"""

from __future__ import annotations

import importlib
import sqlite3
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from typing import Any, TypeVar

from runtime.sessions.lineage import Lineage, dump_origin
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.companions import companion
from runtime.storage.connections.open_files import open_files
from runtime.storage.connections.sqlite_file import SqliteFile
from runtime.storage.connections.wal_copy import CLOCK_TICK
from runtime.storage.langgraph.threads import Checkpoint, Content, Thread, Write, is_begin
from runtime.storage.langgraph.values import TOO_LARGE, Unread, UnreadableError, channel_value, decode, stored_checkpoint
from runtime.storage.layouts.column_values import as_name, micros_of
from runtime.storage.layouts.known_tables import created_tables
from runtime.storage.layouts.table_names import COMMITS, INVOCATIONS, OF_SESSION
from runtime.support.bounded import MOST_BYTES, parse

T = TypeVar("T")
_READABLE = ("checkpoints", "writes", "sqlite_master")
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


class CheckpointFile(SqliteFile):
    """A reader of a file with LangGraph's checkpoints, see `SqliteFile`.

    Args:
        file: an existing file.
        name: the file's name in errors.
    """

    def __init__(self, file: Path, name: str) -> None:
        super().__init__(file, lambda table: table in _READABLE, name)
        self._tables = open_files.connect(":memory:", isolation_level=None)
        for statement in (*created_tables("REAL", "TEXT").values(), *_OURS):
            self._tables.execute(statement)
        self._app = file.name.partition(".")[0] or file.name
        self._signatures: dict[Any, object] = {}  # thread → numbers that change whenever it does
        self._known: dict[Any, dict[str, _Known]] = {}  # thread → leaf, or "" for the newest → its session
        self._stamps: object = None

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """See `SqliteFile.read`; `work` sees the tables of a session database."""
        stamps, is_settled = self._look_at_files()
        if stamps != self._stamps:
            found = super().read(_signatures)
            for thread in self._signatures.keys() - found.keys():
                self._remove(self._known.pop(thread).values())
            for thread, signature in found.items():
                if self._signatures.get(thread) != signature:
                    self._bring_up_to_date(thread)
            self._signatures, self._stamps = found, stamps if is_settled else None
        self._tables.set_progress_handler(lambda: self._stopped, 20_000)
        return work(self._tables)

    def close(self) -> None:
        """See `SqliteFile.close`."""
        super().close()
        self._tables.close()

    def _look_at_files(self) -> tuple[object, bool]:
        """Return the stamps of the files, and whether they are old enough to show every change until now."""
        stats = []
        for file in (self.file, companion(self.file, "-wal")):
            with suppress(OSError):  # reading the file reports it
                stats.append(file.stat())
        stamps = tuple((stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats)
        return stamps, all(abs(time.time() - stat.st_mtime) > CLOCK_TICK for stat in stats)

    def _bring_up_to_date(self, name: Any) -> None:
        """Translate what is new in a thread. It may run again if the file changes meanwhile."""

        def work(connection: sqlite3.Connection) -> None:
            if self._tables.in_transaction:
                self._tables.rollback()
            self._tables.execute("BEGIN")
            made.clear()
            sql = _Statements(connection)
            rows = [(*row, _metadata(stored)) for *row, stored in connection.execute(sql.checkpoints, (name,))]
            checkpoints = [_checkpoint(*row) for row in rows]
            thread = Thread(checkpoints, lambda each: sql.content(connection, name, each), lambda each: sql.writes(connection, name, each))
            user = next((str(about["user_id"]) for *_, about in rows if isinstance(about.get("user_id"), str)), "user")
            for leaf in thread.leaves()[: _MOST_FORKS + 1]:
                place = leaf.id if made else ""
                session = SessionKey(self._app, user, f"{as_name(name)}@{place}" if place else as_name(name))
                known = self._known.get(name, {}).get(place) or _Known(session)
                made[place] = self._translate(thread, leaf, known, made.get(""))

        made: dict[str, _Known] = {}
        super().read(work)
        self._remove(known for place, known in self._known.get(name, {}).items() if place not in made)
        self._tables.execute("COMMIT")
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
                self.give_time()
            steps.append(events)
        counts = [*known.counts[:first], *accumulate(map(len, steps), initial=known.counts[first])]
        keys = known.keys.union(*(event["actions"]["state_delta"] for events in steps[:-1] for event in events))
        rows = [(event["id"], event["invocation_id"], event["timestamp"], _json(event)) for events in steps for event in events]
        query = f"SELECT rowid, id, invocation_id, timestamp, event_data FROM events WHERE {OF_SESSION} ORDER BY rowid LIMIT -1 OFFSET ?"
        stored = self._tables.execute(query, (*known.key, known.counts[first])).fetchall()
        same = _common([tuple(row[1:]) for row in stored], rows)
        self._tables.executemany("DELETE FROM events WHERE rowid = ?", [row[:1] for row in stored[same:]])
        columns = "app_name, user_id, session_id, id, invocation_id, timestamp, event_data"
        query = f"INSERT OR IGNORE INTO events ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)"
        self._tables.executemany(query, [(*known.key, *row) for row in rows[same:]])
        state = dict.fromkeys(sorted(keys)) | thread.values(leaf)
        if thread.problem(leaf) is not None:
            state = {key: value for events in steps for event in events for key, value in event["actions"]["state_delta"].items()}
        begun, ended = thread.time(chain[0]), max(thread.time(leaf), *(row[2] for row in rows[-20:]), 0.0)
        query = "INSERT INTO sessions (app_name, user_id, id, state, create_time, update_time) VALUES (?, ?, ?, ?, ?, ?)"
        query += " ON CONFLICT DO UPDATE SET state = excluded.state, update_time = excluded.update_time"
        self._tables.execute(query, (*known.key, _json(state), begun, ended))
        self._record_ends(thread, chain, first, known, steps)
        if origin is not None and not known.chain:
            self._record_origin(known.key, begun, ended, origin, _common(origin.chain, ids) - 1)
        return _Known(known.key, ids, counts, keys)

    def _record_ends(self, thread: Thread, chain: list[Checkpoint], first: int, known: _Known, steps: list[list[dict[str, Any]]]) -> None:
        """Record how the runs ended that have one of these steps."""
        if first == 0:
            self._tables.execute(f"DELETE FROM {INVOCATIONS} WHERE {OF_SESSION}", known.key)
        last = {event["invocation_id"]: event for events in steps for event in events}
        begins = [index for index in range(len(chain)) if is_begin(chain, index)]
        for begun, end in zip(begins, [*begins[1:], len(chain)], strict=True):
            if (event := last.get(chain[begun].id)) is not None:
                values = (*known.key, chain[begun].id, *thread.outcome(chain, end - 1), event["id"], micros_of(event["timestamp"]))
                self._tables.execute(f"INSERT OR REPLACE INTO {INVOCATIONS} VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)

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
        row = self._tables.execute(query, (*origin.key, count - 1)).fetchone() if count else None
        lineage = Lineage(origin.key, None, row[0] if row else None, count, at)
        query = f"INSERT INTO {COMMITS} (app_name, user_id, session_id, at, temp) VALUES (?, ?, ?, ?, ?)"
        self._tables.execute(query, (*key, micros_of(created), dump_origin(lineage, ())))

    def _remove(self, sessions: Any) -> None:
        for known in sessions:
            for table in ("events", INVOCATIONS, COMMITS):
                self._tables.execute(f"DELETE FROM {table} WHERE {OF_SESSION}", known.key)
            self._tables.execute("DELETE FROM sessions WHERE app_name = ? AND user_id = ? AND id = ?", known.key)


class _Statements:
    """The queries of a layout: of 2024, or of today."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        columns = {row[1] for table in ("checkpoints", "writes") for row in connection.execute(f"PRAGMA table_info({table})")}
        is_old = "thread_ts" in columns
        ns, key, parent = ("''", "thread_ts", "parent_ts") if is_old else ("checkpoint_ns", "checkpoint_id", "parent_checkpoint_id")
        kind, path = "'json'" if is_old else "type", "task_path" if "task_path" in columns else "NULL"
        this = f"thread_id = ? AND {ns} = ? AND {key} = ?"
        self.checkpoints = f"SELECT {ns}, {key}, {parent}, metadata FROM checkpoints WHERE thread_id = ?"
        kinds, values = (
            {name: f"CASE WHEN length({name}) > {MOST_BYTES} THEN {bad} ELSE {good or name} END" for name in ("checkpoint", "value")}
            for bad, good in ((f"'{TOO_LARGE}'", kind), ("NULL", None))
        )
        self._content = f"SELECT {kinds['checkpoint']}, {values['checkpoint']} FROM checkpoints WHERE {this}"
        order = "task_path, task_id, idx" if "task_path" in columns else "rowid"
        self._writes = f"SELECT task_id, {path}, channel, {kinds['value']}, {values['value']} FROM writes WHERE {this} ORDER BY {order}"

    def content(self, connection: sqlite3.Connection, thread: Any, place: Checkpoint) -> Content:
        """Return the content of a checkpoint."""
        row = connection.execute(self._content, (thread, place.ns, place.id)).fetchone()
        try:
            found = stored_checkpoint(*(row or (None, None)))
        except UnreadableError as error:
            return Content(_epoch_of_id(place.id), {}, {}, (), str(error))
        channels, seen = found["channel_values"], found.get("versions_seen")
        sends = channel_value(channels["__pregel_tasks"]) if "__pregel_tasks" in channels else found.get("pending_sends")
        at = _epoch(found.get("ts")) or _epoch_of_id(place.id)
        return Content(at, channels, seen if isinstance(seen, dict) else {}, sends if isinstance(sends, list) else ())

    def writes(self, connection: sqlite3.Connection, thread: Any, place: Checkpoint) -> list[Write]:
        """Return the writes on a checkpoint."""
        found = []
        for task, path, channel, kind, stored in connection.execute(self._writes, (thread, place.ns, place.id)):
            try:
                value = decode(kind, stored)
            except UnreadableError as error:
                value = Unread(str(error))
            found.append(Write(as_name(task), path if isinstance(path, str) else None, as_name(channel), value))
        return found


def _signatures(connection: sqlite3.Connection) -> dict[Any, object]:
    counted = "SELECT thread_id, count(*), max(rowid) FROM {} GROUP BY thread_id"
    writes = {thread: rest for thread, *rest in connection.execute(counted.format("writes"))}
    return {thread: (rest, writes.get(thread)) for thread, *rest in connection.execute(counted.format("checkpoints"))}


def _common(first: list[Any], second: list[Any]) -> int:
    """Return how many items two lists begin with alike."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((place for place, (one, other) in pairs if one != other), min(len(first), len(second)))


def _checkpoint(ns: Any, name: Any, parent: Any, about: Mapping[str, Any]) -> Checkpoint:
    parents, deltas, source = (about.get(key) for key in ("parents", "counters_since_delta_snapshot", "source"))
    outer = {key: value for key, value in parents.items() if isinstance(value, str)} if isinstance(parents, dict) else {}
    ancestor = as_name(parent) if parent is not None else None
    named = source if isinstance(source, str) else "loop"
    return Checkpoint(as_name(ns), as_name(name), ancestor, named, outer, frozenset(deltas if isinstance(deltas, dict) else ()))


def _metadata(stored: Any) -> dict[str, Any]:
    try:
        found = parse(stored.encode() if isinstance(stored, str) else bytes(stored or b"{}"))
    except (ValueError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def _epoch(text: Any) -> float:
    try:
        return max(datetime.fromisoformat(text).timestamp(), 0.0)
    except (TypeError, ValueError, OverflowError, OSError):
        return 0.0


def _epoch_of_id(name: str) -> float:
    """Return the time in a checkpoint's id, which is a UUID of version 6; 0 if it has none."""
    digits = name.replace("-", "")
    try:
        ticks = int(digits[:12] + digits[13:16], 16)  # of 100 ns, since 1582
    except ValueError:
        return 0.0
    return max(ticks / 1e7 - 12_219_292_800, 0.0) if digits[12:13] == "6" else 0.0


def _json(value: Any) -> str:
    return str(importlib.import_module("msgspec").json.encode(value), "utf-8")
