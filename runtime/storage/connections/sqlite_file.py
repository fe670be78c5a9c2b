"""Reading of another program's SQLite file without changing it or leaving files behind.

How a file may be opened depends on the other processes that use it, which may change at any moment. "Companions" are the files `-wal` and
`-journal`.

- No companions: the file is not being written. `immutable=1` takes no lock and creates no file. If the file's stamp has changed after
  the read, it is read again.
- No companions, but the file changed a moment ago and uses a rollback journal: it is probably written repeatedly. It is opened
  read-only with a lock, which leaves no file behind in that journal mode.
- A write-ahead log, and another process has the database open: a private copy is kept up to date and read, see `wal_copy.py`.
- As before, but too large to copy, or with a rollback journal: opened read-only, in one short transaction.
- A write-ahead log of a replaced file, see `write_ahead_log.py`: as without companions, but the file is closed after the read.
- Companions, and no process has the database open: a writer died. Reading would repair the file, so a private copy of the file and its
  companions is read instead.
"""

from __future__ import annotations

import os
import re
import sqlite3
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeVar
from urllib.parse import quote

from runtime.errors.storage_error import StorageError
from runtime.storage.connections.companions import check_companions, companion, copy_with_companions, real_file, size_on_disk
from runtime.storage.connections.database_errors import storage_error
from runtime.storage.connections.open_files import open_files
from runtime.storage.connections.wal_copy import CLOCK_TICK, WalCopy
from runtime.storage.connections.write_ahead_log import has_replaced_log
from runtime.support.linkless import is_regular, open_regular

T = TypeVar("T")
Way = Literal["unused", "replaced", "watched", "in use", "left behind"]

_WITHOUT_LOG = ("unused", "replaced")
_COMPANIONS = ("-wal", "-journal")
_TRIES, _TRIES_TO_COPY = 20, 5
# A damaged file can send SQLite into a loop: a read may take this many processor seconds, plus the time for the file's size.
_PATIENCE, _BYTES_PER_SECOND = 1.5, 20e6
_STILL_WRITTEN = 1.0  # seconds after a change in which another one is expected
_LONGEST_VALUE = 512 * 1024 * 1024  # bytes
_READABLE_TABLES = re.compile(r"(sessions|events|app_states|user_states|adk_internal_metadata|inspector_\w+|sqlite_master)")
_FUNCTIONS = {"count", "max", "min", "sum", "coalesce", "ifnull", "like", "substr", "length", "json_extract", "instr", "lower", "typeof"}
_FUNCTIONS |= {"abs", "julianday"}  # to compare times
_FUNCTIONS |= {"glob", "json_type", "json_valid"}
_NOT_UTF8 = "Could not decode to UTF-8"  # the driver's error
# SQLite's file format: offset of the read version in a database, and length of a journal's magic number.
_READ_VERSION, _JOURNAL_MAGIC = 19, 8
# Byte range of a file that SQLite locks.
_LOCK_START, _LOCK_LENGTH = 0x40000000, 512


class _Changing(Exception):
    """The write-ahead log is disappearing or has disappeared: inspect the file again."""


class SqliteFile:
    """A reader of an untrusted file that other processes may be using.

    Args:
        file: an existing file.
        readable: whether a table may be read. By default, only the tables of a session database may.
        name: the file's name in errors, as the user wrote it; default: the path.
    """

    def __init__(self, file: Path, readable: Callable[[str], bool] | None = None, name: str | None = None) -> None:
        self.file = real_file(file)
        self._name = str(file) if name is None else name
        self._readable = readable or _is_known_table
        self._connection: sqlite3.Connection | None = None
        self._opened_as: object = None
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        self._wal_copy = WalCopy(self.file)
        self._not_copied = 0
        self._judged: tuple[object, bool] = (), False  # stamps, and whether the log is of a replaced file
        self._abandoned: list[object] | None = None
        self._deadline = 0.0
        self._stopped = self._denied = self._has_odd_text = False

    def stop(self) -> None:
        """Interrupt the current read, in any thread, and all later ones."""
        self._stopped = True

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function that only reads, on a consistent view of the file.

        Args:
            work: called again if the file changed meanwhile. It fetches all the rows that it returns.

        Raises:
            StorageError: the file cannot be read, is damaged, or is not a database; the message says which.
        """
        self._not_copied, self._denied = 0, False
        try:
            for _ in range(_TRIES):
                before = self._look()
                try:
                    result = self._read_once(before, work)
                except _Changing:
                    continue
                except (sqlite3.Error, UnicodeDecodeError) as error:
                    self.close_connection()
                    if not self._has_odd_text and str(error).startswith(_NOT_UTF8):
                        # Such text is displayed with replacement characters. The driver's own decoder takes half the time.
                        self._has_odd_text = True
                        continue
                    self._raise_lost_interrupt(error)
                    if before[0] == "in use" and getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY_ROLLBACK:
                        # SQLite itself asks the system whether the journal's writer is alive, and it is not.
                        self._abandoned = self._companion_stamps()
                        continue
                    if self._look() == before:
                        raise self._storage_error(error) from error
                    continue
                if before[0] in ("in use", "watched") or self._look() == before:
                    return result
        except FileNotFoundError:
            raise StorageError(f"There is no file {self._name}.") from None
        except OSError as error:
            raise StorageError(f"{self._name} cannot be read: {error.strerror or error}.") from error
        raise StorageError(f"{self._name} is being written continuously and could not be read. Try again.")

    def _raise_lost_interrupt(self, error: Exception) -> None:
        """Raise KeyboardInterrupt if it is what ended a query: Python raised it inside our callback, where SQLite drops exceptions."""
        code = getattr(error, "sqlite_errorcode", None)
        unexplained = (code == sqlite3.SQLITE_INTERRUPT and not self._must_stop()) or (code == sqlite3.SQLITE_AUTH and not self._denied)
        if unexplained and threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt from None

    def _must_stop(self) -> bool:
        return self._stopped or time.thread_time() > self._deadline

    def _storage_error(self, error: Exception) -> StorageError:
        if isinstance(error, UnicodeDecodeError):
            # The driver decodes names itself and ignores `text_factory`.
            return StorageError(f"{self._name} is damaged: a name in it is not valid text. Restore a backup.")
        return storage_error(error, self._name)

    def _read_once(self, look: tuple[Way, object], work: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._connect(look)
        self.give_time()
        try:
            connection.execute("BEGIN")
            return work(connection)
        finally:
            connection.rollback()
            if self._opened_as == "in use" or look[0] == "replaced":
                # An open connection would keep the last writer from removing the companions when it closes; and of a file that has
                # replaced another, it would make that file's log seem to be this one's.
                self.close_connection()

    def give_time(self) -> None:
        """Start the time of the current read again: what its caller made of the rows is no fault of the file."""
        self._deadline = time.thread_time() + _PATIENCE + size_on_disk(self.file) / _BYTES_PER_SECOND

    def close(self) -> None:
        """Close the connection and delete the private copy, if there is one."""
        self.close_connection()
        self._wal_copy.close()
        if self._copy:
            self._copy.cleanup()
            self._copy = None

    def close_connection(self) -> None:
        """Close the connection; the next read opens it again."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        self._opened_as = None

    def _look(self) -> tuple[Way, object]:
        """Return how the file may be read now, and the stamps that must be unchanged after the read."""
        if self.file in open_files:
            return "in use", ()
        check_companions(self.file, self._name)
        companions = [found for suffix in _COMPANIONS if _counts(found := companion(self.file, suffix))]
        is_abandoned = self._abandoned is not None and self._abandoned == self._companion_stamps()
        if companions and not is_abandoned and _is_locked(self.file):
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
        if companions and self._has_replaced_log(stamps):
            return "replaced", stamps
        return ("left behind" if companions else "unused"), stamps

    def _has_replaced_log(self, stamps: tuple[tuple[int, int, int], ...]) -> bool:
        if self._judged[0] != stamps:
            self._judged = stamps, has_replaced_log(self.file)
        return self._judged[1]

    def _companion_stamps(self) -> list[object] | None:
        """Return the stamps of the files beside the database; None if one disappears."""
        try:
            return [_stamp(found) for suffix in _COMPANIONS if _counts(found := companion(self.file, suffix))]
        except FileNotFoundError:
            return None

    def _is_copied(self, companions: list[Path]) -> bool:
        """Return whether a database in use is read from a copy. This process must not have it open."""
        has_log = [companion.name for companion in companions] == [f"{self.file.name}-wal"]
        try:
            return has_log and self._wal_copy.is_small
        except FileNotFoundError:
            return True  # its writer is closing it; copying will find out

    def _connect(self, look: tuple[Way, object]) -> sqlite3.Connection:
        way = look[0]
        key: object = look if way in ("unused", "replaced", "left behind") else way
        if self._connection is not None and self._opened_as == key and (way != "watched" or self._is_current()):
            return self._connection
        self.close_connection()
        copy = self._watched_copy() if way == "watched" else None
        if way == "watched" and copy is None:
            key = way = "in use"
        if way == "left behind":
            uri = f"file:{quote(os.fsencode(self._copy_all()))}"
        elif copy is not None:
            uri = f"file:{quote(os.fsencode(copy))}?mode=ro"
        else:
            uri = f"file:{quote(os.fsencode(self.file.absolute()))}?" + ("immutable=1" if way in _WITHOUT_LOG else "mode=ro")
        connection = open_files.connect(uri, locks=way not in _WITHOUT_LOG, uri=True, isolation_level=None, timeout=5.0)
        self._connection, self._opened_as = connection, key
        self._harden(connection)
        return connection

    def _watched_copy(self) -> Path | None:
        is_free = self.file not in open_files
        try:
            copy = self._wal_copy.bring_up_to_date() if is_free else None
        except FileNotFoundError:
            raise _Changing from None
        if copy is None and is_free and self._not_copied < _TRIES_TO_COPY:
            # The writer is probably about to close the database: the worst moment to open it.
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
        copy_with_companions(self.file, copy)
        return copy

    def _harden(self, connection: sqlite3.Connection) -> None:
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "query_only = ON", "mmap_size = 0"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000)
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_progress_handler(self._must_stop, 20_000)
        connection.set_authorizer(self._authorize)
        if self._has_odd_text:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")

    def _authorize(self, action: int, first: str | None, second: str | None, *_: str | None) -> int:
        answer = self._allow(action, first, second)
        self._denied |= answer == sqlite3.SQLITE_DENY
        return answer

    def _allow(self, action: int, first: str | None, second: str | None) -> int:
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
        # Another change within the clock tick could leave the stamp the same.
        time.sleep(CLOCK_TICK)
        stat = file.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _counts(companion: Path) -> bool:
    """Return whether a companion may hold data. Writers that keep their journal truncate it or zero its first bytes."""
    try:
        if not companion.name.endswith("-journal"):
            return is_regular(companion)
        with open_regular(companion) as opened:
            return any(opened.read(_JOURNAL_MAGIC))
    except FileNotFoundError:
        return False


def _keeps_journal(file: Path) -> bool:
    """Return whether a database uses a rollback journal instead of a write-ahead log."""
    with open_files.reading(file) as opened:
        opened.seek(_READ_VERSION)
        return opened.read(1) == b"\x01"


def _is_locked(file: Path) -> bool:
    """Return whether another process has the database open (in WAL mode) or is writing to it; True where this cannot be found out."""
    if sys.platform != "linux":
        return True
    import fcntl  # not on Windows

    question = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, _LOCK_START, _LOCK_LENGTH, 0)
    with open_files.reading(file) as opened:
        answer = fcntl.fcntl(opened, fcntl.F_GETLK, question)
    return bool(struct.unpack("hhqqi", answer)[0] != fcntl.F_UNLCK)
