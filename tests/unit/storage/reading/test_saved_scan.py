"""The result of a scan of all events, saved for the next one."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from bench.generated import write_database
from runtime.storage.connections.sqlite_file import SqliteFile
from runtime.storage.reading import saved_scan
from runtime.storage.reading.saved_scan import SavedScan, Scanned

COUNT = 20


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "x.db"
    write_database(file, COUNT)
    return file


@pytest.fixture
def database(file: Path) -> Iterator[SqliteFile]:
    database = SqliteFile(file)
    yield database
    database.close()


@pytest.fixture
def saved(file: Path, database: SqliteFile, tmp_path: Path) -> SavedScan:
    saved = SavedScan(tmp_path / "cache", file)
    saved.save(database, COUNT, [["a", None], {"b": [1]}])
    return saved


def change(file: Path, statement: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement)
    connection.close()


def test_it_is_read_as_it_was_saved(saved: SavedScan, database: SqliteFile) -> None:
    assert saved.load(database) == Scanned(COUNT, [["a", None], {"b": [1]}])


def test_it_is_used_after_rows_were_added(saved: SavedScan, database: SqliteFile, file: Path) -> None:
    change(file, "INSERT INTO events SELECT 'new', app_name, user_id, session_id, invocation_id, timestamp, event_data FROM events LIMIT 1")
    assert saved.load(database) is not None


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM events WHERE rowid = 5",
        "DELETE FROM events WHERE rowid = 20",
        "UPDATE events SET rowid = 21 WHERE rowid = 3",
        "UPDATE events SET event_data = '{}' WHERE rowid = 20",
        "UPDATE events SET rowid = -1 WHERE rowid = 1",
    ],
)
def test_it_is_not_used_after_a_covered_row_has_changed(saved: SavedScan, database: SqliteFile, file: Path, statement: str) -> None:
    change(file, statement)
    assert saved.load(database) is None


@pytest.mark.parametrize("kept", [0, 1, 2, 3])
def test_a_file_cut_off_is_ignored(saved: SavedScan, database: SqliteFile, kept: int) -> None:
    lines = saved.path.read_text().splitlines(keepends=True)
    saved.path.write_text("".join(lines[:kept]))
    assert saved.load(database) is None


@pytest.mark.parametrize("text", ["[]", "5", '{"last": "x"}', '{"last": 99}', "\x00"])
def test_a_damaged_file_is_ignored(saved: SavedScan, database: SqliteFile, text: str) -> None:
    saved.path.write_text(text)
    assert saved.load(database) is None


def test_a_large_result_is_not_saved(file: Path, database: SqliteFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_scan, "MOST_BYTES", 1_000)
    saved = SavedScan(tmp_path / "cache", file)
    saved.save(database, COUNT, ["x" * 100] * 20)
    assert list((tmp_path / "cache").iterdir()) == []


def test_only_its_owner_can_read_it_and_old_ones_are_deleted(saved: SavedScan, database: SqliteFile) -> None:
    old = saved.path.with_name("old.scan")
    old.touch()
    os.utime(old, (1, 1))
    saved.save(database, COUNT, [])
    assert [path.name for path in saved.path.parent.iterdir()] == [saved.path.name]
    assert stat.S_IMODE(saved.path.stat().st_mode) == 0o600


def test_what_a_killed_process_was_writing_is_deleted_after_an_hour(saved: SavedScan, database: SqliteFile) -> None:
    old, young = saved.path.with_name("a.scan.4711"), saved.path.with_name("b.scan.4712")
    for left in (old, young):
        left.touch()
    os.utime(old, (time.time() - 4_000,) * 2)
    saved.save(database, COUNT, [])
    assert not old.exists()
    assert young.exists()  # another process may be writing it


def test_a_folder_that_cannot_be_written_is_ignored(file: Path, database: SqliteFile, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    saved = SavedScan(tmp_path / "cache", file)
    saved.save(database, COUNT, [])
    assert saved.load(database) is None
