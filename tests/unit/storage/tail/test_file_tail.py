"""A tail reports each commit of other processes once, even when they replace, vacuum or checkpoint the file."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from bench.generated import _SCHEMA
from runtime.sessions.session import SessionKey
from runtime.storage.tail.file_tail import FileTail
from tests.unit.storage.tail.sql_writer import SqlWriter

KEY = SessionKey("a", "u", "s")
OTHER = SessionKey("a", "u", "other")


class Watched:
    """The changes of a tail, accumulated as in a window."""

    def __init__(self, file: Path) -> None:
        self.tail = FileTail(file)
        self.sessions: dict[SessionKey, int] = {}
        self.ids: list[str] = []
        self.rereads = 0
        self._file = file
        self.tail.follow(KEY)

    def look(self) -> None:
        changes = self.tail.poll()
        for key in changes.removed:
            del self.sessions[key]
        self.sessions.update({summary.key: summary.event_count for summary in changes.changed})
        self.ids += [event.id for event in changes.events]
        if changes.reread:
            self.rereads += 1
            connection = sqlite3.connect(f"file:{self._file}?mode=ro", uri=True)
            self.ids = [row for (row,) in connection.execute("SELECT id FROM events WHERE session_id = 's' ORDER BY rowid")]
            connection.close()
            self.tail.follow(KEY, self.ids)
            self.look()


@pytest.fixture(params=["delete", "truncate", "persist", "wal"])
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return new_database(tmp_path / "live.db")


@pytest.fixture
def writer(file: Path, mode: str) -> Iterator[SqlWriter]:
    writer = SqlWriter(file, mode)
    writer.add_session("s")
    yield writer
    writer.close()


@pytest.fixture
def watch(file: Path) -> Iterator[Callable[[], Watched]]:
    with ExitStack() as stack:

        def begin() -> Watched:
            watched = Watched(file)
            stack.callback(watched.tail.close)
            return watched

        yield begin


@pytest.fixture
def watched(writer: SqlWriter, watch: Callable[[], Watched]) -> Watched:
    return watch()


def new_database(file: Path) -> Path:
    connection = sqlite3.connect(file)
    connection.executescript(_SCHEMA)
    connection.close()
    return file


def test_each_commit_is_reported_once(watched: Watched, writer: SqlWriter) -> None:
    for number in range(20):
        writer.add_event("s", f"e{number}")
        if number % 3 == 0:
            watched.look()
            watched.look()
            assert watched.ids == [f"e{n}" for n in range(number + 1)]
    watched.look()
    assert watched.ids == [f"e{number}" for number in range(20)]
    assert watched.sessions == {KEY: 20}
    assert watched.rereads == 0


def test_new_and_deleted_sessions_are_reported(watched: Watched, writer: SqlWriter) -> None:
    watched.look()
    writer.add_session("other")
    watched.look()
    assert watched.sessions == {KEY: 0, OTHER: 0}
    writer.add_event("other", "o1")
    watched.look()
    assert watched.sessions == {KEY: 0, OTHER: 1}
    writer.run("DELETE FROM events WHERE session_id = 'other'")
    writer.run("DELETE FROM sessions WHERE id = 'other'")
    writer.add_event("s", "e1")
    watched.look()
    assert watched.sessions == {KEY: 1}
    assert watched.ids == ["e1"]
    assert watched.rereads == 0


def test_a_deletion_and_a_creation_in_one_poll_are_reported(watched: Watched, writer: SqlWriter) -> None:
    writer.add_session("x")
    writer.add_session("other")
    watched.look()
    writer.run("DELETE FROM sessions WHERE id = 'x'")
    writer.add_session("y")
    watched.look()
    assert {key.session_id for key in watched.sessions} == {"s", "other", "y"}


def test_a_recreated_session_is_read_again(watched: Watched, writer: SqlWriter) -> None:
    writer.add_event("s", "e1")
    watched.look()
    for sql in ("DELETE FROM events", "DELETE FROM sessions"):
        writer.run(sql)
    writer.add_session("s")
    writer.add_event("s", "n1")
    watched.look()
    assert watched.ids == ["n1"]
    assert watched.sessions == {KEY: 1}


def test_a_session_restored_to_its_orphaned_events_is_reported(watched: Watched, writer: SqlWriter) -> None:
    writer.add_event("s", "e1")
    watched.look()
    writer.run("DELETE FROM sessions")
    watched.look()
    assert watched.sessions == {}
    writer.add_session("s")
    watched.tail.follow(KEY, ["e1"])
    watched.look()
    assert watched.sessions == {KEY: 1}
    assert watched.rereads == 0
    writer.add_event("s", "e2")
    watched.look()
    assert watched.ids == ["e1", "e2"]


def test_reused_row_numbers_of_deleted_events_are_noticed(watched: Watched, writer: SqlWriter) -> None:
    for number in range(5):
        writer.add_event("s", f"e{number}")
    watched.look()
    writer.run("DELETE FROM events WHERE id IN ('e3', 'e4')")
    writer.add_event("s", "n3")
    writer.add_event("s", "n4")
    watched.look()
    assert watched.ids == ["e0", "e1", "e2", "n3", "n4"]
    assert watched.sessions == {KEY: 5}


def test_events_deleted_in_the_middle_are_noticed_after_a_quiet_period(
    watched: Watched, writer: SqlWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        writer.add_event("s", f"e{number}")
    watched.look()
    writer.run("DELETE FROM events WHERE id = 'e2'")
    monkeypatch.setattr("runtime.storage.tail.file_tail._CALM", 0.0)
    watched.look()
    watched.look()
    assert watched.ids == ["e0", "e1", "e3", "e4"]
    assert watched.sessions == {KEY: 4}


@pytest.mark.parametrize("deleted", ["e1", "e0", ""])
def test_a_vacuum_loses_and_repeats_no_event(watched: Watched, writer: SqlWriter, deleted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    writer.add_session("other")
    writer.add_event("other", "e0")
    for number in range(1, 5):
        writer.add_event("s", f"e{number}")
    watched.look()
    writer.run("DELETE FROM events WHERE id = ?", deleted)
    writer.run("VACUUM")
    writer.add_event("s", "e5")
    watched.look()
    monkeypatch.setattr("runtime.storage.tail.file_tail._CALM", 0.0)
    watched.look()
    assert watched.ids == [f"e{number}" for number in range(1, 6) if f"e{number}" != deleted]
    assert sum(watched.sessions.values()) == (5 if deleted else 6)


def test_renumbered_rows_are_noticed(watched: Watched, writer: SqlWriter) -> None:
    for number in range(5):
        writer.add_event("s", f"e{number}")
    watched.look()
    writer.run("DELETE FROM events WHERE id = 'e1'")
    writer.run("UPDATE events SET rowid = rowid - 1 WHERE rowid > 2")
    writer.add_event("s", "e5")
    watched.look()
    assert watched.ids == ["e0", "e2", "e3", "e4", "e5"]


def test_a_checkpoint_loses_and_repeats_no_event(file: Path, watch: Callable[[], Watched]) -> None:
    writer = SqlWriter(file, "wal")
    writer.add_session("s")
    watched = watch()
    for number in range(12):
        writer.add_event("s", f"e{number}")
        watched.look()
        if number % 4 == 3:
            writer.run(f"PRAGMA wal_checkpoint({'TRUNCATE' if number % 8 == 3 else 'RESTART'})")
            watched.look()
    writer.close()
    watched.look()
    assert watched.ids == [f"e{number}" for number in range(12)]
    assert {path.name for path in file.parent.iterdir()} == {file.name}


def test_commits_before_and_after_a_killed_writer_are_reported(file: Path, mode: str, watch: Callable[[], Watched]) -> None:
    writer = SqlWriter(file, mode)
    writer.add_session("s")
    writer.add_event("s", "e1")
    watched = watch()
    watched.look()
    writer.run("BEGIN")
    writer.run("PRAGMA cache_size = 1")
    for number in range(50):
        writer.add_event("s", f"never{number}" + "x" * 5_000)
    writer.run("PRAGMA cache_spill = 1")
    writer.kill()
    watched.look()
    assert watched.ids == ["e1"]
    assert watched.tail.problem is None
    writer = SqlWriter(file, mode)
    watched.look()
    writer.add_event("s", "e2")
    watched.look()
    writer.close()
    watched.look()
    assert watched.ids == ["e1", "e2"]
    assert watched.sessions == {KEY: 2}


@pytest.mark.parametrize("how", ["rename", "copy", "delete and make"])
def test_a_replaced_file_is_read_again(file: Path, tmp_path: Path, how: str, watch: Callable[[], Watched]) -> None:
    writer = SqlWriter(file)
    writer.add_session("s")
    writer.add_event("s", "e1")
    writer.close()
    watched = watch()
    watched.look()
    other = new_database(tmp_path / "another.db")
    if how == "delete and make":
        file.unlink()
        watched.look()
        assert watched.tail.problem is not None
        assert "There is no file" in str(watched.tail.problem)
        assert watched.sessions == {KEY: 1}, "known sessions stay until the file can be read again"
    writer = SqlWriter(other)
    writer.add_session("s")
    writer.add_session("other")
    writer.add_event("s", "n1")
    writer.add_event("s", "n2")
    writer.close()
    if how == "copy":
        shutil.copyfile(other, file)
    else:
        other.replace(file)
    watched.look()
    assert watched.tail.problem is None
    assert watched.ids == ["n1", "n2"]
    assert watched.sessions == {KEY: 2, OTHER: 0}
    writer = SqlWriter(file)
    writer.add_event("s", "n3")
    writer.close()
    watched.look()
    assert watched.ids == ["n1", "n2", "n3"]


def test_a_file_that_stops_being_a_database_is_reported(file: Path, watch: Callable[[], Watched]) -> None:
    watched = watch()
    watched.look()
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 5_000)
    watched.look()
    assert "is not an SQLite database" in str(watched.tail.problem)


def test_an_unchanged_file_is_not_read(watched: Watched, writer: SqlWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    writer.add_event("s", "e1")
    reads: list[str] = []
    read = FileTail._read

    def counted(tail: FileTail, *, count: bool) -> object:
        reads.append("read")
        return read(tail, count=count)

    monkeypatch.setattr(FileTail, "_read", counted)
    monkeypatch.setattr("runtime.storage.tail.file_tail.CLOCK_TICK", -1.0)
    for _ in range(50):
        watched.look()
    assert len(reads) == 1


def test_a_commit_within_the_same_clock_tick_is_reported(
    watched: Watched, writer: SqlWriter, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.storage.tail.file_tail.CLOCK_TICK", 3_600.0)  # however slow the machine is
    writer.add_event("s", "e1")
    watched.look()
    stamps = [(path, path.stat()) for path in file.parent.iterdir() if not path.name.endswith("-shm")]
    writer.add_event("s", "e2")
    for path, stat in stamps:
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    watched.look()
    assert watched.ids == ["e1", "e2"]


def test_following_another_session_returns_its_events(watched: Watched, writer: SqlWriter) -> None:
    writer.add_session("other")
    writer.add_event("other", "o1")
    watched.look()
    watched.tail.follow(OTHER, ["o1"])
    writer.add_event("other", "o2")
    writer.add_event("s", "e1")
    watched.look()
    assert watched.ids == ["o2"]
    watched.tail.follow(None)
    writer.add_event("other", "o3")
    watched.look()
    assert watched.ids == ["o2"]
    assert watched.sessions == {KEY: 1, OTHER: 3}


def test_events_committed_before_following_are_returned(watched: Watched, writer: SqlWriter) -> None:
    writer.add_event("s", "e1")
    writer.add_event("s", "e2")
    watched.look()
    watched.ids.clear()
    watched.tail.follow(KEY, ["e1"])
    watched.look()
    assert watched.ids == ["e2"]


@pytest.fixture
def fill(writer: SqlWriter) -> Callable[[int], None]:
    def add(count: int) -> None:
        for number in range(count):
            writer.add_event("s", f"e{number}")

    return add


def test_a_long_session_can_be_followed_with_its_last_ids(watched: Watched, writer: SqlWriter, fill: Callable[[int], None]) -> None:
    fill(10)
    watched.tail.follow(KEY, ["e8", "e9"], 10)
    writer.add_event("s", "e10")
    watched.look()
    assert watched.ids == ["e10"]
    assert watched.rereads == 0


@pytest.mark.parametrize("mode", ["delete"], indirect=True)
def test_only_the_latest_ids_are_kept(
    watched: Watched, writer: SqlWriter, fill: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.storage.tail.tail.MOST_IDS", 4)
    fill(10)
    watched.look()
    followed = watched.tail._followed
    assert followed is not None
    assert (list(followed.ids), followed.count) == ([f"e{number}" for number in range(6, 10)], 10)
    writer.add_event("s", "e10")
    watched.look()
    assert watched.ids == [f"e{number}" for number in range(11)]
    assert watched.rereads == 0


def test_many_new_events_are_returned_in_several_polls(
    watched: Watched, writer: SqlWriter, fill: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.storage.tail.file_tail._MOST_AT_ONCE", 4)
    fill(10)
    for told in (4, 8, 10, 10):
        watched.look()
        assert watched.ids == [f"e{number}" for number in range(told)], "without another commit"
    assert watched.sessions == {KEY: 10}
    assert watched.rereads == 0
