"""Somebody else's SQLite file, read without changing a byte of it or leaving a file behind.

How a file may be opened depends on who else uses it, and that changes while we look:

- it has no companions (`-wal`, `-journal`): nobody is writing. `immutable=1` takes no lock and makes no file; whether the file changed
  while we read is seen afterwards, and then it is read again;
- the same, but it was changed a moment ago and keeps a rollback journal: somebody writes again and again. Read only, with its lock, which
  leaves no file behind in that mode;
- it has a write-ahead log, and somebody has it open: a private copy that is kept up to date, see `wal_copy.py`;
- the same, but it is too large for that, or has a rollback journal: read only, in one short transaction;
- it has, and nobody has it open: a writer died. Reading would repair the file, so a private copy of all of them is read instead.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import struct
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeVar
from urllib.parse import quote

from runtime.errors.storage_error import StorageError
from runtime.storage.connections.database_errors import storage_error
from runtime.storage.connections.open_files import open_file_registry
from runtime.storage.connections.wal_copy import CLOCK_TICK, WalCopy

T = TypeVar("T")
Way = Literal["unused", "watched", "in use", "left behind"]

_COMPANIONS = ("-wal", "-journal")
_TRIES, _TRIES_TO_COPY = 20, 5
_PATIENCE, _BYTES_PER_SECOND = 1.5, 20e6
"""A damaged file can send SQLite in circles: a read may take this many seconds, and longer by its size."""

_STILL_WRITTEN = 1.0
"""Seconds since the last change in which the next one is to be expected."""

_LONGEST_VALUE = 512 * 1024 * 1024
_READABLE_TABLES = re.compile(r"(sessions|events|app_states|user_states|adk_internal_metadata|inspector_\w+|sqlite_master)")
_FUNCTIONS = {"count", "max", "min", "sum", "coalesce", "ifnull", "like", "substr", "length", "json_extract", "instr", "lower", "typeof"}
# SQLite's file format: where a database says how it may be read, and how long a journal's magic number is.
_READ_VERSION, _JOURNAL_MAGIC = 19, 8
# Where SQLite's locks lie in a file.
_LOCK_START, _LOCK_LENGTH = 0x40000000, 512


class _Changing(Exception):
    """The log is being tidied away, or is gone that was there a moment ago: the file has to be looked at again."""


class SqliteFile:
    """Reads a file that may belong to anybody and hold anything.

    Args:
        file: an existing file.
        readable: says of which tables anything may be read; of those that a session database has, if it is not given.
    """

    def __init__(self, file: Path, readable: Callable[[str], bool] | None = None) -> None:
        self.file = file
        self._readable = readable or _is_known_table
        self._connection: sqlite3.Connection | None = None
        self._opened_as: object = None
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._wal_copy = WalCopy(file)
        self._not_copied = 0
        self._deadline = 0.0
        self._stopped = False

    def stop(self) -> None:
        """Break off what is being read, in whatever thread, and everything after it."""
        self._stopped = True

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a piece of work that only reads, on a consistent view of the file.

        Args:
            work: run again if the file was changed meanwhile; fetches everything it returns.

        Raises:
            StorageError: the file cannot be read, is damaged, or is not a database; a sentence says which.
        """
        self._not_copied = 0
        try:
            for _ in range(_TRIES):
                before = self._look()
                try:
                    result = self._read_once(before, work)
                except _Changing:
                    continue
                except (sqlite3.Error, UnicodeDecodeError) as error:
                    self.close_connection()
                    if self._look() == before:
                        raise self._storage_error(error) from error
                    continue
                if before[0] in ("in use", "watched") or self._look() == before:
                    return result
        except FileNotFoundError:
            raise StorageError(f"There is no file {self.file}.") from None
        except OSError as error:
            raise StorageError(f"{self.file} cannot be read: {error.strerror or error}.") from error
        raise StorageError(f"{self.file} is being written to all the time and could not be read. Try again.")

    def _storage_error(self, error: Exception) -> StorageError:
        if isinstance(error, UnicodeDecodeError):
            # The driver decodes names itself, before anybody is asked.
            return StorageError(f"{self.file} is damaged: a name in it is no text. Restore a backup.")
        return storage_error(error, str(self.file))

    def _read_once(self, look: tuple[Way, object], work: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._connect(look)
        self._deadline = time.monotonic() + _PATIENCE + self.file.stat().st_size / _BYTES_PER_SECOND
        try:
            connection.execute("BEGIN")
            return work(connection)
        finally:
            connection.rollback()
            if self._opened_as == "in use":
                # Held any longer it would keep the writer from tidying up, and companions would be left behind.
                self.close_connection()

    def close(self) -> None:
        """Let go of the file and of the private copy, if there is one."""
        self.close_connection()
        self._wal_copy.close()
        if self._copy:
            self._copy.cleanup()
            self._copy = None

    def close_connection(self) -> None:
        """Let go of the file until the next read."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
            if self._opened_as == "in use":
                open_file_registry.remove(self.file)
        self._opened_as = None

    def _look(self) -> tuple[Way, object]:
        """Return how the file may be read now, and what must stay the same for what was read to be true."""
        with open_file_registry.exclusive(self.file) as is_free:
            if not is_free:
                return "in use", ()
            companions = [companion for suffix in _COMPANIONS if _counts(companion := self.file.with_name(self.file.name + suffix))]
            if companions and _is_locked(self.file):
                return ("watched" if self._is_copied(companions) else "in use"), ()
            recent = time.time() - self.file.stat().st_mtime < _STILL_WRITTEN
            if not companions and recent and _keeps_journal(self.file):
                return "in use", ()
        try:
            stamps = tuple(_stamp(file) for file in (self.file, *companions))
        except FileNotFoundError:
            if companions and self.file.exists():
                return self._look()
            raise
        return ("left behind" if companions else "unused"), stamps

    def _is_copied(self, companions: list[Path]) -> bool:
        """Return whether a database in use is read from a copy; nobody here has it open."""
        has_log = [companion.name for companion in companions] == [f"{self.file.name}-wal"]
        try:
            return has_log and self._wal_copy.is_small
        except FileNotFoundError:
            return True  # its writer is leaving; that is found out when it is copied

    def _connect(self, look: tuple[Way, object]) -> sqlite3.Connection:
        way = look[0]
        key: object = look if way in ("unused", "left behind") else way
        if self._connection is not None and self._opened_as == key and (way != "watched" or self._is_current()):
            return self._connection
        self.close_connection()
        copy = self._watched_copy() if way == "watched" else None
        if way == "watched" and copy is None:
            key = way = "in use"
        if way == "left behind":
            uri = f"file:{quote(str(self._copy_all()))}"
        elif copy is not None:
            uri = f"file:{quote(str(copy))}?mode=ro"
        else:
            uri = f"file:{quote(str(self.file.absolute()))}?" + ("immutable=1" if way == "unused" else "mode=ro")
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=5.0, check_same_thread=False)
        if way == "in use":
            open_file_registry.add(self.file)
        self._connection, self._opened_as = connection, key
        self._harden(connection)
        return connection

    def _watched_copy(self) -> Path | None:
        with open_file_registry.exclusive(self.file) as is_free:
            try:
                copy = self._wal_copy.bring_up_to_date() if is_free else None
            except FileNotFoundError:
                raise _Changing from None
        if copy is None and is_free and self._not_copied < _TRIES_TO_COPY:
            # Most likely its writer is about to leave: to open it now would be the worst moment.
            self._not_copied += 1
            raise _Changing
        return copy

    def _is_current(self) -> bool:
        try:
            return self._wal_copy.is_current
        except FileNotFoundError:
            return False

    def _copy_all(self) -> Path:
        if self._copy:
            self._copy.cleanup()
        self._copy = tempfile.TemporaryDirectory(prefix="agent-inspector-")
        copy = Path(self._copy.name) / "copy.db"
        with open_file_registry.exclusive(self.file) as is_free:
            if not is_free:
                raise sqlite3.OperationalError("it has been opened meanwhile")
            shutil.copyfile(self.file, copy)
            for suffix in _COMPANIONS:
                companion = self.file.with_name(self.file.name + suffix)
                if companion.exists():
                    shutil.copyfile(companion, copy.with_name(copy.name + suffix))
        return copy

    def _harden(self, connection: sqlite3.Connection) -> None:
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON", "mmap_size = 0"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_progress_handler(lambda: self._stopped or time.monotonic() > self._deadline, 20_000)
        connection.set_authorizer(self._allow)
        # Text that is not UTF-8 is somebody's mistake, not a reason to show nothing.
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")

    def _allow(self, action: int, first: str | None, second: str | None, _database: str | None, _trigger: str | None) -> int:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_TRANSACTION):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            return sqlite3.SQLITE_OK if first and self._readable(first) else sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_PRAGMA:
            return sqlite3.SQLITE_OK if first in ("table_info", "data_version") else sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_FUNCTION:
            return sqlite3.SQLITE_OK if second in _FUNCTIONS else sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_DENY


def _is_known_table(name: str) -> bool:
    return _READABLE_TABLES.fullmatch(name) is not None


def _stamp(file: Path) -> tuple[int, int, int]:
    stat = file.stat()
    if abs(time.time() - stat.st_mtime) < CLOCK_TICK:
        # A change right now could bear the same stamp as the last one.
        time.sleep(CLOCK_TICK)
        stat = file.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _counts(companion: Path) -> bool:
    """Return whether a companion may hold something; writers that keep their journal empty it, or its first bytes."""
    try:
        if not companion.name.endswith("-journal"):
            return companion.exists()
        with companion.open("rb") as opened:
            return any(opened.read(_JOURNAL_MAGIC))
    except FileNotFoundError:
        return False


def _keeps_journal(file: Path) -> bool:
    """Return whether writers of a database keep a rollback journal, and no write-ahead log."""
    with file.open("rb") as opened:
        opened.seek(_READ_VERSION)
        return opened.read(1) == b"\x01"


def _is_locked(file: Path) -> bool:
    """Return whether another process has the database open (in WAL mode) or is writing to it; where that cannot be asked, True."""
    if sys.platform != "linux":
        return True
    import fcntl  # not on Windows

    question = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, _LOCK_START, _LOCK_LENGTH, 0)
    with file.open("rb") as opened:
        answer = fcntl.fcntl(opened, fcntl.F_GETLK, question)
    return bool(struct.unpack("hhqqi", answer)[0] != fcntl.F_UNLCK)
