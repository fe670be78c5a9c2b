"""`temp:` values never reach a file: only their names and types are stored, and values that earlier versions stored are replaced."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from runtime.events.event import Event
from runtime.events.event_actions import EventActions
from runtime.forks.fork import fork_session
from runtime.sessions import DatabaseSessionService, SqliteSessionService
from runtime.sessions.base_session_service import BaseSessionService
from runtime.sessions.session import SessionKey
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.writing.convert import convert
from runtime.storage.writing.copy_database import copy_database
from runtime.storage.writing.deletion import delete_sessions, keep_copy, put_back

OLD = Path(__file__).parents[3] / "data" / "temp_values.db"
KEY = SessionKey("orders", "user", "s1")
SECRETS = (b"sk-temp-4711", b"4000-4711")
TYPES = [{}, {"temp:token": "not stored (str)"}, {"temp:client": "not stored (str)", "temp:cart": "not stored (list)"}, {}]


class Client:
    def __repr__(self) -> str:
        return "Client(key='sk-temp-4711')"


def files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def files_with_secrets(folder: Path) -> list[str]:
    return [name for name, data in files(folder).items() if any(secret in data for secret in SECRETS)]


def shown_temp(file: Path, key: SessionKey = KEY) -> Iterator[dict[str, object]]:
    with StoredDatabase.open(str(file)) as stored:
        history = stored.history(key)
        for event in [None, *history.events]:
            yield dict(history.temp_of(event.id)) if event else {}


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A database of ours that an earlier version wrote, with values."""
    file = tmp_path / "old.db"
    shutil.copyfile(OLD, file)
    return file


@pytest.mark.rule("S1")
@pytest.mark.parametrize("service_class", [DatabaseSessionService, SqliteSessionService])
async def test_only_names_and_types_of_temp_keys_reach_the_disk(tmp_path: Path, service_class: type[BaseSessionService]) -> None:
    service = service_class(str(tmp_path / "new.db"))  # type: ignore[call-arg]
    async with service:
        session = await service.create_session(app_name="orders", user_id="user", session_id="s1", state={"temp:first": "sk-temp-4711"})
        delta = {"n": 1, "temp:token": "sk-temp-4711", "temp:client": Client(), "temp:cart": [{"card": "4000-4711"}]}
        await service.append_event(session, Event(author="me", invocation_id="i", actions=EventActions(state_delta=delta)))
        assert files_with_secrets(tmp_path) == []
        assert session.state["temp:token"] == "sk-temp-4711"
        (event,) = session.events
        types = {"temp:token": "not stored (str)", "temp:client": "not stored (Client)", "temp:cart": "not stored (list)"}
        assert await service.temp_deltas(KEY) == {event.id: types}
    assert files_with_secrets(tmp_path) == []
    assert list(shown_temp(tmp_path / "new.db"))[1] == types
    fork = await fork_session(str(tmp_path / "new.db"), KEY)
    assert list(shown_temp(tmp_path / "new.db", fork.key))[1] == types, "a fork keeps the types"


async def test_values_that_an_earlier_version_stored_are_not_shown(old: Path, tmp_path: Path) -> None:
    before = files(tmp_path)
    assert list(shown_temp(old)) == TYPES
    with StoredDatabase.open(str(old)) as stored:
        history = stored.long_history(KEY, stored.pages(KEY))
        while not history.is_read:
            history.read_on()
        assert history.state_at(1).temp == {**TYPES[1], **TYPES[2]}
        assert "4711" not in str(stored.writes(KEY, "temp:token"))
    async with open_session_service(str(old)) as service:
        assert "4711" not in str(await service.temp_deltas(KEY))
    assert files(tmp_path) == before


async def test_the_first_write_replaces_the_values_of_an_earlier_version(old: Path, tmp_path: Path) -> None:
    assert files_with_secrets(tmp_path) == ["old.db"]
    async with open_session_service(str(old)) as service:
        session = await service.get_session(app_name="orders", user_id="user", session_id="s1")
        assert session is not None
        await service.append_event(session, Event(author="me", invocation_id="i2"))
        assert files_with_secrets(tmp_path) == [], "neither in the database nor in its write-ahead log"
    assert files_with_secrets(tmp_path) == []
    assert list(shown_temp(old)) == [*TYPES, {}]


async def test_replaced_values_are_overwritten_in_freed_pages_and_in_the_log_of_a_killed_writer(old: Path, tmp_path: Path) -> None:
    killed = tmp_path / "killed.db"
    writer = sqlite3.connect(old, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    row = "INSERT INTO inspector_commits (app_name, user_id, session_id, event_id, at, temp) VALUES ('orders', 'user', 's1', 'e', 1, ?)"
    writer.execute(row, [f'{{"temp:token": "{"sk-temp-4711 " * 1_000}"}}'])
    shutil.copyfile(old, killed)
    shutil.copyfile(f"{old}-wal", f"{killed}-wal")
    writer.close()
    assert files_with_secrets(tmp_path) == ["killed.db", "killed.db-wal", "old.db"]
    async with open_session_service(str(killed)) as service:
        await service.create_session(app_name="orders", user_id="user")
        assert files_with_secrets(tmp_path) == ["old.db"]
    assert files_with_secrets(tmp_path) == ["old.db"]


async def test_values_that_an_earlier_version_added_later_are_replaced_too(old: Path, tmp_path: Path) -> None:
    async def write() -> None:
        async with open_session_service(str(old)) as service:
            await service.create_session(app_name="orders", user_id="user")

    await write()
    with closing(sqlite3.connect(old)) as database, database:
        database.execute("UPDATE inspector_commits SET temp = ? WHERE seq = (SELECT max(seq) FROM inspector_commits)", ["[]"])
        row = "INSERT INTO inspector_commits (app_name, user_id, session_id, event_id, at, temp) VALUES ('orders', 'user', 's1', 'e', 1, ?)"
        database.execute(row, ['{"temp:token": "sk-temp-4711"}'])
    database.close()
    assert files_with_secrets(tmp_path) == ["old.db"]
    await write()
    assert files_with_secrets(tmp_path) == []


async def test_copies_of_an_earlier_versions_database_have_no_values(old: Path, tmp_path: Path) -> None:
    convert(str(old), str(tmp_path / "converted.db"))
    copy_database(str(old), tmp_path / "copy.db")
    await fork_session(str(old), KEY, into=str(tmp_path / "fork.db"))
    deleted = keep_copy(old, [KEY])
    assert files_with_secrets(tmp_path) == ["old.db"]
    assert list(shown_temp(tmp_path / "converted.db")) == TYPES
    # An earlier version's copy of deleted sessions is restored without the values.
    async with open_session_service(str(old)) as service:
        await delete_sessions(service, [KEY])
    with closing(sqlite3.connect(deleted)) as database, database:
        database.execute('UPDATE inspector_commits SET temp = replace(temp, \'{"types": \', \'{"temp:old": "sk-temp-4711", "x": \')')
    database.close()
    assert put_back(old, deleted) == 1
    assert files_with_secrets(tmp_path) == [deleted.name]
    assert "not stored (str)" in list(shown_temp(old))[1].values()
