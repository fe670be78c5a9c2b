"""Backups made before the first write to another program's database."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from runtime.events import Event, EventActions
from runtime.sessions.session import SessionKey
from runtime.storage.connections.new_file import back_up
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import copy_of
from tests.unit.storage.file_states import put_into

KEY = SessionKey("trip_planner", "maria", "s-1")
COMPANIONS = ("-wal", "-shm", "-journal")
# Change counters in the header, which SQLite's backup increases.
COUNTERS = {*range(24, 28), *range(40, 44), *range(92, 96)}


def everything(file: Path, scratch: Path) -> dict[str, Any]:
    """Return the schema and all rows with their numbers, read from a copy so that reading cannot change the file."""
    scratch.mkdir()
    for suffix in ("", *COMPANIONS):
        if (part := file.with_name(file.name + suffix)).exists():
            shutil.copyfile(part, scratch / part.name)
    connection = sqlite3.connect(scratch / file.name)
    schema = connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
    tables = [name for name, sql in schema if sql and sql.startswith("CREATE TABLE")]
    rows = {name: connection.execute(f"SELECT rowid, * FROM {name} ORDER BY rowid").fetchall() for name in tables}
    connection.close()
    return {"schema": schema, **rows}


async def take_over(file: Path) -> None:
    service = open_session_service(str(file))
    session = await service.get_session(app_name=KEY.app_name, user_id=KEY.user_id, session_id=KEY.session_id)
    assert session is not None
    changes = {"mine": 1, "user:home": "changed", "app:calls": None}
    await service.append_event(session, Event(author="user", invocation_id="i", actions=EventActions(state_delta=changes)))
    await service.close()


def restore(file: Path) -> None:
    """Restore the backup as the README describes, also after a crash."""
    (backup,) = file.parent.glob("*.backup-*")
    for suffix in ("", *COMPANIONS):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    backup.rename(file)


@pytest.mark.parametrize("state", ["cold", "cold wal", "hot wal", "live", "live wal"])
@pytest.mark.parametrize("layout", ["v1", "sqlite"])
async def test_a_restored_backup_equals_the_original(layout: str, state: str, tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    file = copy_of(f"open/adk2.13.0-{layout}-chat_tools.db", folder)
    writer = put_into(state, file)
    content, before = file.read_bytes(), everything(file, tmp_path / "before")
    await take_over(file)
    assert everything(file, tmp_path / "taken over") != before
    if writer is not None:
        writer.close()
    restore(file)
    assert everything(file, tmp_path / "after") == before
    assert [path.name for path in folder.iterdir()] == [file.name]
    if state.startswith("cold"):
        restored = file.read_bytes()
        assert len(restored) == len(content)
        assert {place for place in range(len(content)) if content[place] != restored[place]} <= COUNTERS
    with StoredDatabase.open(str(file)) as database:
        assert not database.layout.ours
        assert len(database.events(KEY)) == 10
    await take_over(file)
    with StoredDatabase.open(str(file)) as database:
        assert len(database.events(KEY)) == 11, "the restored file can be written again"


def test_backups_made_in_the_same_second_get_distinct_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.storage.connections.new_file.time.strftime", lambda _: "now")
    file = tmp_path / "a.db"
    connection = sqlite3.connect(file)
    made = []
    for number in range(3):
        connection.execute(f"CREATE TABLE t{number} (a)")
        made.append(back_up(connection, file))
    connection.close()
    assert len(set(made)) == 3 and all(backup.name.startswith("a.db.backup-now-") for backup in made)
    for number, backup in enumerate(made, 1):
        copy = sqlite3.connect(backup)
        assert copy.execute("SELECT count(*) FROM sqlite_master").fetchone() == (number,)
        copy.close()
