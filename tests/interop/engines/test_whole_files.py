"""After an engine is closed, all that its agent stored is in the database's file, however the child ended."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from runtime.debugger.debugger import Debugger
from runtime.events import Event
from runtime.sessions import DatabaseSessionService
from tests.interop.engines.conftest import AGENTS, EMBEDDED, Start
from tests.interop.engines.driving import drive, script, until
from tests.whole_file import events_of_file

STORED = 4  # an earlier event, the message, the answer, and the end of the agent


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    """Return a database of ours, which has a write-ahead log, with one event."""
    file = tmp_path / "x.db"
    async with DatabaseSessionService(f"sqlite:///{file}") as service:
        session = await service.create_session(app_name="steps", user_id="u", session_id="first")
        await service.append_event(session, Event(author="me"))
    return file


def stored_in(file: Path, version: str) -> dict[str, str]:
    driver = "sqlite" if version == EMBEDDED else "sqlite+aiosqlite"
    return {"kind": "database", "url": f"{driver}:///{file}"}


@pytest.mark.rule("N6")
async def test_a_closed_engine_leaves_one_file(version: str, start_engine: Start, file: Path) -> None:
    started = await start_engine(version, AGENTS / "steps", sessions=stored_in(file, version))
    key = await started.engine.new_session("u")
    await drive(started.engine, key, script(["done"]))
    await started.engine.close()
    assert events_of_file(file) == STORED
    assert [path.name for path in file.parent.glob("x.db*")] == ["x.db"]


async def test_an_engine_that_turns_to_another_database_leaves_one_file(newest: str, start_engine: Start, file: Path) -> None:
    started = await start_engine(newest, AGENTS / "steps", sessions=stored_in(file, newest))
    key = await started.engine.new_session("u")
    await drive(started.engine, key, script(["done"]))
    await started.engine.open(stored_in(file.with_name("y.db"), newest))
    assert events_of_file(file) == STORED
    assert not file.with_name("x.db-wal").exists()


@pytest.mark.rule("N6")
@pytest.mark.parametrize("how", ["killed", "blocked"])
async def test_a_child_that_does_not_end_by_itself_leaves_one_file(newest: str, start_engine: Start, file: Path, how: str) -> None:
    started = await start_engine(newest, AGENTS / "steps", sessions=stored_in(file, newest))
    key = await started.engine.new_session("u")
    await drive(started.engine, key, script(["done"]))
    running = None
    if how == "killed":
        assert started.engine.child.pid is not None
        os.kill(started.engine.child.pid, signal.SIGKILL)
        await until(lambda: started.engine.child.ended)
    else:
        marked = file.with_name("marked")
        running = asyncio.ensure_future(drive(started.engine, key, script(["call", "block", {"path": str(marked)}]), Debugger()))
        await until(marked.exists)
    await started.engine.close()
    if running is not None:
        running.cancel()
        await asyncio.wait([running])
    assert events_of_file(file) >= STORED
    assert [path.name for path in file.parent.glob("x.db*")] == ["x.db"]


async def test_a_reader_keeps_nothing_out_of_the_file(newest: str, start_engine: Start, file: Path) -> None:
    """The last connection is a reader's, which cannot move the log's content into the file."""
    started = await start_engine(newest, AGENTS / "steps", sessions=stored_in(file, newest))
    key = await started.engine.new_session("u")
    await drive(started.engine, key, script(["done"]))
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as reader:
        assert reader.execute("SELECT count(*) FROM events").fetchone() == (STORED,)
        await started.engine.close()
    assert events_of_file(file) == STORED


WAITING_AGENT = """
import asyncio

from google.adk.agents import BaseAgent
from google.adk.events import Event
from google.genai import types


class Waiting(BaseAgent):
    async def _run_async_impl(self, ctx):
        content = types.Content(role="model", parts=[types.Part(text="ready")])
        yield Event(invocation_id=ctx.invocation_id, author=self.name, content=content)
        await asyncio.sleep(3600)


root_agent = Waiting(name="waiting")
"""


@pytest.mark.rule("N6")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), *[(signal.SIGTERM, 143)] * 3])
def test_a_command_that_is_ended_leaves_one_file(tmp_path: Path, number: int, status: int) -> None:
    file, agent = tmp_path / "x.db", tmp_path / "waiting"
    agent.mkdir()
    (agent / "agent.py").write_text(WAITING_AGENT)
    words = ["run", str(agent), "--engine", "embedded-process", "--db", str(file), "--message", "hi"]
    with subprocess.Popen([sys.executable, "-m", "inspector_app", *words], stdout=-1, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if "ready" in line:
                break
        process.send_signal(number)
        assert process.wait(60) == status
    assert events_of_file(file) >= 2
    assert [path.name for path in tmp_path.glob("x.db*")] == ["x.db"]
