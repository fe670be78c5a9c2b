"""Which session service of which google-adk continues a database."""

from __future__ import annotations

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
    for version in ("1.22.0", "1.39.1", "2.13.0"):
        assert session_storage(file, version) == {"kind": "database", "url": f"sqlite+aiosqlite:///{file}"}
    with pytest.raises(StorageRefusedError, match=r"google-adk 1\.21\.0 cannot continue .*v1, which 1\.22 and later open.*convert"):
        session_storage(file, "1.21.0")


def test_adk_webs_layout_needs_1_19() -> None:
    file = str(DATA / "sqlite.db")
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
