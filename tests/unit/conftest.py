"""A session service of each kind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runtime.sessions import BaseSessionService, DatabaseSessionService, InMemorySessionService, SqliteSessionService
from tests.postgres import server


@pytest.fixture(params=["memory", "sqlite", "adk web", "postgresql"])
async def service(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[BaseSessionService]:
    """Yield an empty session service; the test runs with each kind."""
    opened: BaseSessionService
    if request.param == "memory":
        opened = InMemorySessionService()
    elif request.param == "adk web":
        opened = SqliteSessionService(tmp_path / "session.db")
    else:
        opened = DatabaseSessionService(f"sqlite:///{tmp_path / 's.db'}" if request.param == "sqlite" else server().new_database())
    async with opened:
        yield opened
