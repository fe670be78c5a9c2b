"""Full disks, truncated or torn files, foreign databases and clock changes are reported and lose nothing."""

from __future__ import annotations

import random
import shutil
import sqlite3
import sys
import time
from pathlib import Path

import pytest

from runtime.errors import KnownError, NotASessionDatabaseError, StorageError
from runtime.events import Event
from runtime.sessions import DatabaseSessionService
from runtime.storage.reading.reader import StoredDatabase
from tests.crash.filled_databases import KEY, event
from tests.fixture_paths import copy_of
from tests.sweep import count


async def test_a_full_disk_loses_no_commit(small_disk: Path) -> None:
    file = small_disk / "x.db"
    acknowledged = refused = 0
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await service.create_session(app_name="a", user_id="u", session_id="s")
        for number in range(2000):
            before = (len(session.events), dict(session.state))
            try:
                await service.append_event(session, event(number, size=2000))
                acknowledged += 1
            except StorageError as error:
                assert "full" in str(error) or "system reported" in str(error)
                assert (len(session.events), dict(session.state)) == before
                refused += 1
                if refused == 5:
                    break
        assert refused == 5
    with StoredDatabase.open(str(file)) as database:
        found = database.events(KEY)
        assert [each.id for each in found] == [f"{number}" for number in range(acknowledged)]
        assert database.state(KEY)["user:k"] == acknowledged - 1
    # With free space, appending continues.
    room = _moved(file, small_disk.parent)
    async with DatabaseSessionService(f"sqlite:///{room}") as service:
        held = await service.get_session(app_name="a", user_id="u", session_id="s")
        assert held is not None
        await service.append_event(held, event(acknowledged))
    sys.stderr.write(f"disk full after {acknowledged} commits: {refused} refused, none lost, none half written\n")


def _moved(file: Path, folder: Path) -> Path:
    for part in file.parent.glob(file.name + "*"):
        shutil.copy(part, folder)
    return folder / file.name


@pytest.mark.sweep
def test_truncated_files_are_read_in_part_or_refused(tmp_path: Path) -> None:
    whole = copy_of("open/adk2.13.0-v1-chat_tools.db", tmp_path).read_bytes()
    file = tmp_path / "x.db"
    cases, read = range(1, len(whole), max(1, len(whole) // count(quick=60, full=2000))), 0
    for length in cases:
        file.write_bytes(whole[:length])
        read += _read_or_refused(file)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("x.db")] == ["x.db"]
    sys.stderr.write(f"{len(cases)} truncated files: {read} read in part, {len(cases) - read} refused with a sentence\n")


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["adk2.13.0-v1-chat_tools.db", "adk2.13.0-sqlite-chat_tools.db", "adk1.18.0-v0-chat_tools.db"])
def test_torn_pages_and_flipped_bytes_are_read_or_refused(name: str, tmp_path: Path) -> None:
    whole = copy_of(f"open/{name}", tmp_path).read_bytes()
    file, chance = tmp_path / "x.db", random.Random(3)
    cases, read = count(quick=60, full=5000), 0
    for _ in range(cases):
        data = bytearray(whole)
        if chance.random() < 0.5:
            page = chance.randrange(len(data) // 4096) * 4096
            data[page + 2048 : page + 4096] = bytes(2048) if chance.random() < 0.5 else chance.randbytes(2048)
        else:
            for _ in range(chance.randint(1, 50)):
                data[chance.randrange(len(data))] = chance.randrange(256)
        file.write_bytes(data)
        read += _read_or_refused(file)
        assert file.read_bytes() == data
    sys.stderr.write(f"{name}: {cases} torn or flipped: {read} read, {cases - read} refused with a sentence\n")


def _read_or_refused(file: Path) -> bool:
    """Read everything, and return whether it succeeded. An error must be one of ours that names the file or the session."""
    try:
        with StoredDatabase.open(str(file)) as database:
            for summary in database.sessions():
                database.events(summary.key)
                database.state(summary.key)
                history = database.history(summary.key)
                history.state_at(len(history.events) - 1)
    except KnownError as error:
        assert str(error)
        return False
    return True


OTHERS = {
    "a browser's cookies (Firefox)": ("CREATE TABLE moz_cookies (id INTEGER PRIMARY KEY, host TEXT, name TEXT, value TEXT)", "Firefox"),
    "a browser's cookies (Chrome)": ("CREATE TABLE cookies (host_key TEXT, name TEXT, encrypted_value BLOB)", "Chrom"),
    "a browser's history (Firefox)": ("CREATE TABLE moz_places (id INTEGER PRIMARY KEY, url TEXT)", "Firefox"),
    "a browser's history (Chrome)": ("CREATE TABLE urls (id INTEGER, url TEXT); CREATE TABLE visits (id INTEGER)", "Chrom"),
    "Django": ("CREATE TABLE django_migrations (id INTEGER); CREATE TABLE auth_user (id INTEGER)", "Django"),
    "sessions of another kind": ("CREATE TABLE sessions (sid TEXT, data TEXT)", "no column"),
    "recipes": ("CREATE TABLE recipes (name TEXT)", "recipes"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_the_error_for_a_foreign_database_names_its_likely_application(name: str, tmp_path: Path) -> None:
    tables, word = OTHERS[name]
    file = tmp_path / "x.db"
    connection = sqlite3.connect(file)
    connection.executescript(tables)
    connection.close()
    before = file.read_bytes()
    with pytest.raises(NotASessionDatabaseError, match=word):
        StoredDatabase.open(str(file))
    assert file.read_bytes() == before


async def test_commit_order_survives_a_clock_that_goes_back_or_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, now = tmp_path / "x.db", [2_000_000_000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    chance = random.Random(5)
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await service.create_session(app_name="a", user_id="u", session_id="s")
        for number in range(200):
            now[0] += chance.choice([0.0, 0.0, -3600.0, 1e-7, 0.25])
            await service.append_event(session, Event(author="me", id=f"{number}", timestamp=now[0]))
        times = [each.timestamp for each in session.events]
        held = await service.get_session(app_name="a", user_id="u", session_id="s")
        assert held is not None
        assert [each.timestamp for each in held.events] == times
    with StoredDatabase.open(str(file)) as database:
        assert [each.id for each in database.events(KEY)] == [f"{number}" for number in range(200)]
        stored = database.read(lambda connection: connection.execute("SELECT timestamp FROM events ORDER BY rowid").fetchall())
    assert stored == sorted(set(stored)), "google-adk sorts by this column"


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="time zones are set with tzset")
@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "UTC"])
async def test_times_survive_time_zone_changes(zone: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "x.db"
    # Around the changes of 2026 in New York and on Lord Howe: forward, back, and the repeated hour.
    moments = [1_772_953_199.5, 1_772_953_200.5, 1_793_512_799.5, 1_793_512_800.5, 1_793_516_400.5, 1_775_314_800.0, 1_790_956_800.0]
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        async with DatabaseSessionService(f"sqlite:///{file}") as service:
            session = await service.create_session(app_name="a", user_id="u", session_id="s")
            for number, moment in enumerate(moments):
                await service.append_event(session, Event(author="me", id=f"{number}", timestamp=moment))
    finally:
        monkeypatch.delenv("TZ")
        time.tzset()
    with StoredDatabase.open(str(file)) as database:
        assert [each.timestamp for each in database.events(KEY)] == moments
        assert database.sessions()[0].last_update_time >= max(moments)
