"""Damage to a database file, and what is still readable of it."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

True_ = set[tuple[object, ...]]
PAGE = 4096


def damage(content: bytes, seed: int) -> bytes:
    """Return a file's content with damage of a kind that disks, copies and programs do."""
    chance = random.Random(seed)
    data = bytearray(content)
    pages = len(data) // PAGE
    kind = seed % 8
    if kind == 0:  # some bytes anywhere
        for _ in range(chance.randint(1, 30)):
            data[chance.randrange(len(data))] = chance.randrange(256)
    elif kind == 1:  # pages of zeros
        for _ in range(chance.randint(1, 3)):
            page = chance.randrange(pages)
            data[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    elif kind == 2:  # cut
        del data[chance.randrange(len(data) // 4, len(data)) :]
    elif kind == 3:  # another file's beginning
        length = chance.randint(1, 120)
        data[:length] = chance.randbytes(length)
    elif kind == 4:  # two pages exchanged
        one, other = chance.randrange(pages), chance.randrange(pages)
        first, second = slice(one * PAGE, (one + 1) * PAGE), slice(other * PAGE, (other + 1) * PAGE)
        data[first], data[second] = data[second], data[first]
    elif kind == 5:  # the beginnings of some pages
        for _ in range(chance.randint(1, 4)):
            page = chance.randrange(1, pages)
            data[page * PAGE : page * PAGE + 12] = chance.randbytes(12)
    elif kind == 6:  # a block that is not aligned
        at = chance.randrange(len(data))
        data[at : at + 512] = chance.randbytes(len(data[at : at + 512]))
    else:  # the beginning of page 1's own tree
        length = chance.randint(1, 8)
        data[100 : 100 + length] = chance.randbytes(length)
    return bytes(data)


def true_rows(file: Path) -> True_:
    """Return the values of all rows, in any table, each as a tuple without what a table adds."""
    found: True_ = set()
    try:
        with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
            connection.text_factory = bytes
            names = [
                name.decode("utf-8", "replace") for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            ]
            for name in names:
                if name.startswith("sqlite_"):
                    continue
                columns = [row[1].decode("utf-8", "replace") for row in connection.execute(f'PRAGMA table_info("{name}")')]
                first = columns.index("c0") if name.startswith("lost_and_found") else 0
                for row in connection.execute(f'SELECT * FROM "{name}"'):
                    values = list(row[first:])
                    while values and values[-1] is None:
                        values.pop()
                    found.add(tuple(values))
    except (sqlite3.Error, UnicodeDecodeError):
        pass
    return found


def with_number_as_null(rows: True_) -> True_:
    """Return rows as they are, and as SQLite stores those whose first value is the row number."""
    return rows | {(None, *row[1:]) for row in rows if row and isinstance(row[0], int)}


def recovered_by_sqlite(damaged: Path, new: Path) -> True_:
    """Return the rows that the `sqlite3` program recovers."""
    program = os.environ.get("SQLITE_SHELL") or shutil.which("sqlite3")
    assert program is not None
    dumped = subprocess.run([program, str(damaged), ".recover --ignore-freelist"], capture_output=True, timeout=60, check=False).stdout
    subprocess.run([program, str(new)], input=dumped, capture_output=True, timeout=60, check=False)
    return true_rows(new) if new.exists() else set()
