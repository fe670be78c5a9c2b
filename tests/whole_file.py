"""What a person has who copies a database's file, and nothing beside it."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path


def events_of_file(file: Path) -> int:
    """Return the number of events in a copy of the file alone, in which they must be: its log has nothing that it lacks."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(file, folder))
        with closing(sqlite3.connect(copy)) as connection:
            alone = connection.execute("SELECT count(*) FROM events").fetchone()[0]
        for suffix in ("-wal", "-journal"):
            if (beside := file.with_name(file.name + suffix)).exists():
                shutil.copy(beside, folder)
        with closing(sqlite3.connect(copy)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            assert connection.execute("SELECT count(*) FROM events").fetchone()[0] == alone
    return int(alone)
