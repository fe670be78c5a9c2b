"""The session services that must all behave alike. A clause that a service cannot keep says so in `UNSUPPORTED`, with the reason."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from runtime.sessions import BaseSessionService, DatabaseSessionService, InMemorySessionService, SqliteSessionService
from tests.postgres import server


def _postgresql(folder: Path) -> BaseSessionService:
    remembered = folder / "postgresql-url"
    if not remembered.exists():
        remembered.write_text(server().new_database())
    return DatabaseSessionService(remembered.read_text())


SERVICES: dict[str, Callable[[Path], BaseSessionService]] = {
    "in_memory": lambda folder: InMemorySessionService(),
    "sqlite_v1": lambda folder: DatabaseSessionService(f"sqlite:///{folder / 'v1.db'}"),
    "postgresql": _postgresql,
    "adk_web_layout": lambda folder: SqliteSessionService(folder / "session.db"),
}

UNSUPPORTED: dict[tuple[str, str], str] = {
    ("in_memory", "survives_reopening"): "it lives as long as the process",
    ("in_memory", "stale_copy"): "nobody but this process can write, and appends from several copies all count",
}


@pytest.fixture(params=SERVICES)
def service_name(request: pytest.FixtureRequest) -> str:
    """The service the test is run with."""
    name: str = request.param
    clause = request.node.get_closest_marker("clause")
    reason = UNSUPPORTED.get((name, clause.args[0])) if clause else None
    if reason:
        pytest.skip(f"unsupported by {name}: {reason}")
    return name


@pytest.fixture
def open_service(service_name: str, tmp_path: Path) -> Callable[[], BaseSessionService]:
    """Open the service on its database; a second call opens the same database again."""
    return lambda: SERVICES[service_name](tmp_path)


@pytest.fixture
async def service(open_service: Callable[[], BaseSessionService]) -> AsyncIterator[BaseSessionService]:
    """The service, closed after the test."""
    async with open_service() as opened:
        yield opened
