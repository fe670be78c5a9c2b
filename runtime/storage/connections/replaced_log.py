"""Write-ahead logs of databases that another file has replaced.

SQLite finds a database's log by its name. If a program has a database open while another file is put in its place, such as a restored
backup, the next connection applies the log of the replaced file to the new one: it gets the old sessions, or is damaged. The log belongs to
the replaced file if a process has the log open, but not the file that the log is beside.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from runtime.storage.connections.companions import companion
from runtime.storage.connections.open_files import identity_of, open_files
from runtime.storage.connections.other_processes import pids_with_open


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
