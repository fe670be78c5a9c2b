"""The one door to database files: every connection and every direct descriptor of this process.

POSIX drops all of a process's locks on a file when the process closes *any* descriptor of that file. The next process that closes its
connection then takes itself for the last user, and deletes the write-ahead log that is written here. So a descriptor that SQLite did not
open is kept, and used again, as long as SQLite may have the file open here; opening and reading one is harmless.

Windows keeps locks for each handle, so there a descriptor is closed at once.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from runtime.support.linkless import is_regular, open_regular

_DROPS_LOCKS = os.name == "posix"
_OWN_DESCRIPTORS = "/dev/fd"  # on Linux and macOS
Identity = tuple[int, int]  # device and inode: a file may have several names


class OpenFiles:
    """The database files that this process has open. Thread-safe; nothing waits for a connection or a read to end."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a finalizer may close a connection in the middle of any function
        self._connecting = 0
        self._connections: Counter[Identity] = Counter()
        self._direct: set[int] = set()
        self._kept: defaultdict[Identity, list[BinaryIO]] = defaultdict(list)

    def connect(self, database: str | Path, *, locks: bool = True, **options: Any) -> sqlite3.Connection:
        """Open an SQLite database, as `sqlite3.connect` does. Any thread may close the connection.

        Args:
            database: a path, a URI or `:memory:`.
            locks: whether SQLite locks the file; it does not with `immutable=1`.
            **options: arguments of `sqlite3.connect`.

        Raises:
            sqlite3.Error: the database cannot be opened.
        """
        with self._lock:
            self._connecting += 1
        try:
            connection: sqlite3.Connection = sqlite3.connect(database, **{"check_same_thread": False, "factory": _Connection, **options})
            if locks and isinstance(connection, _Connection) and (identity := _identity_of(connection)) is not None:
                with self._lock:
                    self._connections[identity] += 1
                    connection.identity = identity
            return connection
        finally:
            with self._lock:
                self._connecting -= 1
                self._close_kept()

    def __contains__(self, file: Path) -> bool:
        """Return whether this process has a file open as a database, with locks."""
        identity = identity_of(file)
        with self._lock:
            return identity is not None and self._connections[identity] > 0

    def has_open(self, file: Path) -> bool:
        """Return whether this process has a file open other than by `reading`; an agent's own connection counts."""
        identity = identity_of(file)
        if identity is None:
            return False
        with self._lock:
            return self._connections[identity] > 0 or self._is_open_elsewhere(identity)

    @contextmanager
    def reading(self, file: Path) -> Iterator[BinaryIO]:
        """Open a database file directly, for reading, at its beginning.

        Args:
            file: no link.

        Raises:
            LinkError: it is a link or a special file.
            OSError: it cannot be opened.
        """
        direct, identity = self._take(file)
        try:
            with os.fdopen(direct.fileno(), "rb", closefd=False) as opened:  # a new one: its buffer is empty
                opened.seek(0)
                yield opened
        finally:
            with self._lock:
                self._kept[identity].append(direct)
                self._close_kept()

    def _take(self, file: Path) -> tuple[BinaryIO, Identity]:
        """Return a direct descriptor that is not in use at the moment."""
        with self._lock:
            kept = self._kept.get(_identity(file.stat())) if is_regular(file) else None
            direct = kept.pop() if kept else open_regular(file)
            self._direct.add(direct.fileno())
            return direct, _identity(os.fstat(direct.fileno()))

    def closed(self, identity: Identity | None) -> None:
        """Note that a connection was closed; None if it had no locks."""
        with self._lock:
            if identity is not None:
                self._connections[identity] -= 1
                if not self._connections[identity]:
                    del self._connections[identity]
            self._close_kept()

    def _close_kept(self) -> None:
        for identity in list(self._kept):
            if self._may_be_closed(identity):
                for direct in self._kept.pop(identity, ()):
                    self._direct.discard(direct.fileno())
                    direct.close()

    def _may_be_closed(self, identity: Identity) -> bool:
        if not _DROPS_LOCKS:
            return True
        return not (self._connecting or self._connections[identity] or self._is_open_elsewhere(identity))

    def _is_open_elsewhere(self, identity: Identity) -> bool:
        """Return whether this process has a descriptor of a file that is not one of ours, as far as the system tells.

        It may belong to a connection that an agent opened, or to one of ours that is closed but has an unfinished cursor: SQLite keeps the
        file open until the cursor is deleted.
        """
        with suppress(OSError):
            for name in os.listdir(_OWN_DESCRIPTORS):  # noqa: PTH208
                with suppress(OSError):
                    if int(name) not in self._direct and _identity(os.fstat(int(name))) == identity:
                        return True
        return False

    def after_fork(self) -> None:
        """Forget, in a forked child, what other threads were doing in the parent."""
        self._lock, self._connecting = threading.RLock(), 0


class _Connection(sqlite3.Connection):
    identity: Identity | None = None

    def close(self) -> None:
        super().close()
        identity, self.identity = self.identity, None
        open_files.closed(identity)

    def __del__(self) -> None:
        with suppress(sqlite3.Error, AttributeError):  # it was never opened
            self.close()


def _identity_of(connection: sqlite3.Connection) -> Identity | None:
    """Return the identity of a connection's file; None for a database in memory."""
    usual = connection.text_factory
    connection.text_factory = bytes  # a name need not be UTF-8
    try:
        ((_, _, path),) = connection.execute("PRAGMA database_list").fetchall()
        return _identity(os.stat(path)) if path else None  # noqa: PTH116
    except OSError:
        return None  # moved meanwhile; its descriptor is still found
    finally:
        connection.text_factory = usual


def identity_of(file: Path) -> Identity | None:
    """Return a file's device and inode; None if it cannot be found."""
    try:
        return _identity(file.stat())
    except OSError:
        return None


def _identity(status: os.stat_result) -> Identity:
    return status.st_dev, status.st_ino


open_files = OpenFiles()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=open_files.after_fork)
