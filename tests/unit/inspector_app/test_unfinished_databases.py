"""Databases whose program was killed before all its tables were there."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from inspector_app.cli import main
from inspector_app.engines.adk_storage import session_storage
from runtime.errors import EmptyDatabaseError, NotASessionDatabaseError, StorageError
from runtime.events import Event
from runtime.sessions import DatabaseSessionService, SqliteSessionService
from runtime.storage.open_service import make_database, open_session_service
from runtime.storage.reading.reader import StoredDatabase
from tests.interop.google_adk import adk_python, run_adk

DATA = Path(__file__).parents[2] / "data"
ORDER = {
    "v1": ["adk_internal_metadata", "app_states", "sessions", "user_states", "events"],
    "sqlite": ["app_states", "user_states", "sessions", "events"],
}
UNFINISHED = [(layout, count) for layout, names in ORDER.items() for count in range(len(names) + (layout == "v1"))]


def unfinished(file: Path, layout: str, count: int, *, journal: str = "DELETE") -> Path:
    """Write a database with the first `count` tables of a layout, in google-adk's order."""
    with closing(sqlite3.connect(DATA / f"{layout}.db")) as whole, closing(sqlite3.connect(file)) as made:
        made.execute(f"PRAGMA journal_mode = {journal}").fetchone()
        for name in ORDER[layout][:count]:
            made.execute(whole.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()[0])
        made.commit()
    return file


async def append(file: Path) -> int:
    async with open_session_service(str(file)) as service:
        session = await service.create_session(app_name="a", user_id="u")
        await service.append_event(session, Event(author="me"))
    with StoredDatabase.open(str(file)) as database:
        return len(database.sessions())


@pytest.mark.parametrize(("layout", "count"), UNFINISHED)
@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
def test_an_unfinished_database_has_no_sessions_and_is_continued(layout: str, count: int, journal: str, tmp_path: Path) -> None:
    file = unfinished(tmp_path / "x.db", layout, count, journal=journal)
    with pytest.raises(EmptyDatabaseError):
        StoredDatabase.open(str(file))
    assert asyncio.run(append(file)) == 1
    assert list(tmp_path.iterdir()) == [file]
    with StoredDatabase.open(str(file)) as database:
        assert database.layout.kind == (layout if count else "v1")
        assert database.layout.note is None


@pytest.mark.parametrize("content", [b"", None])
async def test_a_file_without_tables_becomes_a_database(content: bytes | None, tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    if content is None:
        unfinished(file, "v1", 0, journal="WAL")
        assert file.stat().st_size == 4096
    else:
        file.write_bytes(content)
    await make_database(str(file))
    with StoredDatabase.open(str(file)) as database:
        assert database.sessions() == []


@pytest.mark.parametrize("service", [DatabaseSessionService, SqliteSessionService])
async def test_a_service_refuses_the_tables_of_the_other(service: type, tmp_path: Path) -> None:
    other = "sqlite" if service is DatabaseSessionService else "v1"
    file = unfinished(tmp_path / "x.db", other, 2)
    async with service(f"sqlite:///{file}" if other == "sqlite" else str(file)) as opened:
        with pytest.raises(StorageError, match="layout"):
            await opened.create_session(app_name="a", user_id="u")


def test_tables_with_rows_or_other_tables_are_not_unfinished(tmp_path: Path) -> None:
    rows = unfinished(tmp_path / "rows.db", "v1", 2)
    with closing(sqlite3.connect(rows)) as connection:
        connection.execute("INSERT INTO app_states VALUES ('a', '{}', '2026-01-01')")
        connection.commit()
    other = unfinished(tmp_path / "other.db", "v1", 2)
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    for file in (rows, other):
        with pytest.raises(NotASessionDatabaseError, match="not a session database") as raised:
            StoredDatabase.open(str(file))
        assert not isinstance(raised.value, EmptyDatabaseError)


@pytest.mark.parametrize("command", ["sessions", "doctor", "costs"])
def test_a_reading_command_says_that_there_are_no_sessions_yet(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = unfinished(tmp_path / "x.db", "v1", 3)
    before = file.read_bytes()
    assert main([command, str(file)]) == 1
    assert "has no sessions yet" in capsys.readouterr().err
    assert (file.read_bytes(), list(tmp_path.iterdir())) == (before, [file])


ADK = """
service = {"database": DatabaseSessionService, "sqlite": SqliteSessionService}[args[0]](args[1])
session = await service.create_session(app_name="a", user_id="u")
return session.id
"""


@pytest.mark.parametrize(("layout", "count"), [("v1", 1), ("v1", 5), ("sqlite", 2)])
def test_google_adk_continues_what_it_had_left(layout: str, count: int, tmp_path: Path) -> None:
    adk_python()
    file = unfinished(tmp_path / "x.db", layout, count)
    storage = session_storage(str(file), "2.13.0")
    run_adk(ADK, storage["kind"], storage["path"] if storage["kind"] == "sqlite" else storage["url"])
    with StoredDatabase.open(str(file)) as database:
        assert (database.layout.kind, len(database.sessions())) == (layout, 1)
    assert asyncio.run(append(file)) == 2
