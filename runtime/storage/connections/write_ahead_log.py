"""Write-ahead logs that must not stay as they are: of a file that another one has replaced, or left behind by a process.

SQLite finds a database's log by its name. If a program has a database open while another file is put in its place, such as a restored
backup, the next connection applies the log of the replaced file to the new one: it gets the old sessions, or is damaged. The log belongs to
the replaced file if a process has the log open, but not the file that the log is beside.

SQLite moves a log's content into the file when the last connection is closed, but not if that connection can only read, or its process is
killed.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from runtime.errors.storage_error import StorageError
from runtime.storage.connections.companions import check_companions, companion, real_file
from runtime.storage.connections.open_files import Identity, identity_of, open_files
from runtime.storage.connections.other_processes import pids_with_open

_PATIENCE, _BETWEEN_TRIES = 0.5, 0.02  # seconds to wait for readers of an older state, and between two tries


def has_replaced_log(file: Path) -> bool:
    """Return whether the log beside a database belongs to a replaced file that a process still has open, as far as Linux tells.

    The processes are read twice: one that opens or closes the database in that moment may seem to have the log alone. It takes 50 ms
    if there is a log, and as much again if that seems so.

    Args:
        file: the database, no link.
    """
    log = companion(file, "-wal")
    if not log.exists() or open_files.has_open(file):
        return False
    return _pids_with_log_alone(log, file) & _pids_with_log_alone(log, file) != set()


def _pids_with_log_alone(log: Path, file: Path) -> set[int]:
    """Return the processes that have the log open, but not the file; none if another one has both."""
    of_log, of_file = pids_with_open(log, file)
    return set() if of_log & (of_file - {os.getpid()}) else of_log


def remove_replaced_log(file: Path) -> None:
    """Remove the log of a replaced file, and its index. The programs that have the replaced file open keep theirs, which have no name then.

    Args:
        file: see `has_replaced_log`.
    """
    with suppress(OSError):  # Windows refuses it, but also to replace a file that is open
        before = identity_of(companion(file, "-wal"))
        if has_replaced_log(file) and identity_of(companion(file, "-wal")) == before:  # another process may have removed it meanwhile
            _remove_log(file)


def remove_log_from_before(file: Path) -> None:
    """Remove the log beside a file that was put in the place of another one, if it was last written before that or in the same clock tick.

    Args:
        file: the database, no link.
    """
    with suppress(OSError):
        log = companion(file, "-wal")
        if log.stat().st_mtime_ns <= file.stat().st_ctime_ns and not any(pids_with_open(log)):
            _remove_log(file)


def _remove_log(file: Path) -> None:
    for suffix in ("-wal", "-shm"):
        companion(file, suffix).unlink(missing_ok=True)


def fold_log(connection: sqlite3.Connection) -> bool:
    """Move the log's content into the file, without making other connections wait. Errors leave it in the log, where it is safe.

    Returns:
        Whether the file has all of it.
    """
    give_up = time.monotonic() + _PATIENCE
    with suppress(sqlite3.Error):
        while True:
            _, pages, moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            if pages == moved or time.monotonic() > give_up:
                return bool(pages == moved)
            time.sleep(_BETWEEN_TRIES)
    return False


def fold_log_of(file: Path, identity: Identity | None = None) -> None:
    """Move the content of a log that another process left behind into its database, and delete the log unless another process uses it.

    Args:
        file: a database that this program may write.
        identity: the file that the other process had open. A log of another file is not moved into the one that has its name now.
    """
    file = real_file(file)
    with suppress(OSError, StorageError, sqlite3.Error):
        check_companions(file, file.name)
        if identity not in (None, identity_of(file)):
            remove_log_from_before(file)
            return
        remove_replaced_log(file)
        if companion(file, "-wal").exists():
            with closing(open_files.connect(f"file:{quote(str(file))}?mode=rw", uri=True, isolation_level=None)) as connection:
                fold_log(connection)
