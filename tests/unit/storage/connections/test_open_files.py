"""Locks of this process survive every direct look at a database file."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path

import pytest

from runtime.errors import StorageError
from runtime.events import Event
from runtime.sessions import DatabaseSessionService
from runtime.storage.connections.companions import copy_with_companions, real_file
from runtime.storage.connections.file_kind import not_sqlite
from runtime.storage.connections.open_files import open_files
from runtime.storage.connections.sqlite_file import SqliteFile
from runtime.storage.connections.wal_copy import WalCopy
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.tail.file_tail import FileTail
from runtime.storage.writing.copy_database import copy_database
from runtime.storage.writing.recover import recover
from tests.stranger import Stranger, descriptors
from tests.sweep import count

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps locks for each handle")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "x.db"
    asyncio.run(_create(file))
    return file


async def _create(file: Path) -> None:
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await service.create_session(app_name="a", user_id="u", session_id="first")
        await service.append_event(session, Event(author="me"))


@pytest.fixture
def stranger(file: Path) -> Iterator[Stranger]:
    stranger = Stranger(file)
    yield stranger
    stranger.close()


def connected(file: Path) -> AbstractContextManager[sqlite3.Connection]:
    return closing(open_files.connect(file, isolation_level=None))


def write(connection: sqlite3.Connection) -> None:
    connection.execute("UPDATE sessions SET update_time = update_time")


def read_once(file: Path) -> None:
    with open_files.reading(real_file(file)) as opened:
        assert opened.read(6) == b"SQLite"


def poll(file: Path) -> None:
    tail = FileTail(file)
    tail.poll()
    tail.close()


def copy_log(file: Path) -> None:
    copy = WalCopy(file)
    with suppress(FileNotFoundError):
        copy.bring_up_to_date()
    copy.close()


def look_at_all(file: Path) -> None:
    with closing(SqliteFile(file)) as opened:
        opened.read(lambda connection: connection.execute("SELECT count(*) FROM events").fetchall())


def list_sessions(file: Path) -> None:
    with StoredDatabase.open(str(file)) as database:
        database.sessions()


def recover_it(file: Path) -> None:
    with suppress(StorageError):  # it is open here
        recover(str(file), str(file.with_name("recovered.db")))


LOOKS: dict[str, Callable[[Path], object]] = {
    "read": read_once,
    "kind": not_sqlite,
    "copy": lambda file: copy_with_companions(real_file(file), file.with_name("copy")),
    "copy log": copy_log,
    "reader": look_at_all,
    "sessions": list_sessions,
    "tail": poll,
    "save as": lambda file: copy_database(str(file), file.with_name("saved.db")),
    "recover": recover_it,
}


@pytest.mark.rule("F6")
@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
@pytest.mark.parametrize("name", ["itself", "link", "hard link"])
def test_no_look_drops_the_locks_of_an_open_connection(file: Path, stranger: Stranger, look: Callable[[Path], object], name: str) -> None:
    seen = file
    if name != "itself":
        seen = file.parent / "other" / "y.db"
        seen.parent.mkdir()
        (seen.symlink_to if name == "link" else seen.hardlink_to)(file)
    with connected(file) as connection:
        write(connection)
        look(seen)
        assert stranger.ask("visit")
        write(connection)
        assert not any("(deleted)" in path for path in descriptors(file))
        assert file.with_name("x.db-wal").exists()
    assert descriptors(file) == []
    assert not file.with_name("x.db-wal").exists()


@pytest.mark.rule("F6")
@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_no_look_drops_the_locks_of_a_connection_that_is_being_made(file: Path, stranger: Stranger, look: Callable[[Path], object]) -> None:
    with connected(file) as usual:
        kind = type(usual)

    class Observed(kind):  # type: ignore[misc, valid-type]
        def __init__(self, *args: object, **options: object) -> None:
            super().__init__(*args, **options)
            write(self)
            thread = threading.Thread(target=look, args=(file,))
            thread.start()
            thread.join()
            assert stranger.ask("visit")

    with closing(open_files.connect(file, isolation_level=None, factory=Observed)) as connection:
        write(connection)
        assert file.with_name("x.db-wal").exists()
        assert not any("(deleted)" in path for path in descriptors(file))
    assert descriptors(file) == []


@pytest.mark.sweep
def test_a_log_stays_under_its_writer(file: Path, stranger: Stranger) -> None:
    rounds, stop, problems = count(quick=15, full=2_000), threading.Event(), []

    def look() -> None:
        while not stop.is_set():
            try:
                list_sessions(file)
            except StorageError as error:
                problems.append(str(error))

    async def work() -> None:
        for number in range(rounds):
            async with DatabaseSessionService(f"sqlite:///{file}") as service:
                session = await service.create_session(app_name="a", user_id="u", session_id=f"{number}")
                await asyncio.to_thread(stranger.ask, "visit")
                assert not any("(deleted)" in path for path in descriptors(file)), number
                await service.append_event(session, Event(author="me"))

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        asyncio.run(work())
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert problems == []
    with StoredDatabase.open(str(file)) as database:
        assert [summary.event_count for summary in database.sessions()] == [1] * (rounds + 1)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(count(quick=1, full=50)))
def test_a_file_is_locked_as_long_as_a_connection_is_open(file: Path, stranger: Stranger, seed: int) -> None:
    chance = random.Random(seed)
    names = [file, file.with_name("link.db")]
    names[1].symlink_to(file)
    connections: list[sqlite3.Connection] = []
    reads: list[AbstractContextManager[object]] = []
    for _ in range(200):
        act = chance.choice(["connect", "close", "abandon", "read", "read on"])
        if act == "connect" and len(connections) < 4:
            connections.append(open_files.connect(chance.choice(names), isolation_level=None))
            write(connections[-1])
        elif act in ("close", "abandon") and connections:
            connection = connections.pop(chance.randrange(len(connections)))
            if act == "close":
                connection.close()
            del connection
            gc.collect()  # a connection and its cache of statements refer to each other
        elif act == "read" and len(reads) < 4:
            reads.append(open_files.reading(file))
            reads[-1].__enter__()
        elif act == "read on" and reads:
            reads.pop(chance.randrange(len(reads))).__exit__(None, None, None)
        assert stranger.ask("look") == bool(connections) == (file in open_files)
        if not connections and not reads:
            assert descriptors(file) == []
    for read in reads:
        read.__exit__(None, None, None)
    for connection in connections:
        connection.close()
    assert descriptors(file) == []


def test_a_look_keeps_the_locks_of_a_connection_that_does_not_come_through_the_door(file: Path, stranger: Stranger) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        write(connection)
        list_sessions(file)
        assert stranger.ask("visit")
        write(connection)
        assert not any("(deleted)" in path for path in descriptors(file))


def test_an_unfinished_cursor_keeps_a_closed_connection_s_file_open(file: Path, stranger: Stranger) -> None:
    connection = open_files.connect(file, isolation_level=None)
    write(connection)
    cursor = connection.execute("SELECT name FROM sqlite_master")
    cursor.fetchone()
    connection.close()
    read_once(file)
    assert stranger.ask("look")  # SQLite, which has not closed it, will not lock it again
    with connected(file) as other:
        assert stranger.ask("visit")
        del cursor
        write(other)
        assert not any("(deleted)" in path for path in descriptors(file))
    assert descriptors(file) == []


def test_a_connection_that_cannot_be_made_is_not_open(file: Path) -> None:
    for wrong in (file.parent, file.with_name("no") / "folder.db"):
        with pytest.raises(sqlite3.OperationalError):
            open_files.connect(wrong)
    read_once(file)
    assert descriptors(file) == []
    assert file.parent not in open_files


def test_a_replaced_file_is_another_file(file: Path, stranger: Stranger) -> None:
    with connected(file) as connection:
        write(connection)
        new = file.with_name("new.db")
        copy_with_companions(file, new)
        new.replace(file)
        assert file not in open_files
        read_once(file)
        connection.execute("SELECT 1 FROM sessions").fetchall()
    assert descriptors(file) == []


def test_connections_in_memory_are_no_files() -> None:
    with closing(open_files.connect(":memory:")) as connection:
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_a_name_that_is_not_utf8_is_registered(tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"\xff.db")
    file.touch()
    with closing(open_files.connect(f"file:{tmp_path}/%FF.db", uri=True)):
        assert file in open_files
    assert file not in open_files


def test_a_forked_child_can_open_files(file: Path) -> None:
    with connected(file) as connection:
        write(connection)
        child = os.fork()
        if child == 0:
            list_sessions(file)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        write(connection)
