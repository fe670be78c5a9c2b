"""A backup of another program's database, made before our first write to it."""

from __future__ import annotations

import logging
import sqlite3
import time
from pathlib import Path

logger = logging.getLogger(__name__)


def back_up(connection: sqlite3.Connection, file: Path) -> Path:
    """Copy a database to a file beside it, such as `session.db.backup-20261121-113000`.

    Args:
        connection: an open connection to the database, not in a transaction.
        file: the database's file.

    Returns:
        The complete copy. An interrupted copy never has this name.

    Raises:
        sqlite3.Error: the copy cannot be written.
        OSError: the copy cannot be written.
    """
    backup = free_name(file.with_name(file.name + time.strftime(".backup-%Y%m%d-%H%M%S")))
    unfinished = backup.with_name(backup.name + ".unfinished")
    try:
        copy = sqlite3.connect(unfinished)
        try:
            unfinished.chmod(file.stat().st_mode & 0o777)
            connection.backup(copy)
        finally:
            copy.close()
        unfinished.replace(backup)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    logger.info("Copied %s to %s before the first write.", file.name, backup)
    return backup


def free_name(wished: Path) -> Path:
    """Return a name that no file has: `wished`, with a number appended if it is taken."""
    name, number = wished, 1
    while name.exists():
        number += 1
        name = wished.with_name(f"{wished.name}-{number}")
    return name
