"""Reading of a PostgreSQL database as of an SQLite file: a consistent view, without changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from runtime.errors.storage_error import ConnectionLostError
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.database_errors import storage_error
from runtime.storage.connections.database_url import shown_url
from runtime.storage.connections.server import CHECKPOINT_TABLES, no_driver, server_tables, set_up_server
from runtime.storage.layouts.detect import Layout, layout_of, layout_of_checkpoints
from runtime.storage.layouts.statements import Rows
from runtime.storage.layouts.table_names import COMMITS, MAY_BE_SHARED, OF_SESSION
from runtime.storage.reading.event_rows import EventRows, ReadingConnection, Written, no_event

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

T = TypeVar("T")
_IN_ORDER = "seq NULLS LAST, timestamp, id"


class ServerDatabase:
    """A reader of a database on a server.

    Args:
        url: a URL with our driver.
        keep: stay connected between reads, for frequent reads.
    """

    def __init__(self, url: URL, *, keep: bool = False) -> None:
        from sqlalchemy import create_engine, event
        from sqlalchemy.pool import NullPool, QueuePool

        self.name = shown_url(url)
        pool: dict[str, Any] = {"poolclass": QueuePool, "pool_size": 1, "pool_reset_on_return": None} if keep else {"poolclass": NullPool}
        try:
            self._engine = create_engine(url, isolation_level="AUTOCOMMIT", **pool)
        except ModuleNotFoundError as error:
            raise no_driver() from error
        event.listen(self._engine, "connect", set_up_server)

    def read(self, work: Callable[[ReadingConnection], T]) -> T:
        """Run a function that only reads, in one transaction.

        Args:
            work: called again if the connection is lost meanwhile. It fetches all the rows that it returns.

        Raises:
            StorageError: the server cannot be reached, or reports an error.
        """
        try:
            return self._read_once(work)
        except ConnectionLostError:
            return self._read_once(work)

    def snapshot(self) -> str:
        """Return a text that changes whenever any process commits."""
        with self._connected() as driver:
            return str(driver.execute("SELECT CAST(txid_current_snapshot() AS text)").fetchone()[0])

    def close(self) -> None:
        """Disconnect from the server."""
        self._engine.dispose()

    def layout(self) -> Layout:
        """Return the database's layout."""

        def read(connection: ReadingConnection) -> Layout:
            tables = server_tables(connection)
            version = None
            if "adk_internal_metadata" in tables:
                row = connection.execute("SELECT value FROM adk_internal_metadata WHERE key = 'schema_version'").fetchone()
                version = str(row[0]) if row else None
            others = layout_of_checkpoints(server_tables(connection, CHECKPOINT_TABLES)) if "sessions" not in tables else None
            return others or layout_of(tables, version, self.name)

        return self.read(read)

    def _read_once(self, work: Callable[[ReadingConnection], T]) -> T:
        with self._connected() as driver:
            driver.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            try:
                return work(_QuestionMarks(driver))
            finally:
                if not driver.closed:
                    driver.execute("ROLLBACK")

    @contextmanager
    def _connected(self) -> Iterator[Any]:
        from sqlalchemy.exc import SQLAlchemyError

        driver_error: type[Exception] = self._engine.dialect.loaded_dbapi.Error
        try:
            with self._engine.connect() as connection:
                yield connection.connection.driver_connection
        except (SQLAlchemyError, driver_error) as error:
            self._engine.dispose()
            raise storage_error(error, self.name) from error


class _QuestionMarks:
    """A connection that accepts SQLite's question marks as parameters."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> Rows:
        rows: Rows = self._driver.execute(sql.replace("%", "%%").replace("?", "%s"), values)
        return rows


class ServerRows(EventRows):
    """A reader of the table `events` on a server.

    A server's table has no rowid, so events are ordered by our record, then by time, as in google-adk. Rows of a session are found by its
    index, and sorted without their JSON.
    """

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        self._ours = layout.ours
        # The session's part of our record is read once; a query of it for each event takes ten times longer.
        self._keys = (
            "(SELECT e.id, e.timestamp, c.seq FROM events AS e LEFT JOIN"
            f" (SELECT event_id, max(seq) AS seq FROM {COMMITS} WHERE {OF_SESSION} AND event_id IS NOT NULL GROUP BY event_id) AS c"
            f" ON c.event_id = e.id WHERE {OF_SESSION}) AS keys"
            if layout.ours
            else f"(SELECT id, timestamp, CAST(NULL AS bigint) AS seq FROM events WHERE {OF_SESSION}) AS keys"
        )

    def read(self, connection: ReadingConnection, key: SessionKey, after: str | None, limit: int | None) -> list[Sequence[Any]]:
        """See `EventRows.read`."""
        if after is None:
            return self._page(connection, key, "TRUE", (), limit=limit)
        row = connection.execute(f"SELECT seq, timestamp FROM {self._keys} WHERE id = ?", (*self._names(key), after)).fetchone()
        if row is None:
            raise no_event(key, after)
        seq, time = row
        if seq is not None:
            return self._page(connection, key, "(seq > ? OR seq IS NULL)", (seq,), limit=limit)
        return self._page(connection, key, "seq IS NULL AND (timestamp, id) > (?, ?)", (time, after), limit=limit)

    def newest(self, connection: ReadingConnection, key: SessionKey, count: int) -> list[Sequence[Any]]:
        """See `EventRows.newest`."""
        return self._page(connection, key, "TRUE", (), limit=count, order="seq DESC NULLS FIRST, timestamp DESC, id DESC")

    def of_ids(self, connection: ReadingConnection, key: SessionKey, ids: list[str]) -> list[Sequence[Any]]:
        """Return the rows of some of a session's events, in order."""
        return self._page(connection, key, "id = ANY(?)", (ids,))

    def written(self, connection: ReadingConnection, key: SessionKey) -> Iterator[Written]:
        """See `EventRows.written`."""
        return self._of_app(connection, key, "")

    def unrecorded(self, connection: ReadingConnection, key: SessionKey) -> Iterator[Written]:
        """Yield an app's events that are not in our record, in order, without those of other sessions that wrote no shared state."""
        recorded = (
            f"SELECT 1 FROM {COMMITS} AS c WHERE c.app_name = e.app_name AND c.user_id = e.user_id AND c.session_id = e.session_id"
            " AND c.event_id = e.id"
        )
        return self._of_app(connection, key, f" AND NOT EXISTS ({recorded})")

    def _names(self, key: SessionKey) -> tuple[str, ...]:
        return key * (2 if self._ours else 1)

    def _page(
        self,
        connection: ReadingConnection,
        key: SessionKey,
        condition: str,
        values: tuple[Any, ...],
        *,
        limit: int | None = None,
        order: str = _IN_ORDER,
    ) -> list[Sequence[Any]]:
        columns = ", ".join(f"e.{name}" for name in self._columns)
        return connection.execute(
            f"WITH page AS MATERIALIZED (SELECT id, timestamp, seq FROM {self._keys} WHERE {condition} ORDER BY {order} LIMIT ?)"
            f" SELECT {columns} FROM page JOIN events AS e ON e.id = page.id AND e.app_name = ? AND e.user_id = ? AND e.session_id = ?"
            f" ORDER BY page.seq NULLS LAST, page.timestamp, page.id",
            (*self._names(key), *values, limit, *key),
        ).fetchall()

    def _of_app(self, connection: ReadingConnection, key: SessionKey, condition: str) -> Iterator[Written]:
        body, shared = f"e.{self._body}", "TRUE"  # SQL cannot search a pickle
        if self._format.is_json:
            body = f"CAST({body} AS text)"
            shared = MAY_BE_SHARED.format(body)
        columns = f"e.user_id, e.session_id, e.id, e.timestamp, {body} AS body"
        own = "e.app_name = ? AND e.user_id = ? AND e.session_id = ?"
        others = f"e.app_name = ? AND NOT (e.user_id = ? AND e.session_id = ?) AND ({shared})"
        rows = connection.execute(
            "SELECT user_id, session_id, id, body FROM ("
            f"SELECT {columns} FROM events AS e WHERE {own}{condition}"
            f" UNION ALL SELECT {columns} FROM events AS e WHERE {others}{condition}"
            ") AS written ORDER BY timestamp, id",
            (*key, *key),
        )
        for user_id, session_id, event_id, data in rows:
            yield user_id, session_id, event_id, self._delta_of(data)
