"""Working copies of another program's database: complete, in the same layout and writable."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtime.errors.storage_error import StorageError
from runtime.storage.open_service import open_session_service
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.writing.copy_database import copy_database
from tests.fixture_paths import copy_of, manifest


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("layout", ["v0", "v1", "sqlite"])
async def test_the_copy_has_the_same_content_and_our_tables(layout: str, tmp_path: Path) -> None:
    entry = next(entry for entry in manifest() if entry["layout"] == layout and entry["scenario"] == "chat_tools")
    original = copy_of(f"open/{entry['file']}", tmp_path)
    before = original.read_bytes()
    copy = tmp_path / "copy.db"
    copy_database(str(original), copy)
    assert original.read_bytes() == before
    assert _names(tmp_path) == sorted([original.name, "copy.db"]), "no other file is left"
    with StoredDatabase.open(str(original)) as old, StoredDatabase.open(str(copy)) as new:
        assert new.layout.kind == ("v1" if layout == "v0" else layout)
        assert new.layout.ours and not old.layout.ours
        assert [summary.key for summary in new.sessions()] == [summary.key for summary in old.sessions()]
        key = new.sessions()[0].key
        assert [event.id for event in new.events(key)] == [event.id for event in old.events(key)]
        assert (
            new.history(key).state_at(-1 + len(new.events(key))).merged() == old.history(key).state_at(-1 + len(old.events(key))).merged()
        )
    async with open_session_service(str(copy)) as service:
        await service.create_session(app_name="a", user_id="u", session_id="new")
    assert not any("backup" in name for name in _names(tmp_path)), "a working copy needs no backup"


def test_an_existing_file_is_not_replaced(tmp_path: Path) -> None:
    original = copy_of(f"open/{manifest()[0]['file']}", tmp_path)
    taken = tmp_path / "taken.db"
    taken.write_text("mine")
    with pytest.raises(StorageError, match="already exists"):
        copy_database(str(original), taken)
    assert taken.read_text() == "mine"
