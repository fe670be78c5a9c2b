"""The past of a long session, saved for the next time it is opened."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from bench.generated import APP, SESSION, USER, add_events, write_database
from runtime.history.state_at import History
from runtime.sessions.session import SessionKey
from runtime.storage.reading import saved_past
from runtime.storage.reading.event_pages import EventPages
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.reading.saved_past import SavedPast

KEY = SessionKey(APP, USER, SESSION)
COUNT = 1_000


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "long.db"
    write_database(file, COUNT)
    return file


@pytest.fixture
def saved(file: Path, tmp_path: Path) -> SavedPast:
    """Return the saved past of the session."""
    saved = SavedPast(tmp_path / "cache", file, KEY)
    history, pages = opened(file)
    read(history)
    saved.save(history, pages)
    assert saved.path.is_file()
    return saved


def opened(file: Path) -> tuple[History, EventPages]:
    database = StoredDatabase.open(str(file))
    pages = database.pages(KEY)
    return database.long_history(KEY, pages), pages


def read(history: History) -> int:
    """Read the rest of a history; return the number of steps that had been read."""
    before = history.read_count
    while not history.is_read:
        history.read_on()
    return before


def restored(saved: SavedPast, file: Path) -> bool:
    history, pages = opened(file)
    return saved.load_into(history, pages)


def change(file: Path, statement: str) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(statement)
    connection.close()


def check(saved: SavedPast, file: Path) -> int:
    """Compare every state of the restored history with the one that is read; return the number of steps that were restored."""
    history, pages = opened(file)
    assert saved.load_into(history, pages)
    before = read(history)
    fresh, _ = opened(file)
    read(fresh)
    for index in range(-1, len(fresh)):
        assert repr(history.state_at(index)) == repr(fresh.state_at(index))
        assert history.writers_at(index) == fresh.writers_at(index)
    return before


def test_all_states_are_the_same(saved: SavedPast, file: Path) -> None:
    assert check(saved, file) == 768


def test_only_events_added_since_are_read(saved: SavedPast, file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        add_events(connection, COUNT, COUNT + 300)
    connection.close()
    assert check(saved, file) == 768


def test_a_value_changed_without_an_event_is_unknown_as_before(saved: SavedPast, file: Path) -> None:
    change(file, "UPDATE sessions SET state = json_set(state, '$.step', 'edited')")
    check(saved, file)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM events WHERE rowid = 5",
        "UPDATE events SET event_data = replace(event_data, 'step', 'stop') WHERE rowid = 768",
        "UPDATE events SET id = 'another' WHERE rowid = 1",
    ],
)
def test_it_is_not_used_after_a_covered_event_has_changed(saved: SavedPast, file: Path, statement: str) -> None:
    change(file, statement)
    assert not restored(saved, file)


@pytest.mark.parametrize("text", ["", "{}", "[]", "null\n", "\x00", '{"covered": 768}', '{"covered": "x"}', '{"covered": 10000000}'])
def test_a_damaged_file_is_ignored(saved: SavedPast, file: Path, text: str) -> None:
    saved.path.write_text(text)
    assert not restored(saved, file)


def test_a_file_cut_off_is_ignored(saved: SavedPast, file: Path) -> None:
    lines = saved.path.read_text().splitlines(keepends=True)
    saved.path.write_text("".join(lines[:-1]))
    assert not restored(saved, file)
    saved.path.write_text("".join([*lines[:-1], json.dumps({"values": 1})]))
    assert not restored(saved, file)


def test_the_file_is_bounded(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_past, "MOST_BYTES", 300)
    saved = SavedPast(tmp_path / "cache", file, KEY)
    history, pages = opened(file)
    read(history)
    saved.save(history, pages)
    assert check(saved, file) == 512


def test_old_and_surplus_files_are_deleted(saved: SavedPast, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_past, "MOST_KEPT", 2)
    for number in range(4):
        other = saved.path.with_name(f"{number}.past")
        other.touch()
        os.utime(other, (number, number) if number < 2 else None)
    history, pages = opened(file)
    read(history)
    saved.save(history, pages)
    assert saved.path.exists() and len(list(saved.path.parent.iterdir())) == 2


def test_only_its_owner_can_read_it(saved: SavedPast) -> None:
    assert stat.S_IMODE(saved.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(saved.path.parent.stat().st_mode) == 0o700


def test_a_folder_that_cannot_be_written_is_ignored(file: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    saved = SavedPast(tmp_path / "cache", file, KEY)
    history, pages = opened(file)
    read(history)
    saved.save(history, pages)
    assert not restored(saved, file)
