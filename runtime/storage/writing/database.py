"""One database with its connection, as the session services' thread uses it."""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar, cast

from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from runtime.errors.storage_error import ConnectionLostError, StorageError
from runtime.storage.connections.backup import back_up
from runtime.storage.connections.database_errors import storage_error
from runtime.storage.connections.database_url import file_of, shown_url
from runtime.storage.connections.open_files import open_file_registry
from runtime.storage.connections.server import NO_DRIVER, check_jsonb, server_tables, set_up_server
from runtime.storage.layouts.column_values import as_datetime, as_text, dump_json, to_epoch
from runtime.storage.layouts.commit_record import Run, record_all_shared, record_events_of_others
from runtime.storage.layouts.detect import Layout, layout_of, sqlite_tables
from runtime.storage.layouts.statements import POSTGRESQL, POSTGRESQL_NOT_OURS, SQL, DriverConnection, Rows, compiled_statements
from runtime.storage.layouts.table_names import SCHEMA_VERSION, VERSION, WrittenLayout
from runtime.storage.layouts.tables import tables_of

BUSY_TIMEOUT = 30.0
"""Seconds that a commit waits for other writers, unless `connect_args={"timeout": …}` says otherwise."""

_PATIENCE, _BETWEEN_TRIES = 30.0, 0.1
"""Seconds that a server that was there before may be away, and between two looks for it."""

T = TypeVar("T")


class Database:
    """A database in one of the written layouts. Everything in it is called from one thread.

    Nothing is created or changed before the first write: then a new database gets its tables, and somebody else's gets a backup beside
    it, our tables and the record of what it holds.

    Attributes:
        file: the SQLite file, None for a database in memory or on a server.
        name: what to call it.
        writer: what our commits are signed with.
        foreign_writes: counts, while writing, how often somebody else may have written since our last commit.

    Args:
        url: with a synchronous driver.
        layout: which layout it has, or gets.
        options: for SQLAlchemy's `create_engine`.
        backs_up: make the backup; a copy that was made to be written needs none.
    """

    def __init__(self, url: URL, layout: WrittenLayout, options: dict[str, Any], *, backs_up: bool = True) -> None:
        self.file = file_of(url)
        self.name = str(self.file) if self.file else shown_url(url)
        self.writer = f"process {os.getpid()} on {socket.gethostname()}"
        self._layout: WrittenLayout = layout
        self._backs_up = backs_up
        self._tables = tables_of(layout)
        self._engine = _create_engine(url, options)
        self._is_sqlite = self._engine.dialect.name == "sqlite"
        self._begin = "BEGIN IMMEDIATE" if self._is_sqlite else "BEGIN"
        self._begin_reading = "BEGIN" if self._is_sqlite else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        self._compiled = compiled_statements(self._engine.dialect, SQL if self._is_sqlite else POSTGRESQL)
        self._not_ours = self._compiled if self._is_sqlite else compiled_statements(self._engine.dialect, POSTGRESQL_NOT_OURS)
        self._was_connected = False
        self._identity: tuple[int, int] | None = None
        self._replacements = 0
        self._keeps_jsonb = False
        self._connection: Connection | None = None
        self._found: Layout | None = None
        self._writable = False
        self._seen_version: int | None = None
        self.foreign_writes = 0

    def time_value(self, micros: int) -> Any:
        """Return microseconds as the time columns hold them."""
        if self._tables.times_are_real:
            return to_epoch(micros)
        return as_text(micros) if self._is_sqlite else as_datetime(micros)

    def is_ours(self) -> bool:
        """Return whether we have written to it, as far as reading or writing has found out."""
        return self._writable or bool(self._found and self._found.ours)

    @property
    def integrity_error(self) -> type[Exception]:
        """What the driver raises when a row is there already."""
        error: type[Exception] = self._engine.dialect.loaded_dbapi.IntegrityError
        return error

    @property
    def has_locks(self) -> bool:
        """Whether several may write at once, so that what a commit reads and changes has to be locked row by row."""
        return not self._is_sqlite

    def state_json(self, state: dict[str, Any]) -> str:
        """Return a state as JSON, as the columns hold it.

        Raises:
            UnstorableValueError: it would come back changed.
        """
        text = dump_json(state, "state", ascii_only=self._layout == "v1")
        if self.has_locks:
            check_jsonb(text, "state")  # google-adk writes a whole state back through jsonb, whatever the column's type
        return text

    def check_text(self, text: str, path: str) -> None:
        """Refuse JSON that would come back changed: google-adk's own tables on a server have the type jsonb.

        Args:
            text: about to be stored, in a transaction of `writing`.
            path: what to call it in the error.

        Raises:
            UnstorableValueError: it would.
        """
        if self._keeps_jsonb:
            check_jsonb(text, path)

    def persistently(self, work: Callable[[], T]) -> T:
        """Run a piece of work, and again while the server is being restarted or has no place for us.

        Args:
            work: finds out by itself whether its commit was made before the connection was lost.

        Raises:
            StorageError: the server stays away; or it never was there.
        """
        give_up = time.monotonic() + _PATIENCE
        while True:
            try:
                return work()
            except ConnectionLostError as error:
                known = self._was_connected or "accepts no more connections" in str(error)
                if not known or time.monotonic() > give_up:
                    raise
                self._disconnect()
                time.sleep(_BETWEEN_TRIES)

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError, self._driver_error):
                connection.invalidate()
                connection.close()

    @contextmanager
    def reading(self) -> Iterator[Run | None]:
        """Give a consistent view of the database, as a function that runs statements; None if there is nothing in it yet."""
        with self._errors():
            connection = self._connect(create=False)
            if connection is None:
                yield None
                return
            driver = _driver(connection)
            driver.execute(self._begin_reading)
            try:
                if not self._writable and self._found is None:
                    self._found = self._find_layout(connection)
                yield self._runner(driver) if self._writable or self._found else None
            finally:
                self._roll_back(driver)

    @contextmanager
    def writing(self) -> Iterator[Run]:
        """Give a transaction, alone with the database: committed at the end of the block, rolled back if it raises."""
        # Written out, not put together from smaller context managers: each would cost a tenth of a commit's own work.
        try:
            connection = self._connect(create=True)
            assert connection is not None
            if not self._writable:
                self._make_ready(connection)
            driver = _driver(connection)
            driver.execute(self._begin)
            try:
                run = self._runner(driver)
                self._notice_other_writers(run)
                yield run
                driver.execute("COMMIT")
            except BaseException:
                self._seen_version = None
                self._roll_back(driver)
                raise
        except (SQLAlchemyError, self._driver_error, OSError) as error:
            raise storage_error(error, self.name) from error

    def data_version(self, run: Run) -> int | None:
        """Return a number that stays the same as long as no other connection writes; None if the database has none.

        Args:
            run: in the transaction that it is true for.
        """
        if not self._is_sqlite:
            return None
        version: int = run("data_version").fetchone()[0]
        return version + (self._replacements << 40)  # each file counts for itself

    def has_utc_columns(self, run: Run) -> bool:
        """Return whether no event's time column is behind the event's own time, as local times can be.

        Args:
            run: in the transaction that it is true for.
        """
        if self._tables.times_are_real:
            return True
        if not self._is_sqlite or not self.is_ours():
            return False
        newest = run("newest_events")
        row = newest.fetchone()
        newest.close()
        is_recorded = row is None or bool(row[-1])
        return is_recorded and run("times").fetchone() is not None

    def close(self) -> None:
        """Let go of the connection; the last one out of an SQLite file takes its WAL away."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError):
                connection.close()
        self._engine.dispose()
        if self.file and connection is not None:
            open_file_registry.remove(self.file)

    def _connect(self, *, create: bool) -> Connection | None:
        if self._connection is not None and self.file and self._was_replaced(self.file):
            self._let_go_of_old_file(self.file)
        if self._connection is None:
            if self.file and not self._file_is_there(self.file, create=create):
                return None
            self._connection = self._engine.connect()
            self._was_connected = True
            if self.file:
                open_file_registry.add(self.file)
        return self._connection

    def _was_replaced(self, file: Path) -> bool:
        """Return whether the name belongs to another file by now, such as a backup that was put in its place.

        What is written into a file without a name is lost when it is closed, and no error would say so.

        Raises:
            StorageError: there is no file of that name any more.
        """
        try:
            found = file.stat()
        except FileNotFoundError:
            if self._identity is None:
                return False  # SQLite makes it with the first statement
            raise StorageError(
                f"{self.name} is not there any more: it was deleted or moved while it was open, and what is written now would be lost."
            ) from None
        known, self._identity = self._identity, (found.st_dev, found.st_ino)
        return known is not None and known != self._identity

    def _let_go_of_old_file(self, file: Path) -> None:
        self._disconnect()
        open_file_registry.remove(file)
        self._found, self._writable, self._seen_version = None, False, None
        self._replacements += 1

    def _file_is_there(self, file: Path, *, create: bool) -> bool:
        """Return whether to connect: SQLite creates a file that does not exist."""
        if file.is_dir():
            raise StorageError(f"{self.name} is a folder, not a database.")
        if not create or file.exists():
            return file.exists()
        if not file.absolute().parent.is_dir():
            raise StorageError(f"{self.name} cannot be created: there is no folder {file.absolute().parent}.")
        return True

    @contextmanager
    def _transaction(self, driver: DriverConnection) -> Iterator[None]:
        driver.execute(self._begin)
        try:
            yield
            driver.execute("COMMIT")
        except BaseException:
            self._roll_back(driver)
            raise

    def _roll_back(self, driver: DriverConnection) -> None:
        # SQLite has rolled back by itself after some errors, such as a full disk.
        with suppress(self._driver_error):
            driver.execute("ROLLBACK")

    def _runner(self, driver: DriverConnection) -> Run:
        ours = self._writable or self._found is None or self._found.ours
        compiled, execute = self._compiled if ours else self._not_ours, driver.execute

        def run(name: str, **values: Any) -> Rows:
            return execute(compiled[name], values)

        return run

    @property
    def _driver_error(self) -> type[Exception]:
        error: type[Exception] = self._engine.dialect.loaded_dbapi.Error
        return error

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, self._driver_error, OSError) as error:
            raise storage_error(error, self.name) from error

    def _notice_other_writers(self, run: Run) -> None:
        version = self.data_version(run)
        if version is None:
            self.foreign_writes += 1
        elif version != self._seen_version:
            self.foreign_writes += 1
            record_events_of_others(run)
            self._seen_version = version

    # What is there, and making it ours

    def _find_layout(self, connection: Connection) -> Layout | None:
        """Return what the database is, None if it is empty; refuse another layout than this service's."""
        tables = sqlite_tables(_sqlite_driver(connection)) if self._is_sqlite else _server_tables(connection)
        if not tables:
            return None
        version = None
        if "adk_internal_metadata" in tables:
            row = self._runner(_driver(connection))("schema_version").fetchone()
            version = row[0] if row else None
        layout = layout_of(tables, version, self.name)
        if layout.kind != self._layout:
            raise StorageError(f"{self.name} {layout.format.other_service}")
        if self._layout == "v1" and version not in (None, SCHEMA_VERSION):
            raise StorageError(f"{self.name} has layout version {version}, which this program does not know: it can only be read.")
        return layout

    def _make_ready(self, connection: Connection) -> None:
        layout = self._find_layout(connection)
        if layout and not layout.ours and self.file and self._backs_up:
            back_up(_sqlite_driver(connection), self.file)
        if self._is_sqlite:
            # Not possible while others read; then the file stays in its mode, as safe and slower.
            with suppress(sqlite3.OperationalError):
                _driver(connection).execute("PRAGMA journal_mode = WAL").fetchone()
        with self._transaction(_driver(connection)):
            if not self._is_sqlite:
                _driver(connection).execute("SELECT pg_advisory_xact_lock(1229606720)")
            # Another process may have been quicker.
            layout = self._find_layout(connection)
            if layout is None or not layout.ours:
                self._create_tables(connection, new=layout is None)
            self._keeps_jsonb = not self._is_sqlite and _server_tables(connection)["events"]["event_data"] == "JSONB"
        self._writable = True

    def _create_tables(self, connection: Connection, *, new: bool) -> None:
        run = self._runner(_driver(connection))
        self._tables.metadata.create_all(connection)
        run("insert_version", version=VERSION)
        run("insert_times")
        if self._layout == "v1" and run("schema_version").fetchone() is None:
            run("insert_schema_version")
        if not new:
            self._tables.our_index.create(connection, checkfirst=True)
            record_events_of_others(run)
            record_all_shared(run, self.writer)


def _create_engine(url: URL, options: dict[str, Any]) -> Engine:
    options = {"isolation_level": "AUTOCOMMIT", **options}
    if url.get_backend_name() == "sqlite":
        options["paramstyle"] = "named"
        options["connect_args"] = {"timeout": BUSY_TIMEOUT, **options.get("connect_args", {})}
    try:
        engine = create_engine(url, **options)
    except ModuleNotFoundError as error:
        raise StorageError(NO_DRIVER) from error
    event.listen(engine, "connect", _set_up_sqlite if engine.dialect.name == "sqlite" else set_up_server)
    return engine


def _set_up_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")


def _driver(connection: Connection) -> DriverConnection:
    driver: Any = connection.connection.driver_connection
    return cast(DriverConnection, driver)


def _sqlite_driver(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver


def _server_tables(connection: Connection) -> dict[str, dict[str, str]]:
    return server_tables(_driver(connection))
