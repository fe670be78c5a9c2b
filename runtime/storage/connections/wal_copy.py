"""A private copy of a database that somebody is writing to with a write-ahead log, kept up to date.

A connection of ours would be in the writer's way: the last one to close a database tidies its log away, and cannot while we read; and one
that opens a database whose writer has just left makes a log of its own. Both would leave files behind. So we take no part in it. The main
file changes only when a checkpoint moves the log's pages into it; what is appended to the log carries checksums, and SQLite takes of a copy
as much as is whole. A copy is good if no checkpoint came between: the main file and the beginning of the log are what they were.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

CLOCK_TICK = 0.02
"""Seconds that a file's time stamp may be coarse by."""

LARGEST = 64_000_000
"""Bytes of a database and its log that are copied; larger ones are read in place."""

_TRIES = 3
_LOG_HEADER = 32
Stamp = tuple[int, int, int]


class WalCopy:
    """Copies as little as it can: the log each time it grew, the main file after a checkpoint.

    Args:
        file: the database.
    """

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
            OSError: it is gone.
        """
        return 0 < self._file.stat().st_size + self._log.stat().st_size <= LARGEST

    @property
    def is_current(self) -> bool:
        """Whether nothing was written since it was brought up to date.

        Raises:
            OSError: the database is gone.
        """
        return self._seen is not None and self._seen == (_stamp(self._file), _stamp(self._log))

    def bring_up_to_date(self) -> Path | None:
        """Copy what is new; nobody in this process may have the database open, nor the copy.

        Returns:
            The copy; None if the database is changing too fast.

        Raises:
            OSError: it cannot be read, or the copy not written.
        """
        self._seen = None
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="agent-inspector-")
        copy = Path(self._folder.name) / "copy.db"
        for _ in range(_TRIES):
            main = _stamp(self._file)
            if _is_fresh(main):
                time.sleep(CLOCK_TICK)  # another change could bear the same stamp
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
        """Return whether the log was the same one before and after it was copied."""
        if main != self._copied:
            self._copied = None
            shutil.copyfile(self._file, copy)
            self._copied = main
        # What SQLite noted about the last log.
        copy.with_name(copy.name + "-shm").unlink(missing_ok=True)
        begin = self._log_header()
        shutil.copyfile(self._log, copy.with_name(copy.name + "-wal"))
        return self._log_header() == begin

    def _log_header(self) -> bytes:
        with self._log.open("rb") as opened:
            return opened.read(_LOG_HEADER)


def _stamp(file: Path) -> Stamp:
    stat = file.stat()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


def _is_fresh(stamp: Stamp) -> bool:
    return abs(time.time() - stamp[2] / 1e9) < CLOCK_TICK
