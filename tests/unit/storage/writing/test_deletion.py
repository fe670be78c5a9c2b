"""Deleted sessions can be restored unchanged."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from runtime.errors.storage_error import StorageError
from runtime.events import Event, EventActions
from runtime.sessions.database_session_service import DatabaseSessionService
from runtime.sessions.session import SessionKey
from runtime.storage.connections.other_processes import others_with_open
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.writing import deletion
from runtime.storage.writing.deletion import delete_sessions, keep_copy, put_back
from tests.fixture_paths import copy_of


def backups(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if "backup" in path.name]


async def write(file: Path) -> None:
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        for name in ("s1", "s2", "s3"):
            session = await service.create_session(app_name="a", user_id="u", session_id=name, state={"first": name, "user:first": name})
            for number in range(3):
                delta = {"k": number, "user:k": f"{name}{number}", "temp:t": number}
                await service.append_event(session, Event(author="me", actions=EventActions(state_delta=delta)))


def everything(file: Path) -> dict[SessionKey, object]:
    with StoredDatabase.open(str(file)) as database:
        found = {}
        for summary in database.sessions():
            history = database.history(summary.key)
            states = [history.state_at(index) for index in range(-1, len(history.events))]
            found[summary.key] = (summary, database.events(summary.key), database.state(summary.key), states)
        return found


async def test_restored_sessions_are_unchanged(tmp_path: Path) -> None:
    file = tmp_path / "own.db"
    await write(file)
    before = everything(file)
    keys = [SessionKey("a", "u", "s1"), SessionKey("a", "u", "s3")]
    copy = keep_copy(file, keys)
    gone: list[int] = []
    async with open_session_service(str(file)) as service:
        assert await delete_sessions(service, keys, gone.append) == 2
    assert gone == [1, 2]
    assert {key.session_id for key in everything(file)} == {"s2"}
    async with open_session_service(str(file)) as service:
        session = await service.get_session(app_name="a", user_id="u", session_id="s2")
        assert session is not None
        await service.append_event(session, Event(id="since", author="me"))
        assert put_back(file, copy) == 2, "another process may have the file open"
    after = everything(file)
    assert after.keys() == before.keys()
    for key in keys:
        assert after[key] == before[key]
    assert after[SessionKey("a", "u", "s2")][1][-1].id == "since", "later writes are kept"


@pytest.mark.parametrize("name", ["adk2.13.0-v1-chat_tools", "adk2.13.0-sqlite-chat_tools"])
async def test_sessions_of_google_adk_can_be_restored(tmp_path: Path, name: str) -> None:
    file = copy_of(f"open/{name}.db", tmp_path)
    file.chmod(0o644)
    before = everything(file)
    copy = keep_copy(file, before)
    async with open_session_service(str(file)) as service:
        await delete_sessions(service, list(before), print)
    assert everything(file) == {}
    put_back(file, copy)
    after = everything(file)
    assert {key: value[1:3] for key, value in after.items()} == {key: value[1:3] for key, value in before.items()}
    assert backups(tmp_path) != [], "the first write also made a backup of the whole file"


async def test_a_recreated_session_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "own.db"
    await write(file)
    key = SessionKey("a", "u", "s1")
    copy = keep_copy(file, [key])
    async with open_session_service(str(file)) as service:
        await delete_sessions(service, [key], print)
        await service.create_session(app_name="a", user_id="u", session_id="s1")
    before = everything(file)
    with pytest.raises(StorageError, match="a new session s1"):
        put_back(file, copy)
    assert everything(file) == before


async def test_sessions_deleted_before_a_cancellation_can_be_restored(tmp_path: Path) -> None:
    file = tmp_path / "own.db"
    await write(file)
    before = everything(file)
    copy = keep_copy(file, list(before))
    async with open_session_service(str(file)) as service:
        await delete_sessions(service, list(before)[:1])
        session = await service.get_session(app_name="a", user_id="u", session_id="s3")
        assert session is not None
        await service.append_event(session, Event(id="since", author="me"))
    assert put_back(file, copy) == 1
    after = everything(file)
    assert after.keys() == before.keys()
    assert [after[key][:3] for key in list(before)[:2]] == [before[key][:3] for key in list(before)[:2]]
    assert after[SessionKey("a", "u", "s3")][1][-1].id == "since"


async def test_a_missing_database_or_copy_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "own.db"
    await write(file)
    with pytest.raises(StorageError, match="There is no file"):
        keep_copy(tmp_path / "none.db", [])
    (tmp_path / "a folder").mkdir()
    with pytest.raises(StorageError, match="There is no file"):
        put_back(file, tmp_path / "none")


async def test_an_endless_trigger_cannot_hang_restoring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "LONGEST_RESTORE", 0.3)
    file = tmp_path / "x.db"
    await write(file)
    copy = keep_copy(file, [SessionKey("a", "u", "s1")])
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        await service.delete_session(app_name="a", user_id="u", session_id="s1")
    with closing(sqlite3.connect(file)) as database:
        endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n;"
        database.execute(f"CREATE TRIGGER no BEFORE INSERT ON events BEGIN {endless} END")
    before = everything(file)
    with pytest.raises(StorageError, match="took too long and was undone"):
        put_back(file, copy)
    assert everything(file) == before


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not list the open files of every process")
def test_other_processes_that_have_a_file_open_are_found(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    sqlite3.connect(file).close()
    file.write_bytes(b"")
    assert others_with_open(file) == []
    program = "import sys; f = open(sys.argv[1]); print(flush=True); sys.stdin.read()"
    other = subprocess.Popen([sys.executable, "-c", program, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdout is not None
    other.stdout.readline()
    (found,) = others_with_open(file)
    assert found.pid == other.pid
    assert "python" in found.command
    other.communicate()
    assert others_with_open(file) == []
