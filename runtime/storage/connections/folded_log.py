"""Moving of the write-ahead log's content into the database file, so that the file alone has everything.

SQLite does this when the last connection is closed, but not if that connection can only read, or its process is killed.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from runtime.errors.storage_error import StorageError
from runtime.storage.connections.companions import check_companions, companion, real_file
from runtime.storage.connections.open_files import Identity, identity_of, open_files
from runtime.storage.connections.replaced_log import remove_log_from_before, remove_replaced_log

_PATIENCE, _BETWEEN_TRIES = 0.5, 0.02  # seconds to wait for readers of an older state, and between two tries


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
