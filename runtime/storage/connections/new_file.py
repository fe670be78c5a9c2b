"""Files that get their name when they are complete: copies, backups and conversions.

Until then they have an unpredictable name. Both names are taken exclusively, so that no link that was planted there is followed.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from runtime.errors.storage_error import StorageError
from runtime.storage.connections.open_files import open_files
from runtime.support.linkless import create_file

logger = logging.getLogger(__name__)

_LEFT = re.compile(r".+\.[0-9a-f]{16}\.unfinished(-wal|-shm|-journal)?")
_LEFT_AFTER = 3_600.0  # seconds without a change after which the writer of a file has been killed


@contextmanager
def unfinished_file(target: Path, mode: int = 0o644) -> Iterator[Path]:
    """Yield a new empty file beside `target`; at the end it is deleted with its companions, unless `give_name` has renamed it.

    Those that killed processes have left in the folder are removed.

    Args:
        target: the later name.
        mode: the file's permissions; by default those of a new file, as far as the process's umask allows.

    Raises:
        OSError: the folder cannot be written.
    """
    _remove_left(target.parent)
    unfinished = target.with_name(f"{target.name}.{secrets.token_hex(8)}.unfinished")
    create_file(unfinished, mode).close()
    try:
        yield unfinished
    finally:
        for suffix in ("", "-wal", "-shm", "-journal"):
            unfinished.with_name(unfinished.name + suffix).unlink(missing_ok=True)


def _remove_left(folder: Path) -> None:
    for file in folder.iterdir():
        with suppress(OSError):
            if _LEFT.fullmatch(file.name) and stat.S_ISREG((about := file.lstat()).st_mode) and time.time() - about.st_mtime > _LEFT_AFTER:
                file.unlink()


def give_name(unfinished: Path, target: Path) -> None:
    """Give a complete file its final name.

    Raises:
        StorageError: the name is taken, be it by a link that leads nowhere.
    """
    try:
        try:
            target.hardlink_to(unfinished)  # unlike a rename, this never replaces an existing file
        except FileExistsError:
            raise
        except OSError:  # a file system without hard links
            create_file(target).close()
            os.replace(unfinished, target)  # noqa: PTH105
    except FileExistsError:
        raise StorageError(f"{target} already exists. Name a file that does not exist.") from None


def dated_name(file: Path, kind: str) -> Path:
    """Return an unpredictable name beside a file, such as `session.db.backup-20261121-113000-5f3a9c`."""
    return file.with_name(f"{file.name}.{kind}-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}")


def back_up(connection: sqlite3.Connection, file: Path) -> Path:
    """Copy a database to a file beside it, such as `session.db.backup-20261121-113000-5f3a9c`.

    Args:
        connection: an open connection to the database, not in a transaction.
        file: the database's file.

    Returns:
        The complete copy. An interrupted copy never has this name.

    Raises:
        sqlite3.Error: the copy cannot be written.
        OSError: the copy cannot be written.
    """
    backup = dated_name(file, "backup")
    with unfinished_file(backup, 0o600) as unfinished:
        copy = open_files.connect(unfinished)
        try:
            unfinished.chmod(file.stat().st_mode & 0o777)
            connection.backup(copy)
        finally:
            copy.close()
        give_name(unfinished, backup)
    logger.info("Copied %s to %s before the first write.", file.name, backup)
    return backup
