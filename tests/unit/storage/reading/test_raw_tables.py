"""Any table can be read as plain rows, without running code from the file."""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from runtime.errors import NotFoundError, StorageError
from runtime.storage.reading.raw_tables import LONGEST_SHOWN, MOST_COLUMNS, MOST_COUNTED, PAGE_ROWS, RawTable, RawTables
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import copy_of


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(tmp_path / "any.db", isolation_level=None)
    yield connection
    connection.close()


@pytest.fixture
def raw(tmp_path: Path, connection: sqlite3.Connection) -> Iterator[RawTables]:
    tables = RawTables(tmp_path / "any.db")
    yield tables
    tables.close()


def only(raw: RawTables) -> RawTable:
    (table,) = raw.tables()
    return table


def numbers(raw: RawTables, table: RawTable, direction: str, place: int | None = None) -> list[int]:
    return [row[0].value for row in raw.page(table, direction, place).rows]  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["", " WITHOUT ROWID"])
def test_pages_are_read_forwards_and_backwards(raw: RawTables, connection: sqlite3.Connection, kind: str) -> None:
    connection.execute(f"CREATE TABLE t (n INTEGER PRIMARY KEY, x){kind}")
    connection.executemany("INSERT INTO t VALUES (?, 'x')", [(number * 3,) for number in range(250)])
    table = only(raw)
    assert (table.numbered is None) == bool(kind)
    assert table.row_count == 250
    everything = [number * 3 for number in range(250)]
    page = raw.page(table, "first")
    found = numbers(raw, table, "first")
    while page.after:
        last = page.places[-1]
        page = raw.page(table, "next", last)
        assert page.before
        found += numbers(raw, table, "next", last)
    assert found == everything
    assert numbers(raw, table, "last") == everything[-PAGE_ROWS:]
    page = raw.page(table, "last")
    back = numbers(raw, table, "last")
    while page.before:
        first = page.places[0]
        page = raw.page(table, "previous", first)
        back = numbers(raw, table, "previous", first) + back
    assert back == everything


def test_values_are_cut_and_returned_whole_on_request(raw: RawTables, connection: sqlite3.Connection) -> None:
    connection.execute('CREATE TABLE "odd ""name" (a, "b""c", d, e, f)')
    long, blob = "x" * 5_000 + "é", pickle.dumps({"never": "decoded"})
    connection.execute('INSERT INTO "odd ""name" VALUES (?, ?, ?, ?, ?)', (None, 7, 2.5, long, blob))
    table = only(raw)
    page = raw.page(table, "first")
    (row,) = page.rows
    assert [value.kind for value in row] == ["null", "integer", "real", "text", "blob"]
    assert [value.value for value in row[:3]] == [None, 7, 2.5]
    assert (row[3].value, row[3].length, row[3].is_cut) == (long[:LONGEST_SHOWN], len(long), True)
    assert row[4].length == len(blob) and blob.startswith(row[4].value)
    assert raw.value(table, page.places[0], "e").value == long
    assert raw.value(table, page.places[0], "f").value == blob
    connection.execute('DELETE FROM "odd ""name"')
    with pytest.raises(NotFoundError, match="was deleted from table"):
        raw.value(table, page.places[0], "e")


def test_views_virtual_tables_and_computed_columns_are_left_out(raw: RawTables, connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE plain (a, b AS (abs(a)), c AS (hex(a)) STORED)")
    connection.execute("INSERT INTO plain (a) VALUES (-1)")
    connection.execute("CREATE VIEW seen AS SELECT randomblob(1000000000)")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(text)")
    tables = {table.name: table for table in raw.tables()}
    assert tables["plain"].columns == [("a", "")]
    assert "seen" not in tables and "words" not in tables
    assert numbers(raw, tables["plain"], "first") == [-1]
    for name in ("seen", "words"):
        with pytest.raises(StorageError):
            raw.page(RawTable(name, [("text", "")], 0, 1, None), "first")


def test_unusual_tables_are_read(raw: RawTables, connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE taken (rowid, _rowid_, OID)")
    connection.execute("INSERT INTO taken VALUES (1, 2, 3)")
    connection.execute(f"CREATE TABLE wide ({', '.join(f'c{number}' for number in range(1_500))})")
    connection.execute("INSERT INTO wide (c0) VALUES (CAST(x'ff41' AS TEXT))")
    connection.execute("CREATE TABLE empty (a)")
    tables = {table.name: table for table in raw.tables()}
    assert tables["taken"].numbered is None
    assert [value.value for value in raw.page(tables["taken"], "first").rows[0]] == [1, 2, 3]
    assert len(tables["wide"].columns) == MOST_COLUMNS and tables["wide"].left_out == 1_500 - MOST_COLUMNS
    assert raw.page(tables["wide"], "last").rows[0][0].value == "\N{REPLACEMENT CHARACTER}A"
    empty = raw.page(tables["empty"], "first")
    assert not (empty.rows or empty.before or empty.after)


def test_rows_are_counted_up_to_a_limit(raw: RawTables, connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE large (a)")
    connection.execute("WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r LIMIT 10050) INSERT INTO large SELECT x FROM r")
    assert only(raw).row_count == MOST_COUNTED + 1


def test_a_damaged_file_is_reported(tmp_path: Path) -> None:
    file = copy_of("open/adk2.13.0-v1-chat_tools.db", tmp_path)
    file.chmod(0o644)
    content = bytearray(file.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    file.write_bytes(content)
    raw = RawTables(file)
    with pytest.raises(StorageError):
        for table in raw.tables():
            raw.page(table, "first")
    raw.close()


def test_a_name_of_a_table_that_became_a_blob_is_read_as_sqlite_reads_it(
    raw: RawTables, connection: sqlite3.Connection, tmp_path: Path
) -> None:
    connection.executescript("CREATE TABLE t (x); CREATE TABLE u (x)")
    file = copy_of("open/adk2.13.0-v1-chat_tools.db", tmp_path)
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        for changed in (connection, other):
            changed.execute("PRAGMA writable_schema = ON")
            changed.execute("UPDATE sqlite_master SET name = CAST(name AS BLOB) WHERE name IN ('t', 'events')")
    assert [table.name for table in raw.tables()] == ["t", "u"]
    with StoredDatabase.open(str(file)) as database:
        assert all(database.events(summary.key) for summary in database.sessions())
