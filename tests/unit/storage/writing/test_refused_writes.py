"""A refused write leaves another program's file as it was, and a trigger in it cannot hang the program or drop events silently."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import sqlite3
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from runtime.errors import StorageError
from runtime.errors.known_error import KnownError
from runtime.events.event import Event
from runtime.events.event_actions import EventActions
from runtime.sessions.base_session_service import BaseSessionService
from runtime.sessions.session import Session
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.writing import database as module

DATA = Path(__file__).parents[3] / "data"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n;"
Write = Callable[[BaseSessionService, Session], Awaitable[object]]


async def append(service: BaseSessionService, session: Session) -> None:
    await service.append_event(session, Event(author="me", invocation_id="i", actions=EventActions(state_delta={"k": 1, "user:k": 1})))


async def append_an_event_twice(service: BaseSessionService, session: Session) -> None:
    session.events[0].actions.state_delta.clear()
    await service.append_event(session, session.events[0])


async def append_what_cannot_be_stored(service: BaseSessionService, session: Session) -> None:
    await service.append_event(session, Event(author="me", actions=EventActions(state_delta={"k": object()})))


async def append_to_a_missing_session(service: BaseSessionService, session: Session) -> None:
    await append(service, session.model_copy(update={"id": "missing"}))


async def append_to_a_stale_session(service: BaseSessionService, session: Session) -> None:
    session.last_update_time = 1.0
    session._revision = None
    await append(service, session)


async def create_again(service: BaseSessionService, session: Session) -> None:
    await service.create_session(app_name=session.app_name, user_id=session.user_id, session_id=session.id)


def raising(database: sqlite3.Connection) -> None:
    database.execute("CREATE TRIGGER no BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'not here'); END")


def rolling_back(database: sqlite3.Connection) -> None:
    database.execute("CREATE TRIGGER no BEFORE INSERT ON events BEGIN SELECT RAISE(ROLLBACK, 'not here'); END")


def ignoring(database: sqlite3.Connection) -> None:
    database.execute("CREATE TRIGGER no BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END")


def endless(database: sqlite3.Connection) -> None:
    database.execute(f"CREATE TRIGGER no BEFORE INSERT ON events BEGIN {ENDLESS} END")


def writing_elsewhere(database: sqlite3.Connection) -> None:
    database.execute("CREATE TABLE elsewhere (x)")
    insert = "INSERT INTO elsewhere SELECT hex(randomblob(1000)) FROM events AS a, events AS b, events AS c, events AS d;"
    database.execute(f"CREATE TRIGGER no AFTER INSERT ON events BEGIN {insert} SELECT RAISE(ABORT, 'after a lot of writing'); END")


def infinite_state(database: sqlite3.Connection) -> None:
    database.execute("UPDATE app_states SET state = ?", ['{"k": 1e400}'])


def damaged_state(database: sqlite3.Connection) -> None:
    database.execute("UPDATE user_states SET state = ?", ["no JSON"])


def nothing(_: sqlite3.Connection) -> None:
    """Leave the database as it is."""


REFUSALS: list[tuple[Callable[[sqlite3.Connection], None], Write]] = [
    (raising, append),
    (rolling_back, append),
    (ignoring, append),
    (endless, append),
    (writing_elsewhere, append),
    (infinite_state, append),
    (damaged_state, append),
    (nothing, append_an_event_twice),
    (nothing, append_what_cannot_be_stored),
    (nothing, append_to_a_missing_session),
    (nothing, append_to_a_stale_session),
    (nothing, create_again),
]


@pytest.mark.rule("F4")
@pytest.mark.parametrize("name", ["v1.db", "sqlite.db"])
@pytest.mark.parametrize(("prepare", "write"), REFUSALS, ids=[f"{one.__name__}-{two.__name__}" for one, two in REFUSALS])
async def test_a_refused_first_write_leaves_the_file_byte_identical(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, prepare: Callable[[sqlite3.Connection], None], write: Write
) -> None:
    monkeypatch.setattr(module, "LONGEST_STATEMENT", 0.5)
    file = Path(shutil.copyfile(DATA / name, tmp_path / name))
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as database:
        prepare(database)
    before = content(tmp_path)
    async with open_session_service(str(file)) as service:
        with StoredDatabase.open(str(file)) as stored:
            key = stored.sessions()[0].key
            events = stored.events(key)
        loaded = Session(app_name=key.app_name, user_id=key.user_id, id=key.session_id, events=events, last_update_time=time.time())
        with contextlib.suppress(KnownError):
            loaded = await service.get_session(app_name=key.app_name, user_id=key.user_id, session_id=key.session_id) or loaded
        with pytest.raises(KnownError):
            await write(service, loaded)
    assert content(tmp_path) == before


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
async def ours(tmp_path: Path) -> Path:
    file = tmp_path / "ours.db"
    async with open_session_service(str(file)) as service:
        await service.create_session(app_name="a", user_id="u", session_id="s")
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as database:
        endless(database)
    return file


async def test_an_endless_trigger_is_stopped(ours: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_STATEMENT", 0.5)
    async with open_session_service(str(ours)) as service:
        session = await service.get_session(app_name="a", user_id="u", session_id="s")
        assert session is not None
        with pytest.raises(StorageError, match=r"took longer than 0 s and was undone\. A trigger"):
            await append(service, session)
        assert len(session.events) == 0


async def test_a_cancelled_write_stops_an_endless_trigger_soon(ours: Path) -> None:
    async with open_session_service(str(ours)) as service:
        session = await service.get_session(app_name="a", user_id="u", session_id="s")
        assert session is not None
        with pytest.raises((asyncio.CancelledError, TimeoutError, StorageError)):
            await asyncio.wait_for(append(service, session), 0.5)
    with StoredDatabase.open(str(ours)) as stored:
        assert json.loads(json.dumps(stored.state(stored.sessions()[0].key))) == {}


async def test_an_endless_trigger_takes_a_few_seconds_of_the_processor(ours: Path) -> None:
    async with open_session_service(str(ours)) as service:
        session = await service.get_session(app_name="a", user_id="u", session_id="s")
        assert session is not None
        begin = time.process_time()
        with pytest.raises(StorageError, match="A trigger"):
            await append(service, session)
        assert time.process_time() - begin < 4
