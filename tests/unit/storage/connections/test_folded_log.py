"""What a log holds is moved into its database."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from runtime.events import Event
from runtime.sessions import DatabaseSessionService
from runtime.storage.connections.write_ahead_log import fold_log_of
from tests.unit.storage.tail.sql_writer import SqlWriter
from tests.whole_file import events_of_file


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    file = tmp_path / "x.db"
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        await service.create_session(app_name="a", user_id="u", session_id="s")
    return file


@pytest.fixture
def killed(file: Path) -> Path:
    """Return a database whose writer was killed."""
    writer = SqlWriter(file, "wal")
    writer.add_event("s", "e1")
    writer.kill()
    assert file.with_name("x.db-wal").stat().st_size > 0
    return file


def names(file: Path) -> list[str]:
    return sorted(path.name for path in file.parent.iterdir())


def test_a_log_that_was_left_behind(killed: Path) -> None:
    fold_log_of(killed)
    assert events_of_file(killed) == 1
    assert names(killed) == ["x.db"]


def test_through_a_link(killed: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(killed)
    fold_log_of(link)
    assert events_of_file(killed) == 1
    assert names(killed) == ["link.db", "x.db"]


@pytest.fixture
def writer(file: Path) -> Iterator[SqlWriter]:
    writer = SqlWriter(file, "wal")
    yield writer
    writer.close()


def test_a_log_in_use_stays(file: Path, writer: SqlWriter) -> None:
    writer.add_event("s", "e1")
    fold_log_of(file)
    assert events_of_file(file) == 1
    assert "x.db-wal" in names(file)
    writer.add_event("s", "e2")
    fold_log_of(file)
    assert events_of_file(file) == 2


@pytest.mark.parametrize("kind", ["missing", "no log", "link as log"])
def test_nothing_is_made_or_followed(tmp_path: Path, file: Path, kind: str) -> None:
    other = tmp_path / "other"
    other.write_text("not a log")
    if kind == "missing":
        file = tmp_path / "none.db"
    elif kind == "link as log":
        file.with_name("x.db-wal").symlink_to(other)
    before = names(file)
    fold_log_of(file)
    assert names(file) == before
    assert other.read_text() == "not a log"


async def test_a_service_leaves_nothing_to_a_reader_that_closes_last(file: Path) -> None:
    service = DatabaseSessionService(f"sqlite:///{file}")
    session = await service.get_session(app_name="a", user_id="u", session_id="s")
    assert session is not None
    await service.append_event(session, Event(author="me"))
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as reader:
        assert reader.execute("SELECT count(*) FROM events").fetchone() == (1,)
        await service.close()
    assert events_of_file(file) == 1


def test_a_service_that_only_reads_changes_nothing(killed: Path) -> None:
    """Not even another program's log."""

    async def read() -> None:
        async with DatabaseSessionService(f"sqlite:///{killed}") as service:
            assert await service.get_session(app_name="a", user_id="u", session_id="s") is not None

    with closing(sqlite3.connect(killed)) as other:
        other.execute("SELECT 1 FROM sessions").fetchall()
        stamp = killed.stat().st_mtime_ns
        asyncio.run(read())
        assert killed.stat().st_mtime_ns == stamp
