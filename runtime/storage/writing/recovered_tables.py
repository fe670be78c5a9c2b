"""The new tables of a recovered database, and which of them a row fits that no tree leads to."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from runtime.storage.layouts.statements import quoted_name
from runtime.storage.reading.damaged_pages import RawText, Row, Value

LOST = "lost_and_found"  # as in SQLite's own recovery
_MOST_LOST = 100  # columns of that table
_ALLOWED = {
    sqlite3.SQLITE_CREATE_TABLE,
    sqlite3.SQLITE_CREATE_INDEX,
    sqlite3.SQLITE_INSERT,
    sqlite3.SQLITE_UPDATE,  # SQLite's own, of its schema
    sqlite3.SQLITE_DELETE,
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_TRANSACTION,
    sqlite3.SQLITE_REINDEX,
}
_FUNCTIONS = {"min", "max", "like", "instr", "substr", "length"}


@dataclass
class Table:
    """A table of the new database.

    Attributes:
        name: its name.
        columns: the names of its columns.
        types: for each column, the declared type in capitals.
        number: the index of the column that is the row number; None if none is.
        kinds: for each column, the types of the values stored so far.
        count: number of rows stored so far.
    """

    name: str
    columns: list[str]
    types: list[str]
    number: int | None
    kinds: list[set[type]] = field(default_factory=list)
    count: int = 0

    def fits(self, values: Sequence[Value]) -> bool:
        """Return whether a row may be one of this table, by the number and the types of its values."""
        if len(values) != len(self.columns):
            return False
        for place, value in enumerate(values):
            if place == self.number:
                if value is not None:
                    return False
            elif not self._fits(place, value):
                return False
        return True

    def _fits(self, place: int, value: Value) -> bool:
        if self.columns[place] in ("state", "event_data") and isinstance(value, str) and not value.startswith("{"):
            return False
        known, kind = self.kinds[place], _kind(value)
        if kind is type(None) or kind in known:
            return True
        declared = self.types[place]
        if any(word in declared for word in ("CHAR", "TEXT", "CLOB")):
            return kind is str
        if "INT" in declared or any(word in declared for word in ("REAL", "FLOA", "DOUB")):
            return kind in (int, float)
        return not known  # the type says nothing, as with DATETIME


class NewDatabase:
    """The database that recovered rows are written to.

    Its statements come from a file that is not trusted: only tables and indexes are created, and nothing of them can call a function that
    does more than compare.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.tables: dict[str, Table] = {}
        self.lost = 0
        connection.execute("PRAGMA trusted_schema = OFF").fetchall()
        connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 100_000)

    def create(self, statements: Iterable[str]) -> list[str]:
        """Create tables or indexes, and return the statements that were refused."""
        refused = []
        self._connection.set_authorizer(_authorize)
        for statement in statements:
            try:
                self._connection.execute(statement)
            except sqlite3.Error:
                refused.append(statement)
        self._connection.set_authorizer(None)
        names = [name for (name,) in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names:
            if name not in self.tables and not name.startswith("sqlite_"):
                self.tables[name] = self._describe(name)
        return refused

    def store(self, table: Table, row: Row) -> bool:
        """Store a row; return False if the table refuses it, as it has one with the same key."""
        values = [row.rowid if place == table.number else value for place, value in enumerate(row.values)]
        names = [quoted_name(name) for name in table.columns[: len(values)]]
        if table.number is None:
            names, values = ["rowid", *names], [row.rowid, *values]
        marks = ", ".join("CAST(? AS TEXT)" if isinstance(value, RawText) else "?" for value in values)
        try:
            done = self._connection.execute(
                f"INSERT OR IGNORE INTO {quoted_name(table.name)} ({', '.join(names)}) VALUES ({marks})", [*map(_storable, values)]
            )
        except (sqlite3.Error, UnicodeEncodeError):
            return False
        if done.rowcount == 1:
            table.count += 1
            for place, value in enumerate(row.values):
                table.kinds[place].add(_kind(value))
        return done.rowcount == 1

    def store_lost(self, row: Row) -> None:
        """Store a row whose table is not known."""
        if not self.lost:
            columns = ", ".join(f"c{place}" for place in range(_MOST_LOST))
            self._connection.execute(f"CREATE TABLE {LOST} (pgno INTEGER, nfield INTEGER, id INTEGER, {columns})")
        self.lost += 1
        values = [*map(_storable, row.values[:_MOST_LOST])]
        names = "".join(f", c{place}" for place in range(len(values)))
        marks = ", ?" * len(values)
        self._connection.execute(
            f"INSERT INTO {LOST} (pgno, nfield, id{names}) VALUES (?, ?, ?{marks})", [row.page, len(row.values), row.rowid, *values]
        )

    def has_row(self, table: Table, row: Row) -> bool:
        """Return whether the table has this very row: an old copy of a page may have it, too."""
        found = self._connection.execute(f"SELECT * FROM {quoted_name(table.name)} WHERE rowid = ?", (row.rowid,)).fetchone()
        values = [row.rowid if place == table.number else value for place, value in enumerate(row.values)]
        return found is not None and list(found) == values

    def execute(self, statement: str) -> int:
        """Run a statement of ours, and return the number of changed rows."""
        return self._connection.execute(statement).rowcount

    def _describe(self, name: str) -> Table:
        found = self._connection.execute(f"PRAGMA table_info({quoted_name(name)})").fetchall()
        keys = [row for row in found if row[5]]
        number = keys[0][0] if len(keys) == 1 and str(keys[0][2]).upper() == "INTEGER" else None
        return Table(name, [row[1] for row in found], [str(row[2]).upper() for row in found], number, [set() for _ in found])


def _authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_OK if second in _FUNCTIONS else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _storable(value: Value) -> Value:
    return bytes(value) if isinstance(value, RawText) else value


def _kind(value: Value) -> type:
    return str if isinstance(value, RawText) else type(value)
