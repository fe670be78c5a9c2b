"""Error messages for files that are not session databases."""

from __future__ import annotations

import gzip
import pickle
import random
import sqlite3
from pathlib import Path

import pytest

from runtime.errors import NotASessionDatabaseError
from runtime.storage.reading.reader import StoredDatabase

CONTENTS = {
    "seems to be a PNG picture": b"\x89PNG\r\n\x1a\n" + bytes(300),
    "seems to be a JPEG picture": b"\xff\xd8\xff\xe0" + bytes(300),
    "seems to be a PDF document": b"%PDF-1.7\n",
    "seems to be a ZIP archive": b"PK\x03\x04" + bytes(300),
    "compressed with gzip": gzip.compress(b"x"),
    "seems to be a Python pickle": pickle.dumps({"a": list(range(300))}),
    "seems to be a DuckDB database": bytes(8) + b"DUCK" + bytes(300),
    "seems to be a tar archive": b"name" + bytes(253) + b"ustar" + bytes(300),
    "is JSON text": b'\xef\xbb\xbf {"a": 1}',
    "is SQL text": b"PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;",
    "is a text file": "Grüße\n".encode() * 1_000,
    "or it is encrypted": random.Random(1).randbytes(8_192),
    "is an empty file": b"",
}


@pytest.mark.parametrize("said", list(CONTENTS))
def test_the_error_says_what_the_file_is(tmp_path: Path, said: str) -> None:
    file = tmp_path / "some.db"
    file.write_bytes(CONTENTS[said])
    with pytest.raises(NotASessionDatabaseError, match=said) as raised:
        StoredDatabase.open(str(file))
    assert str(file) in str(raised.value)


def test_the_error_lists_the_tables_of_another_sqlite_database(tmp_path: Path) -> None:
    file = tmp_path / "shop.db"
    connection = sqlite3.connect(file)
    connection.executescript("CREATE TABLE customers (id); CREATE TABLE orders (id);")
    connection.close()
    with pytest.raises(NotASessionDatabaseError, match="its tables: customers, orders"):
        StoredDatabase.open(str(file))
