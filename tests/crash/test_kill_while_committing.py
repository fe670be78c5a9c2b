"""A process killed during a commit loses no acknowledged event and leaves no partial commit."""

from __future__ import annotations

import multiprocessing
import random
import sys
import time
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from runtime.errors import StorageError
from runtime.sessions.session import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from tests.crash import appender
from tests.sweep import count

KEY = SessionKey("a", "u", "s")

pytestmark = [
    pytest.mark.sweep,
    pytest.mark.timeout(7200),
    pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL"),
]
# A fork server with all imports done starts a writer in milliseconds.
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.crash.appender"])


def start(file: Path, layout: str, events: int, statement: int = 0) -> tuple[BaseProcess, Connection]:
    receiver, sender = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=appender.run, args=(sender, str(file), layout, events, statement))
    process.start()
    sender.close()
    return process, receiver


def heard(process: BaseProcess, receiver: Connection) -> list[str]:
    """Wait until the process has ended, and return the acknowledged events."""
    said = []
    try:
        while True:
            said.append(receiver.recv())
    except EOFError:
        pass
    process.join()
    receiver.close()
    return [line for line in said if line.startswith("event-")]


def check(file: Path, acknowledged: list[str]) -> int:
    """Check that the acknowledged events and at most one more are stored completely, and return the number of events."""
    if not file.exists() or file.stat().st_size == 0:
        assert acknowledged == []
        return 0
    try:
        database = StoredDatabase.open(str(file))
    except StorageError:
        # Killed before the tables were created.
        assert acknowledged == []
        return 0
    with database:
        if not database.sessions():
            assert acknowledged == []
            return 0
        history = database.history(KEY)
        ids = [event.id for event in history.events]
        assert ids == [f"event-{number}" for number in range(len(ids))]
        assert len(acknowledged) <= len(ids) <= len(acknowledged) + 1
        state = database.state(KEY)
        if ids:
            last = len(ids) - 1
            assert state["own"] == state["user:shared"] == state["app:shared"] == last
            latest = {f"k{number % 50}": str(number) * 500 for number in range(len(ids))}
            assert {key: value for key, value in state.items() if key.startswith("k")} == latest
            scoped = history.state_at(last)
            assert (scoped.merged(), scoped.unknown) == (state, [])
        else:
            assert state == {}
        return len(ids)


@pytest.mark.rule("E2")
@pytest.mark.parametrize("layout", ["v1", "sqlite"])
def test_a_kill_before_any_statement_loses_no_acknowledged_commit(layout: str, tmp_path: Path) -> None:
    statements = range(1, 120, count(quick=7, full=1))
    for statement in statements:
        file = tmp_path / f"{statement}.db"
        said = heard(*start(file, layout, events=4, statement=statement))
        found = check(file, said)
        # Appending continues normally.
        process, receiver = start(file, layout, events=2)
        said = heard(process, receiver)
        assert process.exitcode == 0
        assert check(file, [f"event-{number}" for number in range(found)] + said) == found + 2
    sys.stderr.write(f"{layout}: killed before {len(statements)} different statements; each file was complete and could be continued\n")


@pytest.mark.parametrize("layout", ["v1", "sqlite"])
def test_random_kills_lose_no_acknowledged_commit(layout: str, tmp_path: Path) -> None:
    chance = random.Random(7)
    kills, committed = count(quick=25, full=2000), 0
    for kill in range(kills):
        file = tmp_path / f"{kill // 100}.db"
        committed = 0 if kill % 100 == 0 else committed
        process, receiver = start(file, layout, 1_000_000)
        assert receiver.recv() == "ready"
        time.sleep(chance.random() * 0.03)
        process.kill()
        committed = check(file, [f"event-{number}" for number in range(committed)] + heard(process, receiver))
    sys.stderr.write(f"{layout}: {kills} random kills; no acknowledged event was lost, none repeated or partially written\n")
