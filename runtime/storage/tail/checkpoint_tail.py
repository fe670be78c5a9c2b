"""Following of LangGraph's checkpoints in a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.errors.storage_error import StorageError
from runtime.storage.reading.reader import SessionSummary, StoredDatabase
from runtime.storage.reading.server_database import ServerDatabase
from runtime.storage.tail.file_tail import FileTail
from runtime.storage.tail.tail import Changes

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

_PAUSE = 0.25  # seconds between two polls


class CheckpointTail(FileTail):
    """A tail of one database: as of a file, but the server's snapshot takes the place of the file's stamps.

    Args:
        url: a URL with our driver.
        target: the same as it was opened.
        known: see `Tail`.
    """

    def __init__(self, url: URL, target: str, known: Iterable[SessionSummary] = ()) -> None:
        super().__init__(Path(target), known)
        self._target = target
        self._server = ServerDatabase(url, keep=True)

    @property
    def pause(self) -> float:
        """See `Tail.pause`."""
        return max(_PAUSE, super().pause)

    def poll(self) -> Changes:
        """See `Tail.poll`."""
        try:
            return super().poll()
        except StorageError as error:  # of the snapshot
            self.problem = error
            return Changes()

    def close(self) -> None:
        """See `Tail.close`."""
        super().close()
        self._server.close()

    def _open(self) -> StoredDatabase:
        return StoredDatabase.open(self._target)

    def _look_at_files(self) -> tuple[tuple[object, ...], bool]:
        return (self._server.snapshot(),), True
