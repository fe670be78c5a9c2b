"""Reading of a PostgreSQL database as of an SQLite file: a consistent view, without changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from runtime.errors.storage_error import ConnectionLostError, StorageError
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.database_errors import storage_error
from runtime.storage.connections.database_url import shown_url
from runtime.storage.connections.server import NO_DRIVER, server_tables, set_up_server
from runtime.storage.layouts.detect import Layout, layout_of
from runtime.storage.layouts.statements import Rows
from runtime.storage.layouts.table_names import COMMITS
from runtime.storage.reading.event_rows import OF_SESSION, EventRows, ReadingConnection, Written, no_event, parts

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

T = TypeVar("T")


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
            raise StorageError(NO_DRIVER) from error
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
            return layout_of(tables, version, self.name)

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

    A server's table has no rowid, so events are ordered by our record, then by time, as in google-adk.
    """

    def __init__(self, layout: Layout) -> None:
        super().__init__(layout)
        seq = (
            f"(SELECT max(c.seq) FROM {COMMITS} AS c WHERE c.app_name = e.app_name AND c.user_id = e.user_id"
            " AND c.session_id = e.session_id AND c.event_id = e.id)"
            if layout.ours
            else "CAST(NULL AS bigint)"
        )
        columns = ", ".join(["app_name", "user_id", "session_id", *self._columns])
        self._numbered = f"(SELECT {columns}, {seq} AS seq FROM events AS e) AS numbered"

    def read(self, connection: ReadingConnection, key: SessionKey, after: str | None, limit: int | None) -> list[Sequence[Any]]:
        """See `EventRows.read`."""
        rows = connection.execute(
            f"SELECT {', '.join(self._columns)} FROM {self._numbered} WHERE {OF_SESSION} ORDER BY seq NULLS LAST, timestamp, id", parts(key)
        ).fetchall()
        if after is not None:
            ids = [row[0] for row in rows]
            if after not in ids:
                raise no_event(key, after)
            rows = rows[ids.index(after) + 1 :]
        return rows[:limit]

    def of_ids(self, connection: ReadingConnection, key: SessionKey, ids: list[str]) -> list[Sequence[Any]]:
        """Return the rows of some of a session's events, in order."""
        return connection.execute(
            f"SELECT {', '.join(self._columns)} FROM {self._numbered} WHERE {OF_SESSION} AND id = ANY(?)"
            " ORDER BY seq NULLS LAST, timestamp, id",
            (*parts(key), ids),
        ).fetchall()

    def written(self, connection: ReadingConnection, key: SessionKey) -> Iterator[Written]:
        """See `EventRows.written`."""
        return self._of_app(connection, key, "TRUE")

    def unrecorded(self, connection: ReadingConnection, key: SessionKey) -> Iterator[Written]:
        """See `EventRows.unrecorded`."""
        return self._of_app(connection, key, "seq IS NULL")

    def _of_app(self, connection: ReadingConnection, key: SessionKey, condition: str) -> Iterator[Written]:
        rows = connection.execute(
            f"SELECT user_id, session_id, id, {self._body} FROM {self._numbered}"
            f" WHERE app_name = ? AND {condition} ORDER BY seq NULLS LAST, timestamp, id",
            (key.app_name,),
        )
        for user_id, session_id, event_id, data in rows:
            yield user_id, session_id, event_id, self._delta_of(data)
