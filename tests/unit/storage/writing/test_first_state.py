"""A session's first state, if it was recorded."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from runtime.events import Event, EventActions
from runtime.sessions import DatabaseSessionService
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import copy_of

NAMES = {"app_name": "app", "user_id": "u", "session_id": "s"}


async def test_the_first_state_has_the_sessions_own_keys_and_never_changes(tmp_path: Path) -> None:
    async with DatabaseSessionService(f"sqlite:///{tmp_path / 's.db'}") as service:
        session = await service.create_session(**NAMES, state={"k": 1, "user:u": 1, "temp:t": 1})
        await service.append_event(session, Event(author="user", actions=EventActions(state_delta={"k": 2})))
        assert await service.first_state(session.key) == {"k": 1}
        await service.delete_session(**NAMES)
        assert await service.first_state(session.key) is None


async def test_a_session_recreated_by_google_adk_has_no_first_state(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    async with DatabaseSessionService(f"sqlite:///{path}") as service:
        key = (await service.create_session(**NAMES, state={"k": 1})).key
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE sessions SET create_time = '2031-01-01 00:00:00.000000', update_time = '2031-01-01 00:00:00.000000'")
    connection.close()
    async with DatabaseSessionService(f"sqlite:///{path}") as service:
        assert await service.first_state(key) is None


async def test_databases_of_google_adk_have_no_first_state(tmp_path: Path) -> None:
    path = str(copy_of("open/adk2.13.0-v1-chat_tools.db", tmp_path))
    with StoredDatabase.open(path) as database:
        key = database.sessions()[0].key
    async with open_session_service(path) as service:
        assert await service.first_state(key) is None
