"""Copying what is readable of a damaged file into a new one.

The file is read page by page, not through SQLite, which stops at the first damaged page of a table. Rows that no tree leads to are given to
the only table whose columns they fit; the others are kept in `lost_and_found`, as in SQLite's own recovery.
"""

from __future__ import annotations

import mmap
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from runtime.errors.storage_error import NotASessionDatabaseError, StorageError
from runtime.storage.connections.companions import check_companions, companion, copy_with_companions, real_file
from runtime.storage.connections.database_url import named_file
from runtime.storage.connections.file_kind import not_sqlite
from runtime.storage.connections.new_file import give_name, unfinished_file
from runtime.storage.connections.open_files import open_files
from runtime.storage.connections.write_ahead_log import remove_replaced_log
from runtime.storage.layouts.known_tables import known_tables
from runtime.storage.reading.damaged_pages import PageReader, RawText, Row, Value
from runtime.storage.writing.recovered_tables import LOST, NewDatabase, Table
from runtime.support.file_names import unusable_name

_SHARED = {"app_states": ("app_name",), "user_states": ("app_name", "user_id")}


@dataclass
class Recovery:
    """What was copied, and what was lost.

    Attributes:
        rows: table → number of rows.
        pages: number of pages of the file.
        damaged_pages: pages of a table that cannot be read.
        unreadable_rows: number of rows whose bytes make no sense.
        incomplete: number of rows that end too early.
        placed: number of rows that no tree led to, and that were given to a table by their columns.
        lost: number of rows in `lost_and_found`.
        sessions: number of sessions that were created again for events without one; their state is lost.
        tables: tables of google-adk that were missing and were created as that version creates them.
        refused: statements of the file that were not run.
    """

    rows: dict[str, int] = field(default_factory=dict)
    pages: int = 0
    damaged_pages: list[int] = field(default_factory=list)
    unreadable_rows: int = 0
    incomplete: int = 0
    placed: int = 0
    lost: int = 0
    sessions: int = 0
    tables: list[str] = field(default_factory=list)
    refused: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether nothing seems to be lost."""
        return not (self.damaged_pages or self.unreadable_rows or self.incomplete or self.lost or self.sessions or self.tables)


def recover(target: str, new: str, progress: Callable[[int], object] = lambda _: None) -> Recovery:
    """Copy what is readable of a database into a new file. The database is not changed.

    Args:
        target: path or `sqlite:` URL of the damaged file.
        new: path of the new file, which must not exist. It gets its name when it is complete.
        progress: called now and then with the number of pages read so far.

    Raises:
        NotASessionDatabaseError: the file is no SQLite database.
        StorageError: it cannot be read, nothing in it is readable, or `new` exists or cannot be written.
    """
    file, written = named_file(target), named_file(new)
    if file is None or written is None:
        raise StorageError(f"{target if file is None else new} is not a file. Only files can be recovered.")
    _check(file, target, written, new)
    with tempfile.TemporaryDirectory(prefix="agent-inspector-") as folder:
        copy = Path(folder) / "copy.db"
        try:
            _copy(real_file(file), target, copy)
        except OSError as error:
            raise StorageError(f"{target} cannot be read: {error.strerror or error}.") from error
        _apply_journal(copy)
        with (
            copy.open("rb") as opened,
            closing(mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)) as content,
            memoryview(content) as data,
        ):
            try:
                return _recover(PageReader(data), target, written, new, progress)
            except OSError as error:
                raise StorageError(f"{new} cannot be written: {error.strerror or error}.") from error


def _check(file: Path, target: str, written: Path, new: str) -> None:
    for path, name in ((file, target), (written, new)):
        if reason := unusable_name(path):
            raise StorageError(f"{name} {reason}.")
    if written.exists():
        raise StorageError(f"{new} already exists. Name a file that does not exist.")
    if not file.exists():
        raise StorageError(f"There is no file {target}.")
    if not file.is_file():
        raise NotASessionDatabaseError(f"{target} is not a regular file, so it cannot be a database.")
    if file.stat().st_size == 0:
        raise NotASessionDatabaseError(f"{target} is an empty file: nothing can be recovered.")


def _copy(file: Path, name: str, copy: Path) -> None:
    if file in open_files:
        raise StorageError(f"{name} is open in this process. Close it first.")
    check_companions(file, name)
    remove_replaced_log(file)
    copy_with_companions(file, copy)


def _apply_journal(copy: Path) -> None:
    """Let SQLite finish or undo the last transaction in the private copy; a file that it refuses is read as it is."""
    if not any(companion(copy, suffix).exists() for suffix in ("-wal", "-journal")):
        return
    with suppress(sqlite3.Error), closing(open_files.connect(copy)) as connection:
        connection.execute("PRAGMA schema_version").fetchall()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _recover(reader: PageReader, target: str, written: Path, new: str, progress: Callable[[int], object]) -> Recovery:
    done = Recovery(pages=len(reader))
    seen: set[int] = set()
    schema = _schema(reader, seen)
    with unfinished_file(written) as unfinished:
        with closing(open_files.connect(unfinished, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = OFF").fetchall()
            connection.execute("BEGIN")
            database = NewDatabase(connection)
            statements = [sql for kind, _, _, sql in schema if kind == "table" and not _is_virtual(sql)]
            done.refused += len(database.create(statements))
            orphans = _copy_tables(reader, schema, seen, database, done, progress)
            _place(orphans, reader, seen, database, done, progress)
            _complete(database, done)
            indexes = [sql for kind, _, _, sql in schema if kind == "index"]
            done.refused += len(database.create(indexes))
            connection.execute("COMMIT")
        done.rows = {name: table.count for name, table in database.tables.items() if table.count or name in _SHARED}
        done.lost, done.unreadable_rows, done.damaged_pages = database.lost, reader.unreadable_rows, sorted(reader.damaged)
        if not sum(done.rows.values()) and not done.lost:
            kind = not_sqlite(real_file(named_file(target) or Path(target)))
            raise StorageError(f"{target} {kind}." if kind else f"Nothing in {target} is readable. Restore a backup.")
        give_name(unfinished, written)
    return done


Entry = tuple[str, str, int, str]  # `table`, `index` or `internal`, name, first page and statement of something in the schema


def _schema(reader: PageReader, seen: set[int]) -> list[Entry]:
    """Return the tables and indexes, in order; also those whose part of the schema is not reached from page 1."""
    pages = [*reader.leaves(1, seen)]
    found = [entry for page in pages or [1] for row in reader.rows(page) if (entry := _entry(row))]
    reader.unreadable_rows = 0 if not pages else reader.unreadable_rows
    if not found:
        others = (page for page in range(2, len(reader) + 1) if reader.is_leaf(page))
        for page in others:
            here = [entry for row in reader.rows(page) if (entry := _entry(row))]
            seen.update({page} if here else ())
            found += here
        reader.unreadable_rows = 0
    return found


def _entry(row: Row) -> Entry | None:
    if len(row.values) != 5:
        return None
    kind, own, of_table, root, sql = (_text(value) for value in row.values)
    name = of_table if kind == "table" else own
    if kind not in ("table", "index") or not isinstance(name, str) or not isinstance(root, int) or not isinstance(sql, str):
        return None
    if name.startswith("sqlite_"):
        return "internal", name, root, sql
    return (str(kind), name, root, sql) if sql.upper().startswith("CREATE") else None


def _text(value: Value) -> Value:
    """Return a text with one damaged byte, too: the rest of a statement is still right."""
    return bytes(value).decode("utf-8", "replace") if isinstance(value, RawText) else value


def _is_virtual(sql: str) -> bool:
    return " ".join(sql.split()[:2]).upper() == "CREATE VIRTUAL"


def _copy_tables(
    reader: PageReader, schema: Sequence[Entry], seen: set[int], database: NewDatabase, done: Recovery, progress: Callable[[int], object]
) -> list[Row]:
    """Copy the rows that the trees lead to, and return those that their table refuses."""
    refused: list[Row] = []
    for kind, name, root, _ in schema:
        table = database.tables.get(name) if kind == "table" else None
        if kind == "internal":
            seen.update(reader.leaves(root, seen))  # SQLite's own, which it writes again
        for page in reader.leaves(root, seen) if table is not None else ():
            progress(len(seen))
            for row in reader.rows(page):
                assert table is not None
                if len(row.values) > len(table.columns) or not database.store(table, row):
                    refused.append(row)
                else:
                    done.incomplete += not row.is_whole
    return refused


def _place(
    refused: list[Row], reader: PageReader, seen: set[int], database: NewDatabase, done: Recovery, progress: Callable[[int], object]
) -> None:
    """Give the other rows to the only table that they fit, or keep them as lost."""
    free = reader.free_pages()
    pages = [page for page in range(2, len(reader) + 1) if page not in seen and page not in free and reader.is_leaf(page)]
    rows = [*refused, *_rows(reader, pages, progress)]
    missing = {name: statement for name, statement in known_tables(row.values for row in rows).items() if name not in database.tables}
    database.create(missing.values())
    done.tables = [name for name in missing if name in database.tables]
    for row in rows:
        fitting: list[Table] = [table for table in database.tables.values() if table.name != LOST and table.fits(row.values)]
        if len(fitting) == 1 and database.store(fitting[0], row):
            done.placed += 1
            done.incomplete += not row.is_whole
        elif len(fitting) != 1 or not database.has_row(fitting[0], row):
            database.store_lost(row)
    # A table that got no row was not lost.
    done.tables = [name for name in done.tables if database.tables[name].count or name in _SHARED]


def _rows(reader: PageReader, pages: Sequence[int], progress: Callable[[int], object]) -> Iterator[Row]:
    for number, page in enumerate(pages):
        progress(len(reader) - len(pages) + number)
        yield from reader.rows(page)


def _complete(database: NewDatabase, done: Recovery) -> None:
    """Create the sessions of events that lost theirs, and the rows of shared state that google-adk needs."""
    if not {"sessions", "events", "app_states", "user_states"} <= set(database.tables):
        return
    with suppress(sqlite3.Error):  # a table of another program with that name
        done.sessions = database.execute(
            "INSERT INTO sessions (app_name, user_id, id, state, create_time, update_time)"
            " SELECT app_name, user_id, session_id, '{}', min(timestamp), max(timestamp) FROM events AS e WHERE NOT EXISTS"
            " (SELECT 1 FROM sessions AS s WHERE s.app_name = e.app_name AND s.user_id = e.user_id AND s.id = e.session_id)"
            " GROUP BY app_name, user_id, session_id"
        )
        for table, keys in _SHARED.items():
            same = " AND ".join(f"s.{key} = t.{key}" for key in keys)
            names = ", ".join(keys)
            database.execute(
                f"INSERT INTO {table} ({names}, state, update_time) SELECT {names}, '{{}}', max(update_time) FROM sessions AS s"
                f" WHERE NOT EXISTS (SELECT 1 FROM {table} AS t WHERE {same}) GROUP BY {names}"
            )
