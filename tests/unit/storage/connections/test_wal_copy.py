"""Reading of a private copy beside a writer with a write-ahead log."""

from __future__ import annotations

import random
import sqlite3
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.generated import _SCHEMA
from runtime.errors import StorageError
from runtime.storage.connections import sqlite_file, wal_copy
from runtime.storage.connections.sqlite_file import SqliteFile
from runtime.storage.tail.file_tail import FileTail
from tests.unit.storage.tail.sql_writer import SqlWriter

COUNT = "SELECT count(*) FROM events"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "theirs"
    folder.mkdir()
    file = folder / "live.db"
    connection = sqlite3.connect(file)
    connection.executescript(_SCHEMA)
    connection.close()
    return file


@pytest.fixture
def reader(file: Path) -> Iterator[SqliteFile]:
    reader = SqliteFile(file)
    yield reader
    reader.close()


def new_writer(file: Path, mode: str = "wal") -> SqlWriter:
    writer = SqlWriter(file, mode)
    if not writer.run("SELECT 1 FROM sessions"):
        writer.add_session("s")
    return writer


def count(reader: SqliteFile) -> int:
    return int(reader.read(lambda connection: connection.execute(COUNT).fetchone())[0])


def names(file: Path) -> list[str]:
    return sorted(path.name for path in file.parent.iterdir())


@pytest.mark.parametrize("mode", ["wal", "delete", "truncate", "persist"])
def test_a_writer_that_closes_during_a_read_leaves_no_log(file: Path, reader: SqliteFile, mode: str) -> None:
    writer = new_writer(file, mode)
    writer.add_event("s", "e0")
    closing = [writer.close]

    def read(connection: sqlite3.Connection) -> tuple[int, int]:
        before = connection.execute(COUNT).fetchone()[0]
        if closing:
            closing.pop()()
        return before, connection.execute(COUNT).fetchone()[0]

    assert reader.read(read) == (1, 1)
    assert names(file) == ["live.db", "live.db-journal"] if mode == "persist" else ["live.db"]
    assert count(reader) == 1


@pytest.mark.parametrize("step", ["bring_up_to_date", "_copy", "_log_header"])
def test_a_writer_that_closes_during_the_copy_leaves_no_log(
    file: Path, reader: SqliteFile, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = new_writer(file)
    writer.add_event("s", "e0")
    closing = [writer.close]
    original: Callable[..., object] = getattr(wal_copy.WalCopy, step)

    def stepped(copy: wal_copy.WalCopy, *args: object) -> object:
        if closing:
            closing.pop()()
        return original(copy, *args)

    monkeypatch.setattr(wal_copy.WalCopy, step, stepped)
    assert count(reader) == 1
    assert names(file) == ["live.db"]


def test_random_writes_checkpoints_and_kills_never_show_a_partial_transaction(file: Path, reader: SqliteFile) -> None:
    chance = random.Random(1)
    writer = new_writer(file)
    committed = 0
    for number in range(120):
        what = chance.random()
        if what < 0.6:
            writer.run("BEGIN")
            for place in range(chance.randrange(1, 6)):
                writer.add_event("s", f"e{number}-{place}" + "x" * chance.randrange(4_000))
                committed += 1
            writer.run("COMMIT")
        elif what < 0.7:
            writer.run(f"PRAGMA wal_checkpoint({chance.choice(['PASSIVE', 'RESTART', 'TRUNCATE'])})")
        elif what < 0.75:
            writer.run("VACUUM")
        elif what < 0.85:
            writer.close() if chance.random() < 0.5 else writer.kill()
            writer = new_writer(file)
        else:
            writer.run("BEGIN")
            writer.run("DELETE FROM events")
            assert count(reader) == committed, "uncommitted changes are not visible"
            writer.run("ROLLBACK")
        found = reader.read(
            lambda connection: connection.execute("PRAGMA data_version").fetchall() and connection.execute(COUNT).fetchone()
        )
        assert found == (committed,)
    writer.close()
    assert count(reader) == committed
    assert names(file) == ["live.db"]


def test_concurrent_transactions_are_seen_whole_and_in_order(file: Path, reader: SqliteFile) -> None:
    writer = new_writer(file)
    writer.run("PRAGMA wal_autocheckpoint = 20")
    done = threading.Event()

    def write() -> None:
        for number in range(400):
            writer.run("BEGIN")
            writer.add_event("s", f"a{number}")
            writer.add_event("s", f"b{number}")
            writer.run("COMMIT")
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    last = 0
    while not done.is_set():
        now = count(reader)
        assert now >= last and now % 2 == 0, "transactions are visible as a whole and never disappear"
        last = now
    thread.join()
    assert count(reader) == 800
    writer.close()


def test_a_large_database_is_read_in_place(file: Path, reader: SqliteFile, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wal_copy, "LARGEST", 1_000)
    writer = new_writer(file)
    writer.add_event("s", "e0")
    assert count(reader) == 1
    assert reader._wal_copy._folder is None
    writer.close()
    assert names(file) == ["live.db"]


def test_closing_the_reader_deletes_the_copy(file: Path, reader: SqliteFile) -> None:
    writer = new_writer(file)
    assert count(reader) == 0
    assert reader._wal_copy._folder is not None
    folder = Path(reader._wal_copy._folder.name)
    assert folder.stat().st_mode & 0o77 == 0
    reader.close()
    assert not folder.exists()
    writer.close()


def test_a_full_disk_during_the_copy_is_reported(file: Path, reader: SqliteFile, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = new_writer(file)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(wal_copy, "copy_privately", full)
    with pytest.raises(StorageError, match="No space left"):
        count(reader)
    monkeypatch.undo()
    assert count(reader) == 0
    writer.close()


def test_polling_beside_short_scripts_leaves_no_files(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A reader opens the file itself after several failed copies, and before the switch to a write-ahead log, once in a database's life.
    monkeypatch.setattr(sqlite_file, "_TRIES", 1_000)
    monkeypatch.setattr(sqlite_file, "_TRIES_TO_COPY", 1_000)
    SqlWriter(file, "wal").close()
    tail, ended = FileTail(file), threading.Event()

    def look() -> None:
        while not ended.is_set():
            tail.poll()

    looking = threading.Thread(target=look)
    looking.start()
    left = []
    for number in range(25):
        writer = new_writer(file)
        writer.add_event("s", f"e{number}")
        writer.close()
        left.append(names(file))
    ended.set()
    looking.join()
    assert left == [["live.db"]] * 25
    tail.poll()
    assert sum(summary.event_count for summary in tail._known.values()) == 25
    tail.close()
