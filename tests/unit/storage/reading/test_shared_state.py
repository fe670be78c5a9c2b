"""User and app state can be read without any session."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.errors import StorageError
from runtime.sessions.database_session_service import DatabaseSessionService
from runtime.sessions.sqlite_session_service import SqliteSessionService
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.reading.shared_state import SharedScope, SharedState
from tests.unit.storage.tail.sql_writer import SqlWriter


@pytest.fixture(params=[DatabaseSessionService, SqliteSessionService])
async def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    file = tmp_path / "some.db"
    target = f"sqlite:///{file}" if request.param is DatabaseSessionService else str(file)
    service = request.param(target)
    state = {"app:currency": "EUR", "user:language": "pt", "mine": 1}
    for user, given in (("maria", state), ("zoe", {"user:cart": [1, 2]}), ("ana", None)):
        await service.create_session(app_name="shop", user_id=user, session_id="s", state=given)
    await service.delete_session(app_name="shop", user_id="zoe", session_id="s")
    await service.close()
    return file


async def test_every_app_and_user_with_state_is_listed(file: Path) -> None:
    with StoredDatabase.open(str(file)) as database:
        scopes = database.shared_scopes()
        assert scopes == [SharedScope("shop"), SharedScope("shop", "maria"), SharedScope("shop", "zoe")]
        app, maria, zoe = map(database.shared_state, scopes)
        assert (app.values, maria.values) == ({"app:currency": "EUR"}, {"user:language": "pt"})
        assert zoe.values == {"user:cart": [1, 2]}, "a user without sessions also has state"
        assert app.update_time and maria.update_time
        assert database.shared_state(SharedScope("shop", "ana")).values == {}
        assert database.shared_state(SharedScope("other", "maria")) == SharedState({}, None)


async def test_damaged_state_is_reported(file: Path) -> None:
    writer = SqlWriter(file)
    writer.run("UPDATE user_states SET state = '{\"cut off' WHERE user_id = 'maria'")
    writer.close()
    with StoredDatabase.open(str(file)) as database, pytest.raises(StorageError, match="damaged"):
        database.shared_state(SharedScope("shop", "maria"))
