"""A database and its connection, used by a session service's thread."""

from __future__ import annotations

import os
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from sqlalchemy import create_engine, event
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from runtime.errors.storage_error import ConnectionLostError, EmptyDatabaseError, ServerFullError, StorageError
from runtime.errors.unstorable_value_error import UnstorableValueError
from runtime.storage.connections.companions import check_companions, real_file, size_on_disk
from runtime.storage.connections.database_errors import storage_error
from runtime.storage.connections.database_url import file_of, shown_url
from runtime.storage.connections.new_file import back_up
from runtime.storage.connections.open_files import identity_of, open_files
from runtime.storage.connections.server import check_jsonb, no_driver, server_tables, set_up_server
from runtime.storage.connections.write_ahead_log import fold_log, remove_replaced_log
from runtime.storage.layouts.column_values import as_datetime, as_text, dump_state, to_epoch
from runtime.storage.layouts.commit_record import Execute, forget_temp_values, record_all_shared, record_events_of_others
from runtime.storage.layouts.detect import Layout, layout_of, layout_of_file, sqlite_tables
from runtime.storage.layouts.json_formats import SQLITE, V1
from runtime.storage.layouts.statements import POSTGRESQL, POSTGRESQL_NOT_OURS, SQL, DriverConnection, Rows, compiled_statements
from runtime.storage.layouts.table_names import SCHEMA_VERSION, VERSION, WrittenLayout
from runtime.storage.layouts.tables import tables_of

BUSY_TIMEOUT = 30.0  # seconds that a commit waits for other writers; `connect_args={"timeout": …}` overrides it
_PATIENCE, _BETWEEN_TRIES = 30.0, 0.1  # seconds that a server may be unreachable after a connection, and between two tries

# Seconds of processor time that one statement may take, an endless trigger's for instance, and what it may read or write in another second:
# a large file may be deleted from.
LONGEST_STATEMENT, _BYTES_PER_SECOND = 2.0, 20e6
_GRACE = 1.0  # seconds left for a statement whose caller is cancelled
_STEPS_BETWEEN_LOOKS = 1_000  # SQLite's virtual machine steps between two checks of the clock

T = TypeVar("T")


class _FirstWrite(NamedTuple):
    """The first write to another program's file. If it is refused, the file stays as it was.

    Attributes:
        backup: the backup that was made for it.
    """

    backup: Path | None

    def undo(self, database: Database) -> None:
        """Delete the backup, which is not needed."""
        database.take_back_our_tables()
        if self.backup is not None:
            self.backup.unlink(missing_ok=True)


class Database:
    """A database in one of the written layouts. All calls come from one thread.

    Nothing is created or changed before the first write. The first write creates the tables of a new database. For another program's
    database, it makes a backup beside the file, adds our tables and records the current content.

    Attributes:
        file: the SQLite file, or None for a database in memory or on a server.
        name: the database's name in messages.
        writer: the process name recorded with our commits.
        has_locks: whether several connections can write at once, so that a commit has to lock the rows that it reads and changes.
        foreign_writes: a counter, increased when another connection may have written since our last commit.

    Args:
        url: a URL with a synchronous driver.
        layout: the layout that the database has or gets.
        options: keyword arguments for SQLAlchemy's `create_engine`.
        backs_up: whether to make the backup; a working copy needs none.
    """

    def __init__(self, url: URL, layout: WrittenLayout, options: dict[str, Any], *, backs_up: bool = True) -> None:
        self.file = file_of(url)
        self._path = str(self.file)
        self.name = str(url.database) if self.file else shown_url(url)
        self.writer = f"process {os.getpid()} on {socket.gethostname()}"
        self._layout: WrittenLayout = layout
        self._backs_up = backs_up
        self._tables = tables_of(layout)
        self._engine = _create_engine(url, options)
        self._is_sqlite = self._engine.dialect.name == "sqlite"
        self.has_locks = not self._is_sqlite
        self._begin = "BEGIN IMMEDIATE" if self._is_sqlite else "BEGIN"
        self._begin_reading = "BEGIN" if self._is_sqlite else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        self._compiled = compiled_statements(self._engine.dialect, SQL if self._is_sqlite else POSTGRESQL)
        self._not_ours = self._compiled if self._is_sqlite else compiled_statements(self._engine.dialect, POSTGRESQL_NOT_OURS)
        self._was_connected = False
        self._identity: tuple[int, int] | None = None
        self._replacements = 0
        self._keeps_jsonb = False
        self._connection: Connection | None = None
        self._driver: DriverConnection | None = None  # of the connection; SQLAlchemy needs five calls to return it
        self._found: Layout | None = None
        self._writable = False
        self._seen_version: int | None = None
        self._began = inf  # processor time of the thread at the start of a statement; infinite for one that may take any time
        self._cancelled_at = inf  # by the monotonic clock
        self.foreign_writes = 0

    def time_value(self, micros: int) -> Any:
        """Return microseconds as a value of the time columns."""
        if self._tables.times_are_real:
            return to_epoch(micros)
        return as_text(micros) if self._is_sqlite else as_datetime(micros)

    def is_ours(self) -> bool:
        """Return whether the database is known to have our tables; False before the first read or write."""
        return self._writable or bool(self._found and self._found.ours)

    def records_ends(self) -> bool:
        """Return whether the database is known to have our table of recorded ends; False before the first read or write."""
        return self._writable or bool(self._found and self._found.records_ends)

    def keeps_notes(self) -> bool:
        """Return whether the database is known to have our table of notes; False before the first read or write."""
        return self._writable or bool(self._found and self._found.keeps_notes)

    @property
    def integrity_error(self) -> type[Exception]:
        """The driver's exception for a row that already exists."""
        error: type[Exception] = self._engine.dialect.loaded_dbapi.IntegrityError
        return error

    def state_json(self, state: dict[str, Any]) -> str:
        """Return a state as JSON for the state columns.

        Raises:
            UnstorableValueError: the database would change the state.
        """
        text = dump_state(state, ascii_only=self._layout == "v1")
        if self.has_locks:
            check_jsonb(text, "state")  # google-adk passes whole states through jsonb, even for columns of another type
        return text

    def check_text(self, text: str, path: str) -> None:
        """Refuse JSON that the database would change: google-adk's own tables on a server use jsonb.

        Args:
            text: JSON to be stored, in a transaction of `writing`.
            path: the value's name in the error.

        Raises:
            UnstorableValueError: the database would change the value.
        """
        if self._keeps_jsonb:
            check_jsonb(text, path)

    def persistently(self, work: Callable[[bool], T]) -> T:
        """Run a function, and repeat it while the server restarts or accepts no more connections.

        Args:
            work: the function. Its argument is whether it is repeated: the server may already have committed.

        Raises:
            StorageError: the server stays unreachable, or could never be reached.
            UnstorableValueError: a name or an id has half of a surrogate pair.
        """
        give_up, again = time.monotonic() + _PATIENCE, False
        while True:
            try:
                return work(again)
            except UnicodeEncodeError as error:  # of the driver: values are checked before
                raise UnstorableValueError(
                    "A name or an id", f"{error.object!r:.80} has half a surrogate pair, which cannot be encoded"
                ) from None
            except ConnectionLostError as error:
                known = self._was_connected or isinstance(error, ServerFullError)
                if not known or time.monotonic() > give_up:
                    raise
                self._disconnect()
                again = True
                time.sleep(_BETWEEN_TRIES)

    def _disconnect(self) -> None:
        connection, self._connection, self._driver = self._connection, None, None
        if connection is not None:
            with suppress(SQLAlchemyError, self._driver_error):
                connection.invalidate()
                connection.close()

    @contextmanager
    def reading(self) -> Iterator[Execute | None]:
        """Yield a function that runs statements on a consistent view of the database, or None if the database has no tables yet."""
        with self._errors():
            connection = self._connect(create=False)
            if connection is None:
                yield None
                return
            driver = self._driver
            assert driver is not None
            driver.execute(self._begin_reading)
            try:
                if not self._writable and self._found is None:
                    self._found = self._find_layout(connection)
                yield self._runner(driver) if self._writable or self._found else None
            finally:
                self._roll_back(driver)

    def writing(self) -> _Writing:
        """Return a context manager of a function that runs statements in a write transaction.

        The transaction is committed at the end of the block, or rolled back on an error.
        """
        return _Writing(self)

    def hurry(self) -> None:
        """Give the current statement one more second, because its caller is cancelled; in any thread."""
        self._cancelled_at = time.monotonic() + _GRACE

    def data_version(self, run: Execute) -> int | None:
        """Return a number that changes when another connection writes, or None if the database has none.

        Args:
            run: runs statements in the transaction for which the number holds.
        """
        if not self._is_sqlite:
            return None
        version: int = run("data_version").fetchone()[0]
        return version + (self._replacements << 40)  # a replaced file starts its own count

    def has_utc_columns(self, run: Execute) -> bool:
        """Return whether no time column is earlier than the event's own time, as a column in local time can be.

        Args:
            run: runs statements in the transaction for which the result holds.
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
        """Close the connection. What was written is in the SQLite file then; the last connection removes the write-ahead log."""
        if self._connection is not None and self.file and self._is_replaced_at_end():
            self._release_old_file()
        elif self._writable and isinstance(self._driver, sqlite3.Connection):
            fold_log(self._driver)  # the last connection may be a reader's, which cannot
        connection, self._connection, self._driver = self._connection, None, None
        if connection is not None:
            with suppress(SQLAlchemyError):
                connection.close()
        self._engine.dispose()

    def _connect(self, *, create: bool) -> Connection | None:
        if self._connection is not None and self.file and self._was_replaced():
            self._release_old_file()
        if self._connection is None:
            if self.file and not self._file_is_there(self.file, create=create):
                return None
            self._connection = self._engine.connect()
            self._identity = identity_of(self.file) if self.file else None
            self._driver = _driver(self._connection)
            self._was_connected = True
        return self._connection

    def _was_replaced(self) -> bool:
        """Return whether another file now has this name, such as a restored backup.

        Data written to an unlinked file is lost without an error when the file is closed.

        Raises:
            StorageError: no file has this name any more.
        """
        try:
            found = os.stat(self._path)  # noqa: PTH116 (a Path makes three calls of it, and every commit needs it)
        except FileNotFoundError:
            if self._identity is None:
                return False  # SQLite creates the file with the first statement
            raise StorageError(
                f"{self.name} does not exist any more: it was deleted or moved while it was open. Data written now would be lost."
            ) from None
        known, self._identity = self._identity, (found.st_dev, found.st_ino)
        return known is not None and known != self._identity

    def _is_replaced_at_end(self) -> bool:
        try:
            return self._was_replaced()
        except (StorageError, OSError):
            return False  # it may come back

    def _release_old_file(self) -> None:
        assert self.file is not None
        if isinstance(self._driver, sqlite3.Connection):
            fold_log(self._driver)  # the replaced file may have another name now
        remove_replaced_log(real_file(self.file))  # while it is open here: later, nothing shows to which file it belongs
        self._disconnect()
        self._found, self._writable, self._seen_version = None, False, None
        self._replacements += 1

    def _file_is_there(self, file: Path, *, create: bool) -> bool:
        """Return whether to connect. Connecting to a missing file would create it."""
        if file.is_dir():
            raise StorageError(f"{self.name} is a folder, not a database.")
        check_companions(real_file(file), self.name)
        remove_replaced_log(real_file(file))
        if not create or file.exists():
            return file.exists()
        if not file.absolute().parent.is_dir():
            raise StorageError(f"{self.name} cannot be created: the folder {file.parent} does not exist.")
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
        # SQLite rolls back by itself after some errors, such as a full disk.
        with suppress(self._driver_error):
            driver.execute("ROLLBACK")

    def _runner(self, driver: DriverConnection) -> Execute:
        ours = self._writable or self._found is None or self._found.ours
        compiled, execute = self._compiled if ours else self._not_ours, driver.execute

        def run(name: str, columns: dict[str, Any] | None = None, /, **values: Any) -> Rows:
            self._begin_statement()
            sql, parameters = compiled[name]
            return execute(sql, parameters(values if columns is None else columns))

        return run

    def _begin_statement(self) -> None:
        self._began, self._cancelled_at = time.thread_time(), inf

    def _must_stop(self) -> bool:
        if time.monotonic() > self._cancelled_at:
            return True
        spent = time.thread_time() - self._began - LONGEST_STATEMENT
        return spent > 0 and (self.file is None or spent > size_on_disk(self.file) / _BYTES_PER_SECOND)

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

    def _raise_as_ours(self, error: BaseException) -> None:
        """Raise our error for an error of the driver, of SQLAlchemy or of the system; do nothing for others."""
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_INTERRUPT:
            raise StorageError(
                f"A write to {self.name} took longer than {LONGEST_STATEMENT:.0f} s and was undone. A trigger in it may be the cause."
            ) from error
        if isinstance(error, (SQLAlchemyError, self._driver_error, OSError)):
            raise storage_error(error, self.name) from error

    def _notice_other_writers(self, run: Execute) -> None:
        version = self.data_version(run)
        if version is None:
            self.foreign_writes += 1
        elif version != self._seen_version:
            self.foreign_writes += 1
            record_events_of_others(run)
            self._seen_version = version

    # The layout, and our tables

    def _find_layout(self, connection: Connection) -> Layout | None:
        """Return the layout, or None if not all its tables are there; raise StorageError if it is not this service's layout."""
        tables = sqlite_tables(_sqlite_driver(connection)) if self._is_sqlite else _server_tables(connection)
        if not tables:
            return None
        version = None
        if "adk_internal_metadata" in tables:
            row = self._runner(_driver(connection))("schema_version").fetchone()
            version = row[0] if row else None
        name = self.name
        try:
            layout = layout_of_file(_sqlite_driver(connection), name) if self._is_sqlite else layout_of(tables, version, name)
        except EmptyDatabaseError as empty:
            if empty.layout == self._layout:
                return None
            other = SQLITE if empty.layout == "sqlite" else V1
            raise StorageError(other.refusal(name)) from None
        if layout.kind != self._layout:
            raise StorageError(layout.format.refusal(name))
        if self._layout == "v1" and version not in (None, SCHEMA_VERSION):
            raise StorageError(f"{self.name} has layout version {version}, which this program does not know. It can only be read.")
        return layout

    def _make_ready(self, connection: Connection) -> _FirstWrite | None:
        """Prepare the database for writing, or another program's file for the first write, which adds our tables if it succeeds."""
        self._begin_statement()
        if self._is_sqlite:
            # A trigger can loop for ever.
            _sqlite_driver(connection).set_progress_handler(self._must_stop, _STEPS_BETWEEN_LOOKS)
        layout = self._find_layout(connection)
        if layout and not layout.ours and self.file:
            self._began = inf
            return _FirstWrite(back_up(_sqlite_driver(connection), self.file) if self._backs_up else None)
        if self._is_sqlite:
            self._use_log(_driver(connection))
        overwritten = False
        with self._freed_space_overwritten(_driver(connection)), self._transaction(_driver(connection)):
            if not self._is_sqlite:
                _driver(connection).execute("SELECT pg_advisory_xact_lock(1229606720)")
            # Another process may have created the tables meanwhile.
            layout = self._find_layout(connection)
            if layout is None or not layout.ours:
                self._create_tables(connection, new=layout is None)
            else:
                self._create_later_tables(connection, layout)
                overwritten = forget_temp_values(self._runner(_driver(connection)))
            self._keeps_jsonb = not self._is_sqlite and _server_tables(connection)["events"]["event_data"] == "JSONB"
        if self._is_sqlite and overwritten:
            # The values are also in the write-ahead log. Another connection's read keeps it for now.
            with suppress(sqlite3.OperationalError):
                _driver(connection).execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self._writable = True
        return None

    def _add_our_tables(self, connection: Connection) -> None:
        # Another process may have added them meanwhile.
        layout = self._find_layout(connection)
        if layout is None or not layout.ours:
            self._create_tables(connection, new=layout is None)
        else:
            self._create_later_tables(connection, layout)
        self._writable = True

    def _create_later_tables(self, connection: Connection, layout: Layout) -> None:
        if not (layout.records_ends and layout.keeps_notes):
            for table in self._tables.later:
                table.create(connection, checkfirst=True)

    def take_back_our_tables(self) -> None:
        """Note that the transaction that added our tables was rolled back."""
        self._writable = False

    def _use_log(self, driver: DriverConnection) -> None:
        # Fails while other connections read. Then the file keeps its journal mode, which is as safe but slower.
        with suppress(sqlite3.OperationalError):
            driver.execute("PRAGMA journal_mode = WAL").fetchone()

    @contextmanager
    def _freed_space_overwritten(self, driver: DriverConnection) -> Iterator[None]:
        """Make SQLite overwrite the space that values leave when they are replaced."""
        if not self._is_sqlite:
            yield
            return
        usual = driver.execute("PRAGMA secure_delete").fetchone()[0]
        driver.execute("PRAGMA secure_delete = ON").fetchone()
        try:
            yield
        finally:
            driver.execute(f"PRAGMA secure_delete = {usual}").fetchone()

    def _create_tables(self, connection: Connection, *, new: bool) -> None:
        run = self._runner(_driver(connection))
        self._tables.metadata.create_all(connection)
        run("insert_version", version=VERSION)
        run("insert_times")
        if self._layout == "v1" and run("schema_version").fetchone() is None:
            run("insert_schema_version")
        self._began = inf  # an index on many events takes long
        self._tables.our_index.create(connection, checkfirst=True)
        if not new:
            record_events_of_others(run)
            record_all_shared(run, self.writer)


class _Writing:
    """A write transaction, as a context manager; one of contextlib's would take a twentieth of a commit's time."""

    __slots__ = ("_database", "_driver", "_first")

    def __init__(self, database: Database) -> None:
        self._database = database

    def __enter__(self) -> Execute:
        database = self._database
        try:
            connection = database._connect(create=True)
            assert connection is not None and database._driver is not None
            self._driver = driver = database._driver
            self._first = None if database._writable else database._make_ready(connection)
        except Exception as error:
            database._raise_as_ours(error)
            raise
        try:
            driver.execute(database._begin)
            if self._first is not None:
                database._add_our_tables(connection)
            run = database._runner(driver)
            database._notice_other_writers(run)
        except BaseException as error:
            self._undo(error)
            raise
        return run

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        database = self._database
        if error is not None:
            self._undo(error)
            return
        try:
            database._begin_statement()
            self._driver.execute("COMMIT")
        except BaseException as failure:
            self._undo(failure)
            raise
        if self._first is not None:
            with database._errors():
                database._use_log(self._driver)

    def _undo(self, error: BaseException) -> None:
        """Roll back, and raise our error for a driver's; an error that is ours already is raised by the caller."""
        database = self._database
        database._seen_version = None
        database._roll_back(self._driver)
        if self._first is not None:
            with database._errors():
                self._first.undo(database)
        database._raise_as_ours(error)


def _create_engine(url: URL, options: dict[str, Any]) -> Engine:
    options = {"isolation_level": "AUTOCOMMIT", **options}
    if url.get_backend_name() == "sqlite":
        options["connect_args"] = {"timeout": BUSY_TIMEOUT, **options.get("connect_args", {})}
    try:
        engine = create_engine(url, **options)
    except ModuleNotFoundError as error:
        raise no_driver() from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "do_connect", lambda _dialect, _record, places, options: open_files.connect(*places, **options))
        event.listen(engine, "connect", _set_up_sqlite)
    else:
        event.listen(engine, "connect", set_up_server)
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
