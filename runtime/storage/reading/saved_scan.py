"""What a scan of all events of a database file has found, saved in our cache folder, so that the next scan reads only new rows.

A file has one JSON value a line. It is used only if the rows it covers are still as many, and the last of them is unchanged.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.copied_events import Readable

MOST_BYTES = 64_000_000  # of one file; a larger result is not saved
MOST_KEPT, DAYS_KEPT = 20, 60  # number of files; days after its last use that a file is kept

_VERSION = 4
_END = "end"  # the last value of a file
_SUFFIX = ".scan"


class Scanned(NamedTuple):
    """A saved result.

    Attributes:
        last: number of the last row that was read.
        data: the JSON values that were saved.
    """

    last: int
    data: list[Any]


class SavedScan:
    """The saved result for one database file, or for one session in it.

    Args:
        folder: the folder of all results. It is created if it does not exist, readable by its owner only.
        file: the database.
        key: the session; None for all of the file.
    """

    def __init__(self, folder: Path, file: Path, key: SessionKey | None = None) -> None:
        name = str(file.absolute()) if key is None else json.dumps([str(file.absolute()), *key])
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        self.path = folder / f"{digest[:24]}{_SUFFIX}"

    def load(self, database: Readable) -> Scanned | None:
        """Return the saved result; None if there is none, or rows that it covers have changed."""
        try:
            with self.path.open(encoding="utf-8") as lines:
                about = json.loads(next(lines))
                last = int(about["last"])
                if about != _about(database, last):
                    return None
                *data, end = map(json.loads, lines)
            if end != _END:
                return None
            self.path.touch()
        except (OSError, ValueError, LookupError, TypeError, StopIteration):  # none, damaged, or of another version
            return None
        return Scanned(last, data)

    def save(self, database: Readable, last: int, data: Iterable[Any]) -> None:
        """Save a result; a folder that cannot be written is ignored.

        Args:
            database: the database.
            last: number of the last row that was read.
            data: JSON values.
        """
        write_values(self.path, (value for part in ([_about(database, last)], data, [_END]) for value in part))
        remove_stale(self.path.parent, _SUFFIX, MOST_KEPT)


def _about(database: Readable, last: int) -> dict[str, Any]:
    """Return what must be the same when a file is used."""

    def read(connection: sqlite3.Connection) -> tuple[Any, Any]:
        row = connection.execute("SELECT * FROM events WHERE rowid = ?", (last,)).fetchone()
        # Without a condition, SQLite counts an index's pages, without its entries. Later rows are few, or have to be scanned anyway.
        until = "(SELECT count(*) FROM events) - (SELECT count(*) FROM events WHERE rowid > ?)"
        counted = f"SELECT {until}, (SELECT min(rowid) FROM events)"
        return row, connection.execute(counted, (last,)).fetchone()

    row, (count, first) = database.read(read)
    hashed = hashlib.sha256(repr(row and tuple(row)).encode("utf-8", "replace")).hexdigest()
    return {"version": _VERSION, "last": last, "row": hashed, "count": count, "first": first}


def write_values(path: Path, values: Iterable[Any]) -> None:
    """Write JSON values, each on a line, into a file that appears when it is complete.

    One that would be larger than `MOST_BYTES` is not written, and a folder that cannot be written is ignored.
    """
    new = path.with_suffix(f".{os.getpid()}")
    with suppress(OSError, ValueError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as lines:
                for value in values:  # one at a time, so that other threads run in between
                    lines.write(json.dumps(value) + "\n")
                    if lines.tell() > MOST_BYTES:
                        return
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)


def remove_stale(folder: Path, suffix: str, most: int) -> None:
    """Delete the files not used for `DAYS_KEPT` days, the oldest ones above a number, and those that killed processes were writing."""
    with suppress(OSError):
        for path in folder.iterdir():
            if path.suffix[1:].isdigit() and time.time() - path.stat().st_mtime > 3_600:  # it ends with the process's number
                path.unlink(missing_ok=True)
        found = sorted(folder.glob(f"*{suffix}"), key=lambda path: path.stat().st_mtime, reverse=True)
        for number, path in enumerate(found):
            if number >= most or time.time() - path.stat().st_mtime > DAYS_KEPT * 86_400:
                path.unlink(missing_ok=True)
