"""Behaviour specific to sessions in a database file."""

from __future__ import annotations

import asyncio
import copy
import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine

from runtime.errors import StaleSessionError, StorageError, UnstorableValueError
from runtime.events import Event, EventActions
from runtime.sessions import DatabaseSessionService, GetSessionConfig, InMemorySessionService, Session, SqliteSessionService
from runtime.sessions.lineage import SessionCopy
from runtime.sessions.note import Note
from runtime.sessions.session_key import SessionKey
from runtime.storage.layouts.column_values import as_text
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import copy_of


def delta(**changes: object) -> Event:
    return Event(author="me", actions=EventActions(state_delta=changes))


async def new_session(service: DatabaseSessionService, session_id: str = "s") -> Session:
    return await service.create_session(app_name="a", user_id="u", session_id=session_id, state={"k": 0})


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def backups(folder: Path) -> list[Path]:
    return list(folder.glob("*.backup-*"))


def rows(file: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(sql).fetchall()


def append_as_another_program(file: Path, event_id: str, when: str) -> None:
    """Write the event's row and the session's time, but none of our tables."""
    event = {"author": "other", "invocation_id": "x", "id": event_id, "actions": {"state_delta": {"user:theirs": 1}}}
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("INSERT INTO events VALUES (?, 'a', 'u', 's', 'x', ?, ?)", (event_id, when, json.dumps(event)))
        connection.execute("UPDATE sessions SET update_time = ?", (when,))
        connection.execute("UPDATE user_states SET state = '{\"theirs\": 1}'")
        connection.commit()


@pytest.mark.rule("R11")
@pytest.mark.parametrize("url", ["sqlite:///{}", "sqlite+aiosqlite:///{}", "{}"])
async def test_every_form_of_a_file_url_is_accepted(tmp_path: Path, url: str) -> None:
    file = tmp_path / "x.db"
    async with DatabaseSessionService(url.format(file)) as service:
        await new_session(service)
    assert rows(file, "SELECT value FROM adk_internal_metadata") == [("1",)]


async def test_a_database_in_memory_keeps_sessions() -> None:
    async with DatabaseSessionService("sqlite://") as service:
        session = await new_session(service)
        await service.append_event(session, delta(k=1))
        assert await service.get_session(app_name="a", user_id="u", session_id="s") == session


@pytest.mark.parametrize(
    ("url", "words"), [("mysql://h/d", "Databases of mysql:// are not supported"), ("x://", "not supported|no database URL")]
)
def test_unsupported_databases_are_refused(url: str, words: str) -> None:
    with pytest.raises(StorageError, match=words):
        DatabaseSessionService(url)


async def test_reading_creates_nothing(tmp_path: Path) -> None:
    async with DatabaseSessionService(f"sqlite:///{tmp_path / 'x.db'}") as service:
        assert await service.get_session(app_name="a", user_id="u", session_id="s") is None
        assert (await service.list_sessions(app_name="a")).sessions == []
        await service.delete_session(app_name="a", user_id="u", session_id="s")
    assert files(tmp_path) == []


async def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    async with DatabaseSessionService(f"sqlite:///{tmp_path / 'no' / 'x.db'}") as service:
        with pytest.raises(StorageError, match="cannot be created: the folder"):
            await new_session(service)


async def test_a_closed_service_raises_an_error(tmp_path: Path) -> None:
    service = DatabaseSessionService(f"sqlite:///{tmp_path / 'x.db'}")
    await new_session(service)
    await service.close()
    await service.close()
    with pytest.raises(StorageError, match="closed"):
        await service.list_sessions(app_name="a")
    assert files(tmp_path) == ["x.db"]


async def test_times_are_utc_text_and_increase_with_every_event(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await new_session(service)
        for moment in (4102444800.25, 4102444800.25, 1000.0, 4102444801.0):
            await service.append_event(session, Event(author="me", timestamp=moment))
    assert rows(file, "SELECT timestamp FROM events ORDER BY timestamp") == [
        ("2100-01-01 00:00:00.250000",),
        ("2100-01-01 00:00:00.250001",),
        ("2100-01-01 00:00:00.250002",),
        ("2100-01-01 00:00:01.000000",),
    ]
    assert rows(file, "SELECT update_time FROM sessions") == [("2100-01-01 00:00:01.000000",)]
    assert rows(file, "SELECT count(*) FROM app_states") == rows(file, "SELECT count(*) FROM user_states") == [(1,)]


@pytest.mark.rule("S8")
async def test_a_stale_session_error_says_who_wrote_and_when(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    async with DatabaseSessionService(url) as one, DatabaseSessionService(url) as other:
        session = await new_session(one)
        behind = await other.get_session(app_name="a", user_id="u", session_id="s")
        assert behind is not None
        await one.append_event(session, delta(k=1))
        with pytest.raises(StaleSessionError, match=r"process \d+ on .* wrote to it at 20\d\d-"):
            await other.append_event(behind, delta(k=2))


@pytest.mark.parametrize("when", ["2100-01-01 00:00:00.000000", "1999-01-01 00:00:00.000000", None])
async def test_appends_of_other_programs_are_noticed_recorded_and_read(tmp_path: Path, when: str | None) -> None:
    file = tmp_path / "x.db"
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await new_session(service)
        await service.append_event(session, delta(k=1))
        ((last,),) = rows(file, "SELECT update_time FROM sessions")
        append_as_another_program(file, "theirs", when or str(last))
        with pytest.raises(StaleSessionError, match="another program wrote to it at"):
            await service.append_event(session, delta(k=2))
        reloaded = await service.get_session(app_name="a", user_id="u", session_id="s")
        assert reloaded is not None
        assert reloaded.state == {"k": 1, "user:theirs": 1}
        await service.append_event(reloaded, delta(k=3))
        again = await service.get_session(app_name="a", user_id="u", session_id="s")
        assert again is not None
        assert [event.author for event in again.events] == ["me", "other", "me"]
    recorded = rows(file, "SELECT event_id, writer IS NULL FROM inspector_commits WHERE event_id IS NOT NULL ORDER BY seq")
    assert recorded == [(again.events[0].id, 0), ("theirs", 1), (again.events[2].id, 0)]
    # google-adk sorts by the column, so later events must have a later time.
    if when != "1999-01-01 00:00:00.000000":
        assert rows(file, "SELECT id FROM events ORDER BY timestamp DESC, id DESC LIMIT 1") == [(again.events[2].id,)]


async def test_a_session_not_loaded_from_the_service_is_compared_by_its_time(tmp_path: Path) -> None:
    async with DatabaseSessionService(f"sqlite:///{tmp_path / 'x.db'}") as service:
        session = await new_session(service)
        await service.append_event(session, delta(k=1))
        with pytest.raises(StaleSessionError):
            await service.append_event(Session(id="s", app_name="a", user_id="u", last_update_time=5.0), delta(k=2))
        known = Session(id="s", app_name="a", user_id="u", last_update_time=session.last_update_time)
        await service.append_event(known, delta(k=3))


# Faults


@contextmanager
def locked(file: Path) -> Iterator[None]:
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def test_a_lock_held_longer_than_the_timeout_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    async with DatabaseSessionService(f"sqlite:///{file}", connect_args={"timeout": 0.1}) as service:
        session = await new_session(service)
        before = copy.deepcopy(session)
        with locked(file), pytest.raises(StorageError, match="locked for too long"):
            await service.append_event(session, delta(k=1))
        assert session == before
        assert await service.get_session(app_name="a", user_id="u", session_id="s") == before
        await service.append_event(session, delta(k=2))
        assert await service.get_session(app_name="a", user_id="u", session_id="s") == session


@pytest.mark.rule("E2")
async def test_a_commit_waits_for_a_short_lock(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await new_session(service)
        with locked(file):
            waiting = asyncio.ensure_future(service.append_event(session, delta(k=1)))
            done, _ = await asyncio.wait([waiting], timeout=0.2)
            assert not done
        await waiting
        assert await service.get_session(app_name="a", user_id="u", session_id="s") == session


async def test_a_full_disk_is_reported_and_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await new_session(service)
        await service._thread.run(lambda: _limit_pages(service))
        before = copy.deepcopy(session)
        with pytest.raises(StorageError, match=r"disk that holds .* is full"):
            await service.append_event(session, delta(k="x" * 200_000))
        assert session == before
        assert await service.get_session(app_name="a", user_id="u", session_id="s") == before
        await service.append_event(session, delta(k=2))
        assert await service.get_session(app_name="a", user_id="u", session_id="s") == session


def _until_taken(service: DatabaseSessionService) -> None:
    while service._thread._jobs.qsize():
        time.sleep(0.001)


def _limit_pages(service: DatabaseSessionService) -> None:
    connection = service._database._connection
    assert connection is not None
    connection.exec_driver_sql("PRAGMA max_page_count = 30")


async def test_a_read_only_file_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        await new_session(service)
    async with DatabaseSessionService(f"sqlite:///file:{file}?mode=ro&uri=true") as service:
        session = await service.get_session(app_name="a", user_id="u", session_id="s")
        assert session is not None
        with pytest.raises(StorageError, match="read-only"):
            await service.append_event(session, delta(k=1))
        assert session.events == []


async def test_a_damaged_stored_state_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        await new_session(service)
        with closing(sqlite3.connect(file)) as connection:
            connection.execute("UPDATE sessions SET state = '{\"k\": '")
            connection.commit()
        with pytest.raises(StorageError, match="state"):
            await service.get_session(app_name="a", user_id="u", session_id="s")


async def test_a_lone_surrogate_is_refused(tmp_path: Path) -> None:
    async with DatabaseSessionService(f"sqlite:///{tmp_path / 'x.db'}") as service:
        session = await new_session(service)
        for event in (delta(k="\ud83d"), Event(author="me", error_message="\ud83d")):
            with pytest.raises(UnstorableValueError):
                await service.append_event(session, event)
        with pytest.raises(UnstorableValueError, match="surrogate"):
            await service.create_session(app_name="a", user_id="u", state={"k": "\ud83d"})
        assert (await service.list_sessions(app_name="a")).sessions[0].state == {"k": 0}


async def test_a_task_cancelled_during_a_commit_is_cancelled_after_it(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await new_session(service)
        reached = asyncio.Event()
        after: list[str] = []

        async def append() -> None:
            reached.set()
            await service.append_event(session, delta(k=1))
            after.append("committed")
            await asyncio.sleep(0)
            after.append("not reached")

        with locked(file):
            task = asyncio.ensure_future(append())
            await reached.wait()
            await asyncio.to_thread(_until_taken, service)
            task.cancel()
            await asyncio.sleep(0)
            assert not task.done()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert after == ["committed"]
        assert await service.get_session(app_name="a", user_id="u", session_id="s") == session
        assert len(session.events) == 1


# Files of other programs


@pytest.mark.parametrize("name", ["adk1.39.1-v1-chat_tools.db", "adk2.13.0-sqlite-chat_tools.db"])
async def test_the_first_write_makes_a_backup(tmp_path: Path, name: str) -> None:
    file = copy_of(f"open/{name}", tmp_path)
    file.chmod(0o640)
    service = SqliteSessionService(file) if "sqlite" in name else DatabaseSessionService(f"sqlite:///{file}")
    original = file.read_bytes()
    async with service:
        session = await service.get_session(app_name="trip_planner", user_id="maria", session_id="s-1")
        assert session is not None
        assert file.read_bytes() == original
        assert files(tmp_path) == [name]
        for _ in range(2):
            await service.append_event(session, delta(k=1))
    (backup,) = backups(tmp_path)
    assert backup.stat().st_mode & 0o777 == 0o640
    with StoredDatabase.open(str(backup)) as before, StoredDatabase.open(str(file)) as after:
        assert (before.layout.ours, after.layout.ours) == (False, True)
        assert before.events(session.key) == session.events[:-2]
        assert after.events(session.key) == session.events
        history = after.history(session.key)
        assert history.state_at(len(history.events) - 1).merged() == session.state
    assert files(tmp_path) == sorted([name, backup.name])


async def test_without_a_backup_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = copy_of("open/adk1.39.1-v1-chat_tools.db", tmp_path)
    file.chmod(0o640)
    original = file.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("runtime.storage.writing.database.back_up", fail)
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await service.get_session(app_name="trip_planner", user_id="maria", session_id="s-1")
        assert session is not None
        with pytest.raises(StorageError, match="No space left"):
            await service.append_event(session, delta(k=1))
    assert file.read_bytes() == original


@pytest.mark.parametrize(
    ("name", "words"),
    [("adk1.18.0-v0-chat_tools.db", "older layout"), ("adk2.13.0-sqlite-chat_tools.db", "SqliteSessionService")],
)
async def test_another_layout_is_refused(tmp_path: Path, name: str, words: str) -> None:
    file = copy_of(f"open/{name}", tmp_path)
    original = file.read_bytes()
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        with pytest.raises(StorageError, match=words):
            await service.list_sessions(app_name="a")
        with pytest.raises(StorageError, match=words):
            await new_session(service)
    assert file.read_bytes() == original


async def test_recent_events_are_read_by_index(tmp_path: Path) -> None:
    async with DatabaseSessionService(f"sqlite:///{tmp_path / 'x.db'}") as service:
        session = await new_session(service)
        for number in range(300):
            await service.append_event(session, delta(k=number))
        config = GetSessionConfig(num_recent_events=5)
        plan = await service._thread.run(lambda: _plan(service))
        assert "inspector_idx_events_session" in plan
        assert "TEMP B-TREE" not in plan
        recent = await service.get_session(app_name="a", user_id="u", session_id="s", config=config)
        assert recent is not None
        assert recent.events == session.events[-5:]


def _plan(service: DatabaseSessionService) -> str:
    connection = service._database._connection
    assert connection is not None
    sql, parameters = service._database._compiled["recent_events"]
    values = parameters({"app_name": "a", "user_id": "u", "session_id": "s", "count": 5})
    driver = connection.connection.driver_connection
    assert driver is not None
    return " ".join(str(row[-1]) for row in driver.execute("EXPLAIN QUERY PLAN " + sql, values))


@pytest.mark.rule("E9")
async def test_an_event_with_an_earlier_time_does_not_decrease_the_column(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await new_session(service)
        await service.append_event(session, Event(author="me", timestamp=time.time() - 3600))
        assert session.last_update_time == session.events[0].timestamp
        ((updated, created),) = rows(file, "SELECT update_time, create_time FROM sessions")
        assert str(updated) > str(created)


# Events kept in memory between two runs


async def _for_run(service: DatabaseSessionService, name: str = "s") -> Session:
    session = await service.session_for_run(app_name="a", user_id="u", session_id=name)
    assert session is not None
    return session


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM events WHERE id = '1'",
        "DELETE FROM events WHERE id = '4'",
        "DELETE FROM events",
        "DELETE FROM events WHERE id >= '3'; INSERT INTO events SELECT '3b', app_name, user_id, session_id, invocation_id, timestamp,"
        ' replace(event_data, \'"id":"0"\', \'"id":"3b"\') FROM events WHERE id = \'0\'',
        "UPDATE events SET id = 'x' WHERE id = '4'",
    ],
)
async def test_the_next_run_does_not_see_deleted_or_changed_events(tmp_path: Path, change: str) -> None:
    file = tmp_path / "x.db"
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await new_session(service)
        for number in range(5):
            await service.append_event(session, Event(author="me", id=str(number)))
        await _for_run(service)
        with closing(sqlite3.connect(file)) as connection:
            connection.executescript(change)
        ids = [event.id for event in (await _for_run(service)).events]
        assert ids == [row[0] for row in rows(file, "SELECT id FROM events ORDER BY rowid")]


async def test_a_recreated_session_with_the_same_events_is_read_again(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.db'}"
    async with DatabaseSessionService(url) as service, DatabaseSessionService(url) as other:
        session = await new_session(service)
        await service.append_event(session, Event(author="me", id="1", branch="first"))
        await _for_run(service)
        await other.delete_session(app_name="a", user_id="u", session_id="s")
        await other.append_event(await new_session(other), Event(author="me", id="1", branch="second"))
        assert [event.branch for event in (await _for_run(service)).events] == ["second"]


async def test_a_run_decodes_only_new_events(tmp_path: Path) -> None:
    decoded: list[str] = []
    async with DatabaseSessionService(f"sqlite:///{tmp_path / 'x.db'}") as service:
        decode = service._runs._read

        def noting(row: Any) -> Event:
            decoded.append(row[0])
            return decode(row)

        session = await new_session(service)
        for number in range(20):
            await service.append_event(session, Event(author="me", id=str(number)))
        service._runs._read = noting
        assert list((await _for_run(service)).events) == session.events
        assert len(decoded) == 20
        await service.append_event(session, Event(author="me", id="20"))
        assert list((await _for_run(service)).events) == session.events
        assert decoded[20:] == ["20"]


async def test_the_events_of_a_limited_number_of_sessions_are_kept(tmp_path: Path) -> None:
    async with DatabaseSessionService(f"sqlite:///{tmp_path / 'x.db'}") as service:
        for number in range(20):
            await service.create_session(app_name="a", user_id="u", session_id=str(number))
            await _for_run(service, str(number))
        assert [key.session_id for key in service._runs._lent] == [str(number) for number in range(12, 20)]


async def test_events_after_a_time_are_found_with_utc_and_local_columns(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    now = float(round(time.time())) + 1_000_000  # later than the session's creation, or the columns would be increased to it
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await new_session(service)
        # The clock is set back by two hours in between.
        for number, at in enumerate((now, now + 7200, now + 1)):
            await service.append_event(session, Event(author="me", id=str(number), timestamp=at))
        assert await _since(service, now + 2) == "1"
        # google-adk up to 2.6 writes local time into the column, here ten hours west of UTC.
        _append_in_local_time(file, Event(author="me", id="3", timestamp=now + 2), more="")
        _append_in_local_time(file, Event(author="me", id="4", timestamp=now + 7300), more=', "newer": 1')
        expected = {now + 2: "134", now + 7200: "14", -1.0: "01234", 9e15: "", now + 7300: "4"}
        assert {since: await _since(service, since) for since in expected} == expected
        session = await new_session(service, "another")
        await service.append_event(session, Event(author="me", id="5", timestamp=now))
        assert {since: await _since(service, since) for since in expected} == expected


async def test_a_day_more_is_searched_only_after_local_times_were_written(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    now = float(round(time.time())) + 1_000_000
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        await service.append_event(await new_session(service), Event(author="me", id="0", timestamp=now))
        decode = service._decode
        read: list[str] = []

        def noting(row: Any) -> Event:
            read.append(row[0])
            return decode(row)

        service._decode = noting
        _append_in_local_time(file, Event(author="me", id="1", timestamp=now + 1), more=', "newer": 1', hours=0)
        await service.append_event(await new_session(service, "another"), Event(author="me", id="2", timestamp=now))
        assert await _since(service, now + 2) == ""
        assert not read
        _append_in_local_time(file, Event(author="me", id="3", timestamp=now + 2), more=', "newer": 1')
        assert await _since(service, now + 2) == "3"
        assert read


async def _since(service: DatabaseSessionService, since: float) -> str:
    config = GetSessionConfig(after_timestamp=since)
    found = await service.get_session(app_name="a", user_id="u", session_id="s", config=config)
    assert found is not None
    return "".join(event.id for event in found.events)


def _append_in_local_time(file: Path, event: Event, *, more: str, hours: int = 10) -> None:
    """Append as an older google-adk does, in a time zone this many hours west of UTC."""
    column = as_text(round((event.timestamp - hours * 3600) * 1e6))
    data = event.model_dump_json(exclude_none=True)[:-1] + more + "}"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("INSERT INTO events VALUES (?, 'a', 'u', 's', 'i', ?, ?)", (event.id, column, data))
        connection.commit()


async def test_a_write_to_a_deleted_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.db"
    async with DatabaseSessionService(str(file)) as service:
        session = await new_session(service)
        await service.append_event(session, delta(k=1))
        moved = file.rename(tmp_path / "y.db")
        with pytest.raises(StorageError, match=r"x\.db does not exist any more: it was deleted or moved"):
            await service.append_event(session, delta(k=2))
        assert session.state == {"k": 1}
        assert not file.exists()
        moved.rename(file)
        await service.append_event(session, delta(k=3))
    assert json.loads(str(rows(file, "SELECT state FROM sessions")[0][0])) == {"k": 3}


async def test_a_backup_restored_in_place_is_read_and_written(tmp_path: Path) -> None:
    file, backup = tmp_path / "x.db", tmp_path / "backup.db"
    async with DatabaseSessionService(str(file)) as service:
        session = await new_session(service)
        await service.append_event(session, delta(k=1))
        with closing(sqlite3.connect(file)) as source, closing(sqlite3.connect(backup)) as copied:
            source.backup(copied)
        await service.append_event(session, delta(k=2))
        backup.replace(file)
        for companion in ("-wal", "-shm"):
            file.with_name(file.name + companion).unlink()
        with pytest.raises(StaleSessionError):
            await service.append_event(session, delta(k=3))
        restored = await service.get_session(app_name="a", user_id="u", session_id="s")
        assert restored is not None
        assert (restored.state, len(restored.events)) == ({"k": 1}, 1)
        await service.append_event(restored, delta(k=4))
    assert json.loads(str(rows(file, "SELECT state FROM sessions")[0][0])) == {"k": 4}


async def test_an_engine_names_the_database(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path / 'a.db'}")
    async with DatabaseSessionService(db_engine=engine) as service:
        await service.prepare_tables()
        await service.create_session(app_name="app", user_id="u", session_id="s")
        await service.flush()
        assert service.db_engine is engine
    async with DatabaseSessionService(f"sqlite:///{tmp_path / 'a.db'}") as again:
        assert await again.get_session(app_name="app", user_id="u", session_id="s") is not None
    with engine.connect() as connection:  # it is not closed
        assert connection.exec_driver_sql("SELECT count(*) FROM sessions").scalar() == 1
    engine.dispose()


def test_an_engine_that_alone_reaches_its_database_is_refused() -> None:
    with pytest.raises(StorageError, match="Only this db_engine can reach its database"):
        DatabaseSessionService(db_engine=create_engine("sqlite://"))
    with pytest.raises(StorageError, match="Only this db_engine"):
        DatabaseSessionService(db_engine=create_engine("postgresql+psycopg://", creator=lambda: None))
    for both in ({}, {"db_url": "sqlite://", "db_engine": create_engine("sqlite://")}):
        with pytest.raises(ValueError, match="either db_url or db_engine"):
            DatabaseSessionService(**both)


async def test_a_session_of_another_service_keeps_its_events_readable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.sessions.event_list._NEWEST", 1)
    memory = InMemorySessionService()
    held = await memory.create_session(app_name="a", user_id="u", session_id="s")
    await memory.append_event(held, delta(k=0))
    session = await memory.get_session(app_name="a", user_id="u", session_id="s")
    assert session is not None
    async with DatabaseSessionService(str(tmp_path / "x.db")) as service:
        await new_session(service)
        session.last_update_time = time.time() + 60
        for number in range(1, 4):
            await service.append_event(session, delta(k=number))
    assert [event.actions.state_delta for event in session.events] == [{"k": number} for number in range(4)]


async def test_a_copy_is_continued_and_its_last_events_are_replaced(tmp_path: Path) -> None:
    def events(*texts: str) -> list[Event]:
        return [Event(id=text.rstrip("'"), author="me", timestamp=9.0, error_message=text) for text in texts]

    key = SessionKey("a", "u", "s")
    file = tmp_path / "x.db"
    async with DatabaseSessionService(str(file)) as service:
        await service.continue_copy(key, SessionCopy(events("a", "b", "c"), {}, None, {}, {}, [], {}, 9.0, None))
        await service.set_note(key, "b", Note("look", at=1.0))
        await service.continue_copy(key, SessionCopy(events("c'", "b'", "d"), {}, None, {}, {}, [], {}, 9.0, None), ["b", "c"])
        session = await service.get_session(app_name="a", user_id="u", session_id="s")
        assert session is not None
        assert [event.error_message for event in session.events] == ["a", "c'", "b'", "d"]
        assert (await service.notes(key))["b"].text == "look"
        await service.append_event(session, delta(k=1))
    with StoredDatabase.open(str(file)) as stored:
        assert [event.error_message for event in stored.events(key)] == ["a", "c'", "b'", "d", None]
        assert stored.state(key)["k"] == 1
    times = [row[0] for row in rows(file, "SELECT timestamp FROM events ORDER BY rowid")]
    assert times == sorted(times) and len(set(times)) == 5
    commits = rows(file, "SELECT event_id FROM inspector_commits WHERE event_id IS NOT NULL ORDER BY seq")
    assert [event_id for (event_id,) in commits][:4] == ["a", "c", "b", "d"]
