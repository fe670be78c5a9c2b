"""Checkpoints and writes as they are stored, in any layout, as data."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from runtime.storage.langgraph.threads import Checkpoint, Content, Write
from runtime.storage.langgraph.values import TOO_LARGE, Unread, UnreadableError, channel_value, decode, stored_checkpoint
from runtime.storage.layouts.column_values import as_name
from runtime.support.bounded import MOST_BYTES, parse


class FileRows:
    """The rows of a file of `SqliteSaver`, of 2024 or of today; see `translation.Rows`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        columns = {row[1] for table in ("checkpoints", "writes") for row in connection.execute(f"PRAGMA table_info({table})")}
        is_old = "thread_ts" in columns
        ns, key, parent = ("''", "thread_ts", "parent_ts") if is_old else ("checkpoint_ns", "checkpoint_id", "parent_checkpoint_id")
        kind, path = "'json'" if is_old else "type", "task_path" if "task_path" in columns else "NULL"
        this = f"thread_id = ? AND {ns} = ? AND {key} = ?"
        self._checkpoints = f"SELECT {ns}, {key}, {parent}, metadata FROM checkpoints WHERE thread_id = ?"
        kinds, values = (
            {name: f"CASE WHEN length({name}) > {MOST_BYTES} THEN {bad} ELSE {good or name} END" for name in ("checkpoint", "value")}
            for bad, good in ((f"'{TOO_LARGE}'", kind), ("NULL", None))
        )
        self._blobs = f"SELECT thread_id, {kinds['checkpoint']}, {values['checkpoint']} FROM checkpoints"
        self._content = f"SELECT {kinds['checkpoint']}, {values['checkpoint']} FROM checkpoints WHERE {this}"
        order = "task_path, task_id, idx" if "task_path" in columns else "rowid"
        self._writes = f"SELECT task_id, {path}, channel, {kinds['value']}, {values['value']} FROM writes WHERE {this} ORDER BY {order}"

    def signatures(self) -> dict[Any, object]:
        """See `Rows.signatures`."""
        counted = "SELECT thread_id, count(*), max(rowid) FROM {} GROUP BY thread_id"
        writes = {thread: rest for thread, *rest in self._connection.execute(counted.format("writes"))}
        return {thread: (rest, writes.get(thread)) for thread, *rest in self._connection.execute(counted.format("checkpoints"))}

    def checkpoints(self, thread: Any) -> list[tuple[Checkpoint, str | None]]:
        """See `Rows.checkpoints`."""
        return [checkpoint(*row) for row in self._connection.execute(self._checkpoints, (thread,))]

    def blobs(self) -> Iterator[tuple[Any, Any, Any]]:
        """Yield the thread, type and blob of each checkpoint."""
        yield from self._connection.execute(self._blobs)

    def content(self, thread: Any, place: Checkpoint) -> Content:
        """See `Rows.content`."""
        row = self._connection.execute(self._content, (thread, place.ns, place.id)).fetchone()
        try:
            return content(place, stored_checkpoint(*(row or (None, None))))
        except UnreadableError as error:
            return unread(place, str(error))

    def writes(self, thread: Any, place: Checkpoint) -> list[Write]:
        """See `Rows.writes`."""
        return [write(*row) for row in self._connection.execute(self._writes, (thread, place.ns, place.id))]


def checkpoint(ns: Any, name: Any, parent: Any, metadata: Any) -> tuple[Checkpoint, str | None]:
    """Return a checkpoint of its columns, and the user that it names."""
    about = _metadata(metadata)
    parents, deltas, source, user = (about.get(key) for key in ("parents", "counters_since_delta_snapshot", "source", "user_id"))
    outer = {key: value for key, value in parents.items() if isinstance(value, str)} if isinstance(parents, dict) else {}
    ancestor = as_name(parent) if parent is not None else None
    named = source if isinstance(source, str) else "loop"
    written = frozenset(deltas if isinstance(deltas, dict) else ())
    return Checkpoint(as_name(ns), as_name(name), ancestor, named, outer, written), user if isinstance(user, str) else None


def content(place: Checkpoint, found: Mapping[str, Any]) -> Content:
    """Return the content of a checkpoint that was read."""
    channels, seen = found["channel_values"], found.get("versions_seen")
    sends = channel_value(channels["__pregel_tasks"]) if "__pregel_tasks" in channels else found.get("pending_sends")
    at = _epoch(found.get("ts")) or _epoch_of_id(place.id)
    return Content(at, channels, seen if isinstance(seen, dict) else {}, sends if isinstance(sends, list) else ())


def unread(place: Checkpoint, problem: str) -> Content:
    """Return the content of a checkpoint that cannot be read."""
    return Content(_epoch_of_id(place.id), {}, {}, (), problem)


def write(task: Any, path: Any, channel: Any, kind: Any, stored: Any) -> Write:
    """Return a write of its columns."""
    return Write(as_name(task), path if isinstance(path, str) else None, as_name(channel), value(kind, stored))


def value(kind: Any, stored: Any) -> Any:
    """Return a stored value; `Unread` if it cannot be read."""
    try:
        return decode(kind, stored)
    except UnreadableError as error:
        return Unread(str(error))


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
