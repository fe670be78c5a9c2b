"""Read-only files and folders, and files locked by another process, are reported and lose nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from runtime.errors import StorageError
from runtime.sessions import DatabaseSessionService, Session
from runtime.storage.reading.reader import StoredDatabase
from tests.crash.filled_databases import KEY, event, filled


@contextmanager
def without_root_rights() -> Iterator[None]:
    """Drop root's right to write anywhere."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that every user can access."""
    with tempfile.TemporaryDirectory(dir="/tmp" if Path("/tmp").is_dir() else None) as folder:
        Path(folder).chmod(0o777)
        monkeypatch.setattr(tempfile, "tempdir", folder)  # files left by a killed writer are read from a copy there
        yield Path(folder)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no such rights on this system")
@pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o777), (0o644, 0o555), (0o444, 0o555)], ids=["file", "folder", "both"])
async def test_a_read_only_file_or_folder_is_reported(file_mode: int, folder_mode: int, open_folder: Path) -> None:
    folder = open_folder / "x"
    folder.mkdir()
    file = folder / "x.db"
    await filled(file, events=3)
    file.chmod(file_mode)
    folder.chmod(folder_mode)
    before = file.read_bytes()
    with without_root_rights():
        async with DatabaseSessionService(f"sqlite:///{file}") as service:
            held = Session(id="s", app_name="a", user_id="u", last_update_time=2e9)
            for write in (service.append_event(held, event(3)), service.create_session(app_name="a", user_id="u")):
                with pytest.raises(StorageError, match=r"read-only|cannot be opened|may not write"):
                    await write
            assert held.events == []
        with StoredDatabase.open(str(file)) as database:
            assert [each.id for each in database.events(KEY)] == ["0", "1", "2"]
    folder.chmod(0o755)
    file.chmod(0o644)
    assert file.read_bytes() == before


def remount_read_only(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)


async def test_a_read_only_disk_is_reported(small_disk: Path) -> None:
    file = small_disk / "x.db"
    await filled(file, events=3)
    remount_read_only(small_disk)
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        with pytest.raises(StorageError, match=r"read-only|cannot be opened"):
            await service.create_session(app_name="a", user_id="u")
    with StoredDatabase.open(str(file)) as database:
        assert [each.id for each in database.events(KEY)] == ["0", "1", "2"]
    assert os.listdir(small_disk) == ["x.db"]  # noqa: PTH208


HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN " + sys.argv[2])
connection.execute("UPDATE sessions SET state = state")
print("locked", flush=True)
sys.stdin.readline()
connection.execute("ROLLBACK")
"""


@contextmanager
def locked(file: Path, lock: str) -> Iterator[None]:
    """Hold a lock on the file in another process."""
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(file), lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == b"locked\n"
        yield
        holder.communicate(b"\n")


@pytest.mark.parametrize(("mode", "lock"), [("wal", "IMMEDIATE"), ("delete", "EXCLUSIVE")])
async def test_a_lock_held_by_another_process_beyond_the_timeout_is_reported(mode: str, lock: str, tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    await filled(file, events=3)
    async with DatabaseSessionService(f"sqlite:///{file}", connect_args={"timeout": 0.2}) as service:
        session = await service.get_session(app_name="a", user_id="u", session_id="s")
        assert session is not None
        if mode == "delete":
            await service._thread.run(lambda: _set_mode(service, mode))
        with locked(file, lock):
            begun = time.monotonic()
            with pytest.raises(StorageError, match=r"Another process has kept .* locked for too long"):
                await service.append_event(session, event(3))
            assert 0.2 <= time.monotonic() - begun < 10
            assert [each.id for each in session.events] == ["0", "1", "2"]
        await service.append_event(session, event(3))
        again = await service.get_session(app_name="a", user_id="u", session_id="s")
        assert again is not None
        assert [each.id for each in again.events] == ["0", "1", "2", "3"]


def _set_mode(service: DatabaseSessionService, mode: str) -> None:
    connection = service._database._connection
    assert connection is not None
    connection.exec_driver_sql(f"PRAGMA journal_mode = {mode}")
