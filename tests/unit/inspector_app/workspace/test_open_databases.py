"""The owner of open databases, over real files."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.genai import types

from bench.generated import write_database
from inspector_app.support.preferences import Preferences
from inspector_app.workspace.kept_sessions import KeptSessions
from inspector_app.workspace.messages import MessageBus
from inspector_app.workspace.open_databases import OpenDatabases
from inspector_app.workspace.session_catalog import SessionCatalog
from runtime.events import Event
from runtime.sessions import DatabaseSessionService
from tests.unit.inspector_app.workspace.fakes import FakeTasks


@pytest.fixture
def database(tmp_path: Path) -> str:
    file = tmp_path / "some.db"
    write_database(file, 10)
    return str(file)


@pytest.fixture
def tasks() -> FakeTasks:
    return FakeTasks()


@pytest.fixture
def catalog(qapp: object) -> SessionCatalog:
    return SessionCatalog()


@pytest.fixture
def databases(catalog: SessionCatalog, tasks: FakeTasks, tmp_path: Path) -> OpenDatabases:
    kept = KeptSessions(Preferences(tmp_path / "preferences.json"), MessageBus())
    return OpenDatabases(catalog, tasks, kept)  # type: ignore[arg-type]


async def test_opening_lists_the_sessions_and_scans_them_for_pending_items(
    databases: OpenDatabases, catalog: SessionCatalog, tasks: FakeTasks, database: str
) -> None:
    source = await databases.open_database(database)
    assert source is not None and databases.source(database) is source
    (listed,) = catalog.sessions(database)
    assert catalog.pending == {}
    await tasks.run_all()
    assert [address.key for address in catalog.pending] == [listed.key]
    await databases.close()


async def test_opening_an_open_database_lists_it_again(databases: OpenDatabases, database: str) -> None:
    first = await databases.open_database(database, scan=False)
    assert await databases.open_database(database, scan=False) is first
    assert len(databases.sources) == 1
    await databases.close()


async def test_a_file_that_cannot_be_opened_is_reported_and_not_open(databases: OpenDatabases, tmp_path: Path) -> None:
    failed: list[str] = []
    databases.database_failed.connect(lambda target, _error: failed.append(target))
    missing = str(tmp_path / "missing.db")
    assert await databases.open_database(missing) is None
    assert (failed, databases.sources) == ([missing], [])


async def test_a_database_is_closed_before_the_catalog_forgets_it(databases: OpenDatabases, catalog: SessionCatalog, database: str) -> None:
    await databases.open_database(database, scan=False)
    known: list[int] = []
    databases.database_closed.connect(lambda target: known.append(len(catalog.sessions(target))))
    await databases.close_database(database)
    assert known == [1]
    assert catalog.sessions(database) == [] and databases.sources == []
    await databases.close_database(database)
    assert known == [1], "it was closed already"


async def test_a_scan_of_a_closed_database_finds_nothing(
    databases: OpenDatabases, catalog: SessionCatalog, tasks: FakeTasks, database: str
) -> None:
    await databases.open_database(database)
    await databases.close_database(database)
    await tasks.run_all()
    assert catalog.pending == {}


async def test_the_session_to_display_first_is_the_newest_without_pending_items(databases: OpenDatabases, database: str) -> None:
    source = await databases.open_database(database, scan=False)
    assert source is not None
    (key,) = [summary.key for summary in await source.sessions()]
    assert await databases.most_interesting(source) == key
    await databases.close()


@pytest.mark.parametrize("went_on", [True, False])
async def test_a_session_is_displayed_first_for_its_newest_message_alone(databases: OpenDatabases, went_on: bool, tmp_path: Path) -> None:
    said = [("user", "one"), *([("user", "two"), ("me", "two")] if went_on else [])]
    async with DatabaseSessionService(f"sqlite:///{tmp_path / 's.db'}") as service:
        for name, events in (("broken", said), ("newest", [("user", "one"), ("me", "one")])):
            session = await service.create_session(app_name="shop", user_id="ann", session_id=name)
            for author, invocation in events:
                content = types.Content(parts=[types.Part(text="hi")])
                await service.append_event(session, Event(author=author, invocation_id=invocation, content=content))
    source = await databases.open_database(str(tmp_path / "s.db"), scan=False)
    assert source is not None
    await source.sessions()
    best = await databases.most_interesting(source)
    assert best is not None and best.session_id == ("newest" if went_on else "broken")
    await databases.close()


async def test_sessions_in_memory_are_one_source_for_all_apps(databases: OpenDatabases) -> None:
    assert await databases.memory("story") is await databases.memory("orders")
    assert len(databases.sources) == 1
    await databases.close()
