"""Copies, backups and conversions take their names exclusively, and never write through a planted link."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import time
from pathlib import Path

import pytest

from runtime.errors import StorageError
from runtime.sessions.session import SessionKey
from runtime.storage.connections import new_file
from runtime.storage.connections.new_file import back_up, give_name, unfinished_file
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.writing.convert import convert
from runtime.storage.writing.copy_database import copy_database
from runtime.storage.writing.deletion import keep_copy

DATA = Path(__file__).parents[3] / "data"

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs links")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return Path(shutil.copyfile(DATA / "v1.db", tmp_path / "chat.db"))


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file of the user's outside the folder."""
    file = tmp_path / "victim"
    file.write_text("precious")
    return file


def make_all(database: Path) -> None:
    with contextlib.closing(sqlite3.connect(database)) as connection:
        back_up(connection, database)
    with StoredDatabase.open(str(database)) as stored:
        key: SessionKey = stored.sessions()[0].key
    keep_copy(database, [key])
    convert(str(database), str(database.with_name("converted.db")))
    copy_database(str(database), database.with_name("copy.db"))


@pytest.mark.rule("F5")
def test_links_under_all_predictable_names_are_not_followed(database: Path, victim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "strftime", lambda _form: "20261122-000000")
    for name in ("backup-20261122-000000", "deleted-20261122-000000"):
        for ending in ("", ".unfinished", "-2", "-2.unfinished"):
            database.with_name(f"chat.db.{name}{ending}").symlink_to(victim)
    for name in ("converted.db.unfinished", "copy.db.unfinished"):
        database.with_name(name).symlink_to(victim)
    before = set(database.parent.iterdir())
    make_all(database)
    assert victim.read_text() == "precious"
    made = set(database.parent.iterdir()) - before
    assert sorted(file.name.rpartition("-")[0] or file.name for file in made) == [
        "chat.db.backup-20261122-000000",
        "chat.db.deleted-20261122-000000",
        "converted.db",
        "copy.db",
    ]
    assert all(file.is_file() and not file.is_symlink() and file.stat().st_size for file in made)


def test_names_differ_each_time(database: Path) -> None:
    with contextlib.closing(sqlite3.connect(database)) as connection:
        assert back_up(connection, database) != back_up(connection, database)
    with unfinished_file(database) as one, unfinished_file(database) as other:
        assert one != other
    assert sorted(file.suffix for file in database.parent.iterdir() if file.suffix == ".unfinished") == []


@pytest.mark.parametrize("has_hard_links", [True, False])
@pytest.mark.parametrize("dangling", [True, False])
def test_a_link_under_the_final_name_is_neither_followed_nor_replaced(
    tmp_path: Path, victim: Path, monkeypatch: pytest.MonkeyPatch, has_hard_links: bool, dangling: bool
) -> None:
    if not has_hard_links:

        def refuse(_self: Path, _target: Path) -> None:
            raise OSError(95, "Operation not supported")

        monkeypatch.setattr(Path, "hardlink_to", refuse)
    target = tmp_path / "target"
    target.symlink_to(tmp_path / "nowhere" if dangling else victim)
    with unfinished_file(target) as unfinished:
        unfinished.write_text("new")
        with pytest.raises(StorageError, match="already exists"):
            give_name(unfinished, target)
    assert victim.read_text() == "precious" and target.is_symlink() and not (tmp_path / "nowhere").exists()
    target.unlink()
    with unfinished_file(target) as unfinished:
        unfinished.write_text("new")
        give_name(unfinished, target)
    assert target.read_text() == "new" and sorted(file.name for file in tmp_path.iterdir()) == ["target", "victim"]


def test_a_taken_unfinished_name_is_not_opened(tmp_path: Path, victim: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new_file.secrets, "token_hex", lambda _count: "guessed")
    (tmp_path / "new.db.guessed.unfinished").symlink_to(victim)
    with pytest.raises(StorageError, match=r"new\.db cannot be written: File exists"):
        convert(str(DATA / "v1.db"), str(tmp_path / "new.db"))
    assert victim.read_text() == "precious" and (tmp_path / "new.db.guessed.unfinished").is_symlink()


def test_what_killed_processes_left_is_removed_after_an_hour(tmp_path: Path) -> None:
    hour_ago = time.time() - 3_700
    left = [f"old.db.{'a' * 16}.unfinished{suffix}" for suffix in ("", "-wal", "-shm", "-journal")]
    kept = [f"young.db.{'b' * 16}.unfinished", "mine.unfinished", f"old.db.{'a' * 16}", f"x.{'g' * 16}.unfinished"]
    for name in [*left, *kept]:
        (tmp_path / name).write_text("x")
        if "young" not in name:
            os.utime(tmp_path / name, (hour_ago, hour_ago))
    with unfinished_file(tmp_path / "new.db"):
        pass
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(kept)
