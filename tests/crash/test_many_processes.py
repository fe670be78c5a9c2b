"""Many processes on one SQLite file lose no commit and no shared key, and the last commit wins."""

from __future__ import annotations

import asyncio
import multiprocessing
import sys
import time
from pathlib import Path

import pytest

from runtime.events import Event, EventActions
from runtime.sessions import DatabaseSessionService
from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from tests.sweep import count

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.crash.appender"])
WRITERS = 16

pytestmark = [pytest.mark.sweep, pytest.mark.timeout(7200)]


def write(file: str, writer: int, events: int) -> None:
    asyncio.run(_write(file, writer, events))


async def _write(file: str, writer: int, events: int) -> None:
    async with DatabaseSessionService(f"sqlite:///{file}", connect_args={"timeout": 120}) as service:
        session = await service.create_session(app_name="a", user_id="u", session_id=f"{writer}")
        for number in range(events):
            mine = f"{writer}-{number}"
            delta = {"own": number, f"user:{mine}": number, f"app:{mine}": number, "user:last": mine, "app:last": mine}
            await service.append_event(session, Event(author="me", id=mine, actions=EventActions(state_delta=delta)))


def test_sixteen_processes_on_one_file_lose_no_commit(tmp_path: Path) -> None:
    file, events = tmp_path / "x.db", count(quick=20, full=500)
    processes = [PROCESSES.Process(target=write, args=(str(file), writer, events)) for writer in range(WRITERS)]
    begun = time.monotonic()
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    seconds = time.monotonic() - begun
    assert [process.exitcode for process in processes] == [0] * WRITERS
    with StoredDatabase.open(str(file)) as database:
        assert [summary.event_count for summary in database.sessions()] == [events] * WRITERS
        order = database.read(lambda connection: connection.execute("SELECT id FROM events ORDER BY rowid").fetchall())
        shared = {f"{scope}:{writer}-{number}" for scope in ("user", "app") for writer in range(WRITERS) for number in range(events)}
        for writer in range(WRITERS):
            key = SessionKey("a", "u", f"{writer}")
            assert [event.id for event in database.events(key)] == [f"{writer}-{number}" for number in range(events)]
        state = database.state(SessionKey("a", "u", "0"))
        assert shared | {"own", "user:last", "app:last"} == set(state)
        assert state["user:last"] == state["app:last"] == order[-1][0]
        history = database.history(SessionKey("a", "u", "0"))
        assert history.state_at(events - 1).unknown == []
    sys.stderr.write(
        f"{WRITERS} processes, {WRITERS * events} commits in {seconds:.1f} s ({WRITERS * events / seconds:.0f}/s): all there\n"
    )
