"""Any table of an SQLite file as plain rows, including tables that no layout explains.

Nothing is decoded, especially no pickles. Views, virtual tables and computed columns are left out, because reading them would run code from
the file. A table is read in pages that begin and end at a row number, so the last page of a large table is as fast as the first.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from runtime.errors.not_found_error import NotFoundError
from runtime.storage.connections.sqlite_file import SqliteFile
from runtime.storage.layouts.statements import quoted_name

PAGE_ROWS = 100
MOST_COUNTED = 10_000  # rows; a count stops one above this, because counting a large table means reading it
MOST_COLUMNS = 100
LONGEST_SHOWN = 300  # characters of a text in a page
LONGEST_FULL = 5_000_000  # characters or bytes of a value that is read as a whole

_BLOB_SHOWN = 24  # bytes of a BLOB in a page
_ROW_NAMES = ("rowid", "_rowid_", "oid")
Direction = Literal["first", "next", "previous", "last"]


@dataclass(frozen=True, slots=True)
class RawTable:
    """A table of the file.

    Attributes:
        name: the table's name.
        columns: name and declared type of each displayed column.
        left_out: number of columns beyond `MOST_COLUMNS`.
        row_count: number of rows; `MOST_COUNTED` + 1 means "more".
        numbered: the name of its row number, or None if its rows have no number.
    """

    name: str
    columns: Sequence[tuple[str, str]]
    left_out: int
    row_count: int
    numbered: str | None


@dataclass(frozen=True, slots=True)
class RawValue:
    """A value in a page.

    Attributes:
        kind: `null`, `integer`, `real`, `text` or `blob`.
        value: a number, or the beginning of a text or BLOB.
        length: length of the whole value in characters or bytes; None for numbers and NULL.
    """

    kind: str
    value: Any
    length: int | None

    @property
    def is_cut(self) -> bool:
        """Whether `value` is only the beginning."""
        return self.length is not None and self.length > len(self.value)


@dataclass(frozen=True, slots=True)
class RawPage:
    """Consecutive rows of a table.

    Attributes:
        table: the table.
        places: each row's number; if the table has none, the number of rows before it.
        rows: the values by column.
        before, after: whether there are rows before and after these.
    """

    table: RawTable
    places: Sequence[int]
    rows: Sequence[Sequence[RawValue]]
    before: bool
    after: bool


class RawTables:
    """A reader of one file's tables. Only one thread at a time may use it.

    Args:
        file: any SQLite database; it is not trusted.
    """

    def __init__(self, file: Path) -> None:
        self._names: frozenset[str] = frozenset()
        self._file = SqliteFile(file, self._is_readable)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def tables(self) -> list[RawTable]:
        """Return the tables, sorted by name.

        Raises:
            StorageError: the file cannot be read.
        """

        def read(connection: sqlite3.Connection) -> list[RawTable]:
            names = _ordinary_tables(connection)
            self._names = frozenset(names)
            return [_describe(connection, name) for name in names]

        return self._file.read(read)

    def page(self, table: RawTable, direction: Direction, place: int | None = None) -> RawPage:
        """Return a page of a table.

        Args:
            table: a table returned by `tables`.
            direction: the first or last page, or the page after or before a place.
            place: for `next` and `previous`, the place of the row that the page follows or precedes.

        Raises:
            StorageError: the table cannot be read.
        """
        read = _numbered_page if table.numbered is not None else _counted_page
        return self._file.read(lambda connection: read(connection, table, direction, place or 0))

    def value(self, table: RawTable, place: int, column: str) -> RawValue:
        """Return a whole value, up to `LONGEST_FULL`.

        Raises:
            NotFoundError: the row was deleted.
            StorageError: the table cannot be read.
        """
        where = f"WHERE {table.numbered} = ?" if table.numbered is not None else "LIMIT 1 OFFSET ?"
        name = quoted_name(column)
        query = f"SELECT {_parts_of(name, LONGEST_FULL, LONGEST_FULL)} FROM {quoted_name(table.name)} {where}"
        row = self._file.read(lambda connection: connection.execute(query, (place,)).fetchone())
        if row is None:
            raise NotFoundError(f"The row was deleted from table {table.name}.")
        return RawValue(*row)

    def _is_readable(self, name: str) -> bool:
        return name == "sqlite_master" or name in self._names


def _ordinary_tables(connection: sqlite3.Connection) -> list[str]:
    # In a damaged file a name may be a BLOB, which SQLite reads as a text.
    query = "SELECT CAST(name AS TEXT), sql FROM sqlite_master WHERE type = 'table' ORDER BY 1"
    return [name for name, sql in connection.execute(query).fetchall() if not name.startswith("sqlite_") and not _is_virtual(sql)]


def _is_virtual(sql: object) -> bool:
    return " ".join(str(sql).split()[:2]).upper() == "CREATE VIRTUAL"


def _describe(connection: sqlite3.Connection, name: str) -> RawTable:
    # `table_info` omits computed columns.
    columns = [(str(row[1]), str(row[2])) for row in connection.execute(f"PRAGMA table_info({quoted_name(name)})")]
    counted = f"SELECT count(*) FROM (SELECT 1 FROM {quoted_name(name)} LIMIT {MOST_COUNTED + 1})"
    count = int(connection.execute(counted).fetchone()[0])
    return RawTable(name, columns[:MOST_COLUMNS], len(columns[MOST_COLUMNS:]), count, _row_name(connection, name, columns))


def _row_name(connection: sqlite3.Connection, table: str, columns: Sequence[tuple[str, str]]) -> str | None:
    taken = {name.lower() for name, _ in columns}
    for name in _ROW_NAMES:
        if name not in taken:
            try:
                connection.execute(f"SELECT {name} FROM {quoted_name(table)} LIMIT 0")
            except sqlite3.OperationalError:  # WITHOUT ROWID
                return None
            return name
    return None


def _numbered_page(connection: sqlite3.Connection, table: RawTable, direction: Direction, place: int) -> RawPage:
    number = table.numbered
    where = {"next": f"WHERE {number} > ?", "previous": f"WHERE {number} < ?"}.get(direction, "WHERE ? IS NOT NULL")
    backwards = direction in ("previous", "last")
    query = (
        f"SELECT {number}, {_columns_of(table)} FROM {quoted_name(table.name)} {where}"
        f" ORDER BY {number} {'DESC' if backwards else 'ASC'} LIMIT {PAGE_ROWS + 1}"
    )
    found = connection.execute(query, (place,)).fetchall()
    more, rows = len(found) > PAGE_ROWS, found[:PAGE_ROWS]
    if backwards:
        rows.reverse()
    before, after = (more, direction != "last") if backwards else (direction != "first", more)
    return _page(table, [row[0] for row in rows], [row[1:] for row in rows], before=before, after=after)


def _counted_page(connection: sqlite3.Connection, table: RawTable, direction: Direction, place: int) -> RawPage:
    count = table.row_count
    start = {"first": 0, "next": place + 1, "previous": place - PAGE_ROWS, "last": count - PAGE_ROWS}[direction]
    start = max(start, 0)
    length = min(PAGE_ROWS, place) if direction == "previous" else PAGE_ROWS
    query = f"SELECT {_columns_of(table)} FROM {quoted_name(table.name)} LIMIT {length + 1} OFFSET ?"
    found = connection.execute(query, (start,)).fetchall()
    return _page(table, range(start, start + len(found[:length])), found[:length], before=start > 0, after=len(found) > length)


def _page(table: RawTable, places: Sequence[int], rows: Sequence[Sequence[Any]], *, before: bool, after: bool) -> RawPage:
    values = [[RawValue(*row[start : start + 3]) for start in range(0, len(row), 3)] for row in rows]
    return RawPage(table, places, values, before, after)


def _columns_of(table: RawTable) -> str:
    return ", ".join(_parts_of(quoted_name(name), LONGEST_SHOWN, _BLOB_SHOWN) for name, _ in table.columns)


def _parts_of(name: str, longest_text: int, longest_blob: int) -> str:
    """Return the expressions selected for a column: its type, the displayed part of its value, and its length."""
    shown = f"CASE typeof({name}) WHEN 'text' THEN substr({name}, 1, {longest_text})"
    shown += f" WHEN 'blob' THEN substr({name}, 1, {longest_blob}) ELSE {name} END"
    return f"typeof({name}), {shown}, CASE WHEN typeof({name}) IN ('text', 'blob') THEN length({name}) END"
