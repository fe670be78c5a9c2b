"""What fills a file of checkpoints."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec

from runtime.storage.reading.reader import StoredDatabase
from tests.langgraph_threads import copy_of


def filled(tmp_path: Path) -> Path:
    """Return a file with three checkpoints: one value is copied twice, the other grows."""
    file = copy_of("react_shop", tmp_path)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("DELETE FROM writes")
        connection.execute("DELETE FROM checkpoints")
        for number in range(3):
            values = {"document": "x" * 1_000, "log": ["y" * 100] * number}
            about = json.dumps({"source": "loop", "step": number, "parents": {}})
            stored = msgspec.msgpack.encode({"channel_values": values, "versions_seen": {}})
            row = ("t", "", f"1f0a0000-0000-6000-8000-{number:012d}", None, "msgpack", stored, about)
            connection.execute("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    return file


def test_bytes_and_equal_copies_are_counted_by_channel(tmp_path: Path) -> None:
    with StoredDatabase.open(str(filled(tmp_path))) as database:
        document, log = database.channel_sizes()
    assert document == ("document", 3, 3 * 1_003, 2 * 1_003)
    assert (log.channel, log.values, log.bytes, log.copied) == ("log", 3, 1 + 103 + 205, 0)
