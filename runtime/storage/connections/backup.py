"""A backup of another program's database, made before our first write to it."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path

from runtime.storage.connections.new_file import dated_name, give_name, unfinished_file
from runtime.storage.connections.open_files import open_files

logger = logging.getLogger(__name__)


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
