"""LangGraph's checkpoints on a PostgreSQL server: each thread as LangGraph's own API read it."""

from __future__ import annotations

import json
import tarfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.tail.open_tail import open_tail
from tests.langgraph_threads import differences, told
from tests.postgres import server

PACKED = Path(__file__).parents[3] / "data" / "langgraph-postgres.tar.xz"
NAMES = ["pg_approval", "pg_fan", "pg_shop"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("postgres")
    with tarfile.open(PACKED) as packed:
        packed.extractall(place, filter="data")
    return place / "postgres"


def execute(url: str, *statements: str) -> Any:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            found = connection.execute(statement.encode())
        return found.fetchall() if found.description else None


def database_of(folder: Path, name: str) -> str:
    url = server().new_database()
    execute(url, (folder / f"{name}.sql").read_text("utf-8"))
    return url


@pytest.mark.parametrize("name", NAMES)
def test_every_thread_on_a_server_is_as_langgraph_shows_it(name: str, folder: Path) -> None:
    with StoredDatabase.open(database_of(folder, name)) as database:
        for path in sorted(folder.glob(f"{name}.*.api.json")):
            found = json.loads(path.read_text("utf-8"))
            for thread in found.get("threads", [found]):
                if not thread.get("superseded"):
                    assert not (wrong := differences(database, thread)), told(wrong)


async def test_sessions_of_ours_can_be_stored_beside_checkpoints(folder: Path) -> None:
    url = database_of(folder, "pg_shop")
    async with open_session_service(url) as service:
        await service.create_session(app_name="a", user_id="u", session_id="s")
    with StoredDatabase.open(url) as database:
        assert [summary.key.session_id for summary in database.sessions()] == ["s"]


def test_a_thread_on_a_server_is_followed(folder: Path) -> None:
    url = database_of(folder, "pg_shop")
    with StoredDatabase.open(url) as database:
        (summary,) = database.sessions()
        ids = [event.id for event in database.events(summary.key)]
    newest = "(SELECT max(checkpoint_id) FROM checkpoints WHERE checkpoint_ns = '')"
    columns = "thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata"
    execute(url, "CREATE TABLE kept AS SELECT * FROM checkpoints WHERE checkpoint_id = " + newest)
    execute(url, "DELETE FROM checkpoints WHERE checkpoint_id = " + newest)
    with closing(open_tail(url, [summary], layout="langgraph")) as tail:
        tail.follow(summary.key)
        seen = [event.id for event in tail.poll().events]
        assert seen and seen != ids
        assert not tail.poll()
        execute(url, f"INSERT INTO checkpoints ({columns}) SELECT {columns} FROM kept")
        changes = tail.poll()
        assert tail.problem is None
        assert changes.reread or [*seen, *(event.id for event in changes.events)] == ids
        assert changes.changed[0].event_count == len(ids)
