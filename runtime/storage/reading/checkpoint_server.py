"""LangGraph's checkpoints in a PostgreSQL database, as PostgresSaver stores them, read as if they were a session database."""

from __future__ import annotations

import importlib
import sqlite3
from collections.abc import Callable
from typing import Any, TypeVar

from runtime.storage.langgraph.stored_rows import checkpoint, content, unread, value, write
from runtime.storage.langgraph.threads import Checkpoint, Content, Write
from runtime.storage.langgraph.translation import Rows, Translation
from runtime.storage.langgraph.values import UnreadableError, decode
from runtime.storage.layouts.column_values import as_name
from runtime.storage.reading.event_rows import ReadingConnection
from runtime.storage.reading.server_database import ServerDatabase
from runtime.support.bounded import MOST_BYTES

T = TypeVar("T")
_THIS = "c.thread_id = ? AND c.checkpoint_ns = ? AND c.checkpoint_id = ?"
_BLOBS = (
    f"SELECT b.channel, b.type, CASE WHEN length(b.blob) <= {MOST_BYTES} THEN b.blob END"
    " FROM checkpoints AS c CROSS JOIN jsonb_each_text(c.checkpoint -> 'channel_versions') AS seen (channel, version)"
    " JOIN checkpoint_blobs AS b ON b.thread_id = c.thread_id AND b.checkpoint_ns = c.checkpoint_ns AND b.channel = seen.channel"
    f" AND b.version = seen.version WHERE {_THIS}"
)


class CheckpointServer:
    """A reader of LangGraph's checkpoints on a server; see `ServerDatabase`.

    Args:
        server: the connection to the database.
        app: the name of the sessions' app.
    """

    def __init__(self, server: ServerDatabase, app: str) -> None:
        self._server = server
        self._translation = Translation(app)
        self._snapshot: str | None = None

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """See `ServerDatabase.read`; `work` sees the tables of a session database in memory."""
        snapshot = self._server.snapshot()
        if snapshot != self._snapshot:
            self._translation.bring_up_to_date(lambda rows: self._server.read(lambda connection: rows(_ServerRows(connection))))
            self._snapshot = snapshot
        return work(self._translation.tables)

    def close(self) -> None:
        """Disconnect from the server."""
        self._server.close()
        self._translation.tables.close()


class _ServerRows(Rows):
    """The rows of the tables of PostgresSaver."""

    def __init__(self, connection: ReadingConnection) -> None:
        self._connection = connection

    def signatures(self) -> dict[Any, object]:
        counted = "SELECT thread_id, count(*), max(CAST(CAST(xmin AS text) AS bigint)) FROM {} GROUP BY thread_id"
        writes = {thread: rest for thread, *rest in self._connection.execute(counted.format("checkpoint_writes"))}
        return {thread: (rest, writes.get(thread)) for thread, *rest in self._connection.execute(counted.format("checkpoints"))}

    def checkpoints(self, thread: Any) -> list[tuple[Checkpoint, str | None]]:
        query = "SELECT checkpoint_ns, checkpoint_id, parent_checkpoint_id, CAST(metadata AS text) FROM checkpoints WHERE thread_id = ?"
        return [checkpoint(*row) for row in self._connection.execute(query, (thread,))]

    def content(self, thread: Any, place: Checkpoint) -> Content:
        this = (thread, place.ns, place.id)
        row = self._connection.execute(f"SELECT CAST(checkpoint AS text) FROM checkpoints AS c WHERE {_THIS}", this).fetchone()
        try:
            found = decode("json", row[0] if row else None)
        except UnreadableError as error:
            return unread(place, str(error))
        if not isinstance(found, dict):
            return unread(place, "is damaged: it is no checkpoint")
        inline = found.get("channel_values")
        channels = dict(inline) if isinstance(inline, dict) else {}
        raw: Any = importlib.import_module("msgspec").Raw
        for channel, kind, stored in self._connection.execute(_BLOBS, this):
            if kind != "empty":
                is_msgpack = kind == "msgpack" and isinstance(stored, bytes)
                channels[as_name(channel)] = raw(stored) if is_msgpack else value(kind, stored)
        return content(place, {**found, "channel_values": channels})

    def writes(self, thread: Any, place: Checkpoint) -> list[Write]:
        query = (
            f"SELECT task_id, task_path, channel, type, CASE WHEN length(blob) <= {MOST_BYTES} THEN blob END FROM checkpoint_writes AS c"
            f' WHERE {_THIS} ORDER BY task_path COLLATE "C", task_id COLLATE "C", idx'
        )
        return [write(*row) for row in self._connection.execute(query, (thread, place.ns, place.id))]
