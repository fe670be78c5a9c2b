"""Copying what is readable of damaged files: every row that SQLite's own recovery gets, and the report of what was lost."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing
from functools import lru_cache
from pathlib import Path

import pytest

from runtime.errors import KnownError, NotASessionDatabaseError, StorageError
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.writing.recover import recover
from tests.sweep import count
from tests.unit.storage.writing.damage import PAGE, damage, recovered_by_sqlite, true_rows, with_number_as_null

DATA = Path(__file__).parents[3] / "data"
BASES = ("ours.db", "v1.db", "sqlite.db", "v0.db")
SEEDS = range(count(40, 1000))


@lru_cache
def shell_recovers() -> bool:
    """Return whether there is a shell of SQLite with `.recover`; many are built without it."""
    program = os.environ.get("SQLITE_SHELL") or shutil.which("sqlite3")
    if program is None:
        return False
    dumped = subprocess.run([program, str(DATA / "v1.db"), ".recover"], capture_output=True, check=False).stdout
    return b"INSERT" in dumped


@pytest.mark.parametrize("base", BASES)
def test_a_sound_file_is_copied_whole(base: str, tmp_path: Path) -> None:
    done = recover(str(DATA / base), str(tmp_path / "new.db"))
    assert done.is_complete
    assert true_rows(tmp_path / "new.db") == true_rows(DATA / base)
    with StoredDatabase.open(str(tmp_path / "new.db")) as new, StoredDatabase.open(str(DATA / base)) as old:
        key = old.sessions()[0].key
        assert new.events(key) == old.events(key)
        assert new.state(key) == old.state(key)
        assert new.layout.kind == old.layout.kind
    with closing(sqlite3.connect(tmp_path / "new.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.sweep
@pytest.mark.parametrize("seed", SEEDS)
def test_a_damaged_file_gives_what_sqlite_recovers_or_more(seed: int, tmp_path: Path) -> None:
    base = DATA / BASES[seed // 8 % len(BASES)]
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(damage(base.read_bytes(), seed))
    before = damaged.read_bytes()
    true = with_number_as_null(true_rows(base))
    try:
        recover(str(damaged), str(tmp_path / "new.db"))
        mine = true_rows(tmp_path / "new.db") & true
    except StorageError:
        mine = set()
        assert not (tmp_path / "new.db").exists()
    assert damaged.read_bytes() == before
    assert not [*tmp_path.glob("*.unfinished")]
    if shell_recovers():
        theirs = recovered_by_sqlite(damaged, tmp_path / "theirs.db") & true
        assert with_number_as_null(theirs) <= with_number_as_null(mine)


def test_a_lost_page_costs_only_its_rows(tmp_path: Path) -> None:
    base = DATA / "v1.db"
    with closing(sqlite3.connect(f"file:{base}?mode=ro", uri=True)) as connection:
        root = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'sessions'").fetchone()[0]
    content = bytearray(base.read_bytes())
    content[(root - 1) * PAGE : root * PAGE] = bytes(PAGE)
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(content)
    done = recover(str(damaged), str(tmp_path / "new.db"))
    assert done.damaged_pages == [root]
    assert done.sessions == 1, "the events' session is made again, with an empty state"
    with StoredDatabase.open(str(tmp_path / "new.db")) as new, StoredDatabase.open(str(base)) as old:
        key = old.sessions()[0].key
        assert [event.id for event in new.events(key)] == [event.id for event in old.events(key)]


@pytest.mark.parametrize("base", ["v1.db", "sqlite.db"])
def test_a_file_without_its_first_page_becomes_a_session_database_again(base: str, tmp_path: Path) -> None:
    content = (DATA / base).read_bytes()
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(bytes(PAGE) + content[PAGE:])
    done = recover(str(damaged), str(tmp_path / "new.db"))
    assert "events" in done.tables
    with StoredDatabase.open(str(tmp_path / "new.db")) as new, StoredDatabase.open(str(DATA / base)) as old:
        key = old.sessions()[0].key
        assert new.layout.kind == old.layout.kind
        assert [event.id for event in new.events(key)] == [event.id for event in old.events(key)]
        assert new.state(key) == old.state(key)


def test_what_is_only_in_the_log_is_copied_too(tmp_path: Path) -> None:
    file = tmp_path / "s.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE sessions (id TEXT, state TEXT)")
        connection.execute("INSERT INTO sessions VALUES ('s', '{}')")
        connection.commit()
        copy = tmp_path / "copy.db"
        for suffix in ("", "-wal"):
            shutil.copy(f"{file}{suffix}", f"{copy}{suffix}")
    assert recover(str(copy), str(tmp_path / "new.db")).rows == {"sessions": 1}
    assert Path(f"{copy}-wal").stat().st_size > 0


def test_deleted_rows_stay_deleted(tmp_path: Path) -> None:
    file = tmp_path / "s.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE notes (text TEXT)")
        connection.executemany("INSERT INTO notes VALUES (?)", [(f"{number} " * 300,) for number in range(200)])
        connection.commit()
        connection.execute("DELETE FROM notes WHERE rowid > 3")
        connection.commit()
    done = recover(str(file), str(tmp_path / "new.db"))
    assert (done.rows, done.lost, done.placed) == ({"notes": 3}, 0, 0)


def test_nothing_in_the_file_runs(tmp_path: Path) -> None:
    file = tmp_path / "s.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE sessions (id TEXT DEFAULT (hex(randomblob(9))), state TEXT)")
        connection.execute("INSERT INTO sessions VALUES ('s', '{}')")
        connection.execute("CREATE TRIGGER t AFTER INSERT ON sessions BEGIN INSERT INTO sessions VALUES ('evil', '{}'); END")
        connection.execute("CREATE VIEW v AS SELECT * FROM sessions")
        connection.commit()
    done = recover(str(file), str(tmp_path / "new.db"))
    with closing(sqlite3.connect(tmp_path / "new.db")) as connection:
        assert connection.execute("SELECT id FROM sessions").fetchall() == [("s",)]
        assert not connection.execute("SELECT 1 FROM sqlite_master WHERE type IN ('trigger', 'view')").fetchall()
    assert done.rows == {"sessions": 1}


def test_rows_that_share_their_pages_take_no_time(tmp_path: Path) -> None:
    """A crafted file: thousands of rows whose overflow chains all lead through the whole file."""
    pages = 300
    cells = b"\xff\xff\x7f" + b"\x01" + b"\x02\x00" + b"x" * 8 + (2).to_bytes(4, "big")
    leaf = bytearray(PAGE)
    leaf[:8] = bytes([13, 0, 0, 0, 200, 0, 0, 0])
    for number in range(200):
        leaf[8 + 2 * number : 10 + 2 * number] = (1000).to_bytes(2, "big")
    leaf[1000 : 1000 + len(cells)] = cells
    chain = b"".join((page % pages + 1).to_bytes(4, "big").ljust(PAGE, b"y") for page in range(2, pages + 1))
    file = tmp_path / "s.db"
    file.write_bytes((DATA / "v1.db").read_bytes()[:PAGE] + bytes(leaf) * 50 + chain)
    try:
        recover(str(file), str(tmp_path / "new.db"))
    except KnownError as error:
        assert "readable" in str(error)


@pytest.mark.parametrize(
    ("content", "expected"),
    [(b"", "is an empty file"), (b"hello, this is text", "is a text file"), (b"\x89PNG\r\n\x1a\n" + b"x" * 9000, "PNG")],
)
def test_what_is_no_database_gets_a_sentence(content: bytes, expected: str, tmp_path: Path) -> None:
    (tmp_path / "s.db").write_bytes(content)
    with pytest.raises(NotASessionDatabaseError if not content else StorageError, match=expected):
        recover(str(tmp_path / "s.db"), str(tmp_path / "new.db"))
    assert not (tmp_path / "new.db").exists()
