"""An up-to-date private copy of a database that another process writes with a write-ahead log.

A connection of ours could leave files behind: the last connection to close a database removes its log, but cannot while we read, and a
connection that opens a database whose writer has just closed it creates a new log. So we copy the files instead. The main file changes
only when a checkpoint moves pages of the log into it. Frames in the log carry checksums, and SQLite reads the complete frames of a copy.
A copy is consistent if no checkpoint happened meanwhile: the main file's stamp and the log's header are unchanged.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from runtime.storage.connections.companions import copy_privately
from runtime.storage.connections.open_files import open_files
from runtime.support.linkless import open_regular

CLOCK_TICK = 0.02  # seconds; resolution of a file's time stamp
LARGEST = 64_000_000  # bytes of a database and its log; larger databases are read in place

_TRIES = 3
_LOG_HEADER = 32  # bytes
Stamp = tuple[int, int, int]


class WalCopy:
    """A private copy of a database. The log is copied when it grows, the main file only after a checkpoint."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._log = file.with_name(file.name + "-wal")
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._copied: Stamp | None = None
        self._seen: tuple[Stamp, Stamp] | None = None

    @property
    def is_small(self) -> bool:
        """Whether the database is small enough to be copied.

        Raises:
            OSError: the database or its log does not exist any more.
        """
        return 0 < self._file.stat().st_size + self._log.stat().st_size <= LARGEST

    @property
    def is_current(self) -> bool:
        """Whether the database is unchanged since the copy was brought up to date.

        Raises:
            OSError: the database or its log does not exist any more.
        """
        return self._seen is not None and self._seen == (_stamp(self._file), _stamp(self._log))

    def bring_up_to_date(self) -> Path | None:
        """Copy the changes. This process must not have the database or the copy open.

        Returns:
            The copy, or None if the database is changing too fast.

        Raises:
            OSError: the database cannot be read, or the copy cannot be written.
        """
        self._seen = None
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="agent-inspector-")
        copy = Path(self._folder.name) / "copy.db"
        for _ in range(_TRIES):
            main = _stamp(self._file)
            if _is_fresh(main):
                time.sleep(CLOCK_TICK)  # another change could leave the same stamp
                continue
            log, is_whole = _stamp(self._log), self._copy(copy, main)
            if is_whole and _stamp(self._file) == main:
                self._seen = None if _is_fresh(log) else (main, log)
                return copy
        return None

    def close(self) -> None:
        """Delete the copy."""
        if self._folder is not None:
            self._folder.cleanup()
        self._folder = self._copied = self._seen = None

    def _copy(self, copy: Path, main: Stamp) -> bool:
        """Copy the changed files, and return whether the log's header stayed the same meanwhile."""
        if main != self._copied:
            self._copied = None
            with open_files.reading(self._file) as read:
                copy_privately(read, copy)
            self._copied = main
        # SQLite's index of the previous log.
        copy.with_name(copy.name + "-shm").unlink(missing_ok=True)
        begin = self._log_header()
        with open_regular(self._log) as read:
            copy_privately(read, copy.with_name(copy.name + "-wal"))
        return self._log_header() == begin

    def _log_header(self) -> bytes:
        with open_regular(self._log) as opened:
            return opened.read(_LOG_HEADER)


def _stamp(file: Path) -> Stamp:
    stat = file.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _is_fresh(stamp: Stamp) -> bool:
    return abs(time.time() - stamp[2] / 1e9) < CLOCK_TICK
