"""Links, FIFOs, devices and sparse files beside a database neither hang a read or write nor fill the disk."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from runtime.errors import StorageError
from runtime.events.event import Event
from runtime.storage.connections import companions
from runtime.storage.connections.companions import size_on_disk
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.tail.file_tail import FileTail

DATA = Path(__file__).parents[3] / "data"
TERABYTE = 1 << 40

pytestmark = [pytest.mark.skipif(os.name == "nt", reason="needs links and FIFOs"), pytest.mark.timeout(20)]


@pytest.fixture
def private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for private copies."""
    folder = tmp_path / "private"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def database(tmp_path: Path) -> Path:
    (tmp_path / "received").mkdir()
    return shutil.copyfile(DATA / "ours.db", tmp_path / "received" / "chat.db")


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def dangling(path: Path) -> None:
    path.symlink_to(path.with_name("created-through-a-link"))


def link_to_a_file(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def unix_socket(path: Path) -> None:
    before = Path.cwd()
    os.chdir(path.parent)  # the name of a socket has at most 107 bytes
    try:
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind(path.name)
    finally:
        os.chdir(before)


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    return {path.name: (path.lstat().st_mode, path.lstat().st_mtime_ns) for path in folder.iterdir()}


@pytest.mark.rule("F2")
@pytest.mark.parametrize("plant", [os.mkfifo, endless, dangling, link_to_a_file, unix_socket, Path.mkdir])
@pytest.mark.parametrize("suffix", ["-wal", "-journal", "-shm"])
async def test_special_companions_are_refused(database: Path, private: Path, suffix: str, plant: Callable[[Path], None]) -> None:
    planted = database.with_name(f"chat.db{suffix}")
    plant(planted)
    before = snapshot(database.parent)
    for other in (None, "-wal", "-journal"):  # also with a left-over companion that does make a private copy necessary
        if other is not None and other != suffix:
            database.with_name(f"chat.db{other}").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
        with pytest.raises(StorageError, match=rf"chat\.db{suffix}, which belongs to the database, is not opened: it is a "):
            StoredDatabase.open(str(database))
        if other is not None and other != suffix:
            database.with_name(f"chat.db{other}").unlink()
    tail = FileTail(database)
    tail.poll()
    assert suffix in str(tail.problem)
    tail.close()
    with pytest.raises(StorageError, match="is not opened"):
        async with open_session_service(str(database)) as service:
            await service.create_session(app_name="a", user_id="u")
    assert snapshot(database.parent) == before and snapshot(private) == {}


def killed_writer(database: Path) -> None:
    """Leave a database with a write-ahead log behind, as a killed writer does."""
    live = database.with_name("live.db")
    shutil.copyfile(database, live)
    writer = sqlite3.connect(live, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute('UPDATE sessions SET state = \'{"from": "the log"}\'')
    shutil.copyfile(f"{live}-wal", f"{database}-wal")
    writer.close()
    live.unlink()


def read_state(database: Path) -> dict[str, object]:
    with StoredDatabase.open(str(database)) as stored:
        return stored.state(stored.sessions()[0].key)


@pytest.mark.parametrize("suffix", ["", "-wal"])
def test_a_sparse_file_is_copied_without_its_holes(database: Path, private: Path, suffix: str) -> None:
    killed_writer(database)
    with open(f"{database}{suffix}", "r+b") as file:  # noqa: PTH123
        file.truncate(TERABYTE)
    begin, free = time.monotonic(), shutil.disk_usage(private).free
    with StoredDatabase.open(str(database)) as stored:
        assert stored.state(stored.sessions()[0].key)["from"] == "the log"
        assert free - shutil.disk_usage(private).free < 100_000_000
        assert sum(size_on_disk(path) for path in private.rglob("*") if path.is_file()) < 10_000_000
    assert time.monotonic() - begin < 10
    assert list(private.iterdir()) == []


def test_a_copy_that_does_not_fit_on_the_disk_is_refused(database: Path, private: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed_writer(database)
    monkeypatch.setattr(companions, "_KEPT_FREE", 1 << 62)
    with pytest.raises(StorageError, match=r"chat\.db cannot be read: a private copy of it does not fit on the disk"):
        StoredDatabase.open(str(database))
    assert list(private.iterdir()) == []


async def test_the_log_of_a_database_behind_a_link_is_read(database: Path, tmp_path: Path) -> None:
    """SQLite keeps the log beside the file that the link leads to."""
    killed_writer(database)
    link = tmp_path / "link.db"
    link.symlink_to(database)
    assert read_state(link)["from"] == "the log"
    tail = FileTail(link)
    tail.poll()
    async with open_session_service(str(database)) as service:
        session = await service.create_session(app_name="a", user_id="u")
        tail.poll()
        await service.append_event(session, Event(author="me", invocation_id="i"))
        assert any(summary.key == session.key for summary in tail.poll().changed), "the log beside the target is watched"
    tail.close()


# A command that stays in the middle of a private copy. The loop needs no signal to end a system call.
HELD_WHILE_COPYING = """
import sys
from inspector_app.cli import main
from runtime.storage.connections import companions
next_data = companions._next_data
def hold(descriptor, at, size):
    while at:
        pass
    return next_data(descriptor, at, size)
companions._next_data = hold
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
@pytest.mark.timeout(120)
def test_private_copies_are_deleted_when_the_command_is_terminated(database: Path, private: Path, number: int, status: int) -> None:
    killed_writer(database)
    os.truncate(f"{database}-wal", TERABYTE)  # too large for the other kind of copy
    command = [sys.executable, "-c", HELD_WHILE_COPYING, "sessions", str(database)]
    environment = {**os.environ, "TMPDIR": str(private)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            while not list(private.rglob("copy.db")):
                assert process.poll() is None
            process.send_signal(number)
            answer = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, answer) == (status, (b"", b""))
    assert list(private.iterdir()) == []
