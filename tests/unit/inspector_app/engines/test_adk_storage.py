"""Which session service of which google-adk continues a database."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from inspector_app.engines.adk_storage import StorageRefusedError, session_storage
from runtime.errors import KnownError
from tests.architecture.source_rules import ROOT

DATA = ROOT / "tests" / "data"


def test_without_a_database_sessions_are_in_memory() -> None:
    assert session_storage(None, "1.25.0") == session_storage(":memory:", "1.25.0") == {"kind": "memory"}


def test_a_new_file_gets_google_adks_database_service(tmp_path: Path) -> None:
    assert session_storage(str(tmp_path / "new.db"), "2.13.0") == {"kind": "database", "url": f"sqlite+aiosqlite:///{tmp_path}/new.db"}
    assert not (tmp_path / "new.db").exists()


@pytest.mark.parametrize("name", ["v1.db", "ours.db"])
def test_layout_v1_needs_1_22(name: str) -> None:
    file = str(DATA / name)
    for version in ("1.22.0",) * (name == "ours.db") + ("1.28.0", "1.39.1", "2.13.0"):
        assert session_storage(file, version) == {"kind": "database", "url": f"sqlite+aiosqlite:///{file}"}
    with pytest.raises(StorageRefusedError, match=r"google-adk 1\.21\.0 cannot continue .*v1, which 1\.22 and later open\. Use a newer"):
        session_storage(file, "1.21.0")


def test_adk_webs_layout_needs_1_19(tmp_path: Path) -> None:
    file = copy_with(tmp_path, "sqlite.db", "json_remove(event_data, '$.node_info')")
    assert session_storage(file, "1.19.0") == {"kind": "sqlite", "path": file}
    with pytest.raises(StorageRefusedError, match=r"1\.19 and later open"):
        session_storage(file, "1.18.0")


def test_a_file_of_1_18_is_refused_by_every_later_version() -> None:
    file = str(DATA / "v0.db")
    assert session_storage(file, "1.18.0")["kind"] == "database"
    with pytest.raises(StorageRefusedError, match=r"google-adk 1\.18 and earlier"):
        session_storage(file, "2.13.0")


def test_a_server_is_reached_by_the_driver_that_google_adk_uses() -> None:
    url = "postgresql+psycopg://me:secret@host/db"
    assert session_storage(url, "2.13.0") == {"kind": "database", "url": "postgresql+asyncpg://me:secret@host/db"}


def test_a_file_that_is_no_session_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("text" * 1000)
    with pytest.raises(KnownError, match=r"x\.db"):
        session_storage(str(tmp_path / "x.db"), "2.13.0")


def test_a_new_file_may_have_the_layout_of_adk_web(tmp_path: Path) -> None:
    file = tmp_path / "new.db"
    assert session_storage(str(file), "2.13.0", new_as_sqlite=True) == {"kind": "sqlite", "path": str(file)}
    assert session_storage(str(file), "1.18.0", new_as_sqlite=True)["kind"] == "database"


def copy_with(folder: Path, name: str, changed: str) -> str:
    """Copy a database; the SQL expression makes each event's JSON."""
    file = shutil.copy(DATA / name, folder / name)
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(f"UPDATE events SET event_data = {changed}")
    return str(file)


def test_events_of_google_adk_2_need_1_28(tmp_path: Path) -> None:
    for name in ("v1.db", "sqlite.db"):
        with pytest.raises(StorageRefusedError, match=r"google-adk 1\.27\.5 cannot continue .*: google-adk 2 has written events into it"):
            session_storage(str(DATA / name), "1.27.5")
    with pytest.raises(StorageRefusedError, match=r"or convert a copy: agent-inspector convert --for-old-adk .*sqlite.db new\.db$"):
        session_storage(str(DATA / "sqlite.db"), "1.22.0")
    with pytest.raises(StorageRefusedError, match=r"or another database\.$"):
        session_storage(str(DATA / "sqlite.db"), "1.19.0")
    file = copy_with(tmp_path, "ours.db", """json_set(event_data, '$.actions.state_delta.node_info', json('{"node_info": 1}'))""")
    assert session_storage(file, "1.27.5")["kind"] == "database", "a state key of that name is no field"
