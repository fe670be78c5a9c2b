"""The log of a replaced file is never applied to the file that was put in its place."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

from runtime.events import Event
from runtime.sessions import DatabaseSessionService
from runtime.sessions.session_key import SessionKey
from runtime.storage.connections.open_files import identity_of
from runtime.storage.connections.write_ahead_log import fold_log_of, has_replaced_log, remove_replaced_log
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.tail.open_tail import open_tail
from runtime.storage.writing.recover import recover
from tests.unit.storage.tail.sql_writer import SqlWriter

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has a file open")
KEY = SessionKey("a", "u", "s")


async def database(file: Path, name: str, number: int = 1) -> Path:
    async with DatabaseSessionService(str(file)) as service:
        session = await service.create_session(app_name="a", user_id="u", session_id="s")
        for each in range(number):
            await service.append_event(session, Event(id=f"{name}{each}", author="me", invocation_id="i" * 2_000))
    return file


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    return await database(tmp_path / "x.db", "old", 9)


@pytest.fixture
async def other(tmp_path: Path) -> Path:
    return await database(tmp_path / "other.db", "new", 3)


def ids(file: Path) -> list[str]:
    with StoredDatabase.open(str(file)) as reader:
        return [event.id for event in reader.events(KEY)]


def stored(file: Path) -> list[str]:
    """Return the ids that SQLite itself finds in the file with its log, which is whole."""
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return [name for (name,) in connection.execute("SELECT id FROM events ORDER BY rowid")]


async def append(file: Path, event_id: str, service: DatabaseSessionService | None = None) -> None:
    if service is None:
        async with DatabaseSessionService(str(file)) as service:
            return await append(file, event_id, service)
    session = await service.get_session(app_name="a", user_id="u", session_id="s")
    assert session is not None
    await service.append_event(session, Event(id=event_id, author="me", invocation_id="i"))


def put(source: Path, file: Path) -> None:
    """Put a file in another one's place."""
    source.replace(file)


NEW = ["new0", "new1", "new2"]


async def _write(file: Path, service: DatabaseSessionService) -> None:
    await append(file, "more", service)
    assert stored(file) == [*NEW, "more"]


async def _read(_: Path, service: DatabaseSessionService) -> None:
    session = await service.get_session(app_name="a", user_id="u", session_id="s")
    assert session is not None
    assert [event.id for event in session.events] == NEW


async def _read_the_file(file: Path, _: DatabaseSessionService) -> None:
    assert ids(file) == NEW


async def _tail(file: Path, _: DatabaseSessionService) -> None:
    tail = open_tail(str(file), ())
    tail.follow(KEY, [])
    assert [event.id for event in tail.poll().events] == NEW
    tail.close()


async def _write_through_another(file: Path, _: DatabaseSessionService) -> None:
    await append(file, "more")
    assert stored(file) == [*NEW, "more"]


async def _nothing(_file: Path, _: DatabaseSessionService) -> None:
    pass


@pytest.mark.parametrize("use", [_write, _read, _read_the_file, _tail, _write_through_another, _nothing])
@pytest.mark.parametrize("before", ["write", "read", "none"])
async def test_a_service_continues_in_the_file_that_was_put_there(
    file: Path, other: Path, use: Callable[[Path, DatabaseSessionService], Awaitable[None]], before: str
) -> None:
    service = DatabaseSessionService(str(file))
    if before == "write":
        await append(file, "last", service)
    elif before == "read":
        await service.get_session(app_name="a", user_id="u", session_id="s")
    old = file.with_name("old.db")
    kept = before == "write"
    if kept:
        put(file, old)
    put(other, file)
    await use(file, service)
    await service.close()
    assert stored(file)[:3] == NEW
    assert not file.with_name("x.db-wal").exists()
    if kept:
        assert stored(old) == [f"old{number}" for number in range(9)] + ["last"]


async def test_two_services_of_one_process_and_both_orders(file: Path, other: Path) -> None:
    async with DatabaseSessionService(str(file)) as one, DatabaseSessionService(str(file)) as two:
        await append(file, "last", one)
        await append(file, "last of two", two)
        put(other, file)
        for number, service in enumerate((one, two, one, two)):
            await append(file, f"more{number}", service)
    assert stored(file) == [*NEW, "more0", "more1", "more2", "more3"]


@pytest.fixture
def holder(file: Path, other: Path) -> SqlWriter:
    """Return a program that has the replaced file open, and its log."""
    writer = SqlWriter(file, "wal")
    for number in range(9):
        writer.add_event("s", f"kept{number}")
    put(other, file)
    return writer


async def _recover(file: Path) -> None:
    recover(str(file), str(file.with_name("recovered.db")))
    assert stored(file.with_name("recovered.db")) == NEW


DOORS: dict[str, Callable[[Path], Awaitable[None]]] = {
    "service": lambda file: append(file, "more"),
    "recover": _recover,
}


@pytest.mark.parametrize("door", ["reader", "fold", *DOORS])
async def test_a_log_of_another_program_is_not_applied(file: Path, holder: SqlWriter, door: str) -> None:
    assert has_replaced_log(file)
    assert ids(file) == NEW
    if door == "fold":
        fold_log_of(file)
    elif door in DOORS:
        await DOORS[door](file)
    assert ids(file) == [*NEW, "more"] if door == "service" else NEW
    if door != "reader":
        holder.add_event("s", "late")  # into the replaced file's log, which has no name any more
        holder.close()
        assert stored(file)[:3] == NEW
        assert "late" not in stored(file)
    else:
        remove_replaced_log(file)
        holder.close()


@pytest.mark.parametrize("how", ["used", "locks dropped", "killed", "of an agent"])
async def test_a_log_that_belongs_to_the_file_stays(file: Path, how: str) -> None:
    writer = SqlWriter(file, "wal")
    mine = sqlite3.connect(file, isolation_level=None) if how == "of an agent" else None
    if mine is not None:
        mine.execute("SELECT 1 FROM sessions").fetchall()
    writer.add_event("s", "e1")
    if how == "locks dropped":  # as POSIX does when the program closes any descriptor of the file
        writer.run("ATTACH ? AS again", f"file:{file}?immutable=1")
        writer.run("DETACH again")
    elif how in ("killed", "of an agent"):
        writer.kill()
    assert not has_replaced_log(file)
    remove_replaced_log(file)
    assert ids(file)[-1] == "e1"
    await append(file, "more")
    assert stored(file)[-2:] == ["e1", "more"]
    if mine is not None:
        mine.close()
    if how not in ("killed", "of an agent"):
        writer.close()


async def test_the_log_of_a_killed_process_is_not_folded_into_another_file(file: Path, other: Path) -> None:
    identity = identity_of(file)
    writer = SqlWriter(file, "wal")
    writer.add_event("s", "e1")
    writer.kill()
    put(other, file)
    fold_log_of(file, identity)
    assert stored(file) == NEW


async def test_the_log_of_a_killed_process_is_folded_into_its_own_file(file: Path) -> None:
    identity = identity_of(file)
    writer = SqlWriter(file, "wal")
    writer.add_event("s", "e1")
    writer.kill()
    fold_log_of(file, identity)
    assert not file.with_name("x.db-wal").exists()
    assert stored(Path(shutil.copy(file, file.with_name("copy.db"))))[-1] == "e1"
