"""A file of LangGraph's SqliteSaver, read as if it were a session database; see `translation`."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from runtime.storage.connections.companions import companion
from runtime.storage.connections.sqlite_file import SqliteFile
from runtime.storage.connections.wal_copy import CLOCK_TICK
from runtime.storage.langgraph.channel_sizes import ChannelSize, channel_sizes
from runtime.storage.langgraph.stored_rows import FileRows
from runtime.storage.langgraph.translation import Rows, Translation

T = TypeVar("T")
_READABLE = ("checkpoints", "writes", "sqlite_master")


@dataclass(slots=True)
class _Shared:
    """The translation of a file, which all of its readers in this process share: translating a long thread takes seconds.

    Attributes:
        translation: the tables.
        lock: held while they are read or brought up to date.
        users: the number of readers.
        stamps: those of the files when they were brought up to date; None if the files may have changed since.
    """

    translation: Translation
    lock: threading.RLock = field(default_factory=threading.RLock)
    users: int = 0
    stamps: object = None


_files: dict[tuple[Path, str], _Shared] = {}
_of_files = threading.Lock()


class CheckpointFile(SqliteFile):
    """A reader of a file with LangGraph's checkpoints, see `SqliteFile`.

    Args:
        file: an existing file.
        name: the file's name in errors.
    """

    def __init__(self, file: Path, name: str) -> None:
        super().__init__(file, lambda table: table in _READABLE, name)
        self._key = self.file, file.name.partition(".")[0] or file.name
        with _of_files:
            if self._key not in _files:
                _files[self._key] = _Shared(Translation(self._key[1]))
            self._shared = _files[self._key]
            self._shared.users += 1
        self._is_closed = False

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """See `SqliteFile.read`; `work` sees the tables of a session database."""
        shared = self._shared
        with shared.lock:
            stamps, is_settled = self._look_at_files()
            if stamps != shared.stamps:
                shared.translation.bring_up_to_date(self._read_rows, self.give_time)
                shared.stamps = stamps if is_settled else None
            shared.translation.tables.set_progress_handler(lambda: self._stopped, 20_000)
            try:
                return work(shared.translation.tables)
            finally:
                shared.translation.tables.set_progress_handler(None, 0)

    def channel_sizes(self) -> list[ChannelSize]:
        """Return the sizes of the channels in all checkpoints, the largest first."""
        return super().read(lambda connection: channel_sizes(FileRows(connection).blobs()))

    def close(self) -> None:
        """See `SqliteFile.close`."""
        super().close()
        if self._is_closed:
            return
        self._is_closed = True
        with _of_files:
            self._shared.users -= 1
            if not self._shared.users:
                del _files[self._key]
                self._shared.translation.tables.close()

    def _read_rows(self, work: Callable[[Rows], Any]) -> Any:
        return super().read(lambda connection: work(FileRows(connection)))

    def _look_at_files(self) -> tuple[object, bool]:
        """Return the stamps of the files, and whether they are old enough to show every change until now."""
        stats = []
        for file in (self.file, companion(self.file, "-wal")):
            with suppress(OSError):  # reading the file reports it
                stats.append(file.stat())
        stamps = tuple((stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats)
        return stamps, all(abs(time.time() - stat.st_mtime) > CLOCK_TICK for stat in stats)
