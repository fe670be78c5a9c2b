"""URLs of `SqliteSessionService` whose query parameters are SQLite's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.errors import StorageError
from runtime.sessions import SqliteSessionService

NAMES = {"app_name": "app", "user_id": "u", "session_id": "s"}


@pytest.mark.parametrize("scheme", ["sqlite", "sqlite+aiosqlite"])
@pytest.mark.parametrize("name", ["s.db", "with space #1.db"])
async def test_a_database_opened_read_only_is_read_and_not_written(tmp_path: Path, scheme: str, name: str) -> None:
    file = tmp_path / name
    async with SqliteSessionService(str(file)) as service:
        await service.create_session(**NAMES, state={"a": 1})
    before = file.read_bytes()
    async with SqliteSessionService(f"{scheme}:///{str(file).replace(' ', '%20').replace('#', '%23')}?mode=ro") as service:
        session = await service.get_session(**NAMES)
        assert session is not None and session.state == {"a": 1}
        with pytest.raises(StorageError):
            await service.create_session(app_name="app", user_id="u", session_id="new")
    assert file.read_bytes() == before


async def test_a_missing_database_opened_read_only_is_not_created(tmp_path: Path) -> None:
    file = tmp_path / "none.db"
    async with SqliteSessionService(f"sqlite:///{file}?mode=ro") as service:
        with pytest.raises(StorageError):
            await service.create_session(**NAMES)
    assert not file.exists()
