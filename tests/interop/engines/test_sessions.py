"""Where sessions are stored, and runs that continue stored ones."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
from contextlib import aclosing, closing
from pathlib import Path

import pytest

from inspector_app.engines.adk_storage import StorageRefusedError, session_storage
from inspector_app.engines.child_calls import AgentCodeError
from inspector_app.engines.child_process import ChildError
from runtime.debugger.debugger import Debugger
from runtime.debugger.hold import Hold, Report
from runtime.events.event import Event
from runtime.sessions.session import SessionKey
from tests.architecture.source_rules import ROOT
from tests.interop.engines.conftest import AGENTS, EMBEDDED, Start, Started
from tests.interop.engines.driving import drive, text, until


def rows(file: Path) -> list[str]:
    with closing(sqlite3.connect(file)) as database:
        return [row[0] for row in database.execute("SELECT id FROM events ORDER BY rowid")]


@pytest.mark.parametrize("kind", ["sqlite", "database"])
async def test_google_adks_own_service_stores_the_events(version: str, start_engine: Start, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "sessions.db"
    where = {"path": str(file)} if kind == "sqlite" else {"url": f"sqlite+aiosqlite:///{file}"}
    started = await start_engine(version, AGENTS / "line", sessions={"kind": kind, **where})
    key = await started.engine.new_session("u")
    events = await drive(started.engine, key, text("go"))
    assert rows(file) == [event.id for event, _ in started.committed]
    assert [event.id for event in events] == rows(file)[1:]
    with closing(sqlite3.connect(file)) as database:
        tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert ("adk_internal_metadata" in tables) == (kind == "database")
    assert any(name.startswith("inspector_") for name in tables) == (version == EMBEDDED)


async def test_a_killed_run_is_resumed_from_its_last_checkpoint(version: str, start_engine: Start, tmp_path: Path) -> None:
    sessions = {"kind": "sqlite", "path": str(tmp_path / "sessions.db")}
    started = await start_engine(version, AGENTS / "line", sessions=sessions)
    key = await started.engine.new_session("u")
    async with aclosing(started.engine.run(key, text("go"))) as events:
        async for event in events:
            if event.author == "two" and event.content:
                break
        invocation_id = event.invocation_id
        assert started.engine.child.pid is not None
        os.kill(started.engine.child.pid, signal.SIGKILL)
        await started.engine.close()
    before = rows(tmp_path / "sessions.db")
    again = await start_engine(version, AGENTS / "line", sessions=sessions)
    resumed = await drive(again.engine, key, None, invocation_id=invocation_id)
    assert rows(tmp_path / "sessions.db")[: len(before)] == before
    assert "one" not in {event.author for event in resumed}
    assert resumed[-1].actions.end_of_agent
    stored = await again.engine.session(key)
    assert stored is not None
    assert sorted(stored[0]) == sorted(f"{name}_{number}" for name in ("one", "two", "three") for number in range(3))


async def test_an_app_that_is_not_resumable_says_so(version: str, start_engine: Start) -> None:
    started = await start_engine(version, AGENTS / "spread")
    assert started.engine.why_not("resume") == "The app is not resumable: its App has no ResumabilityConfig(is_resumable=True)."


async def test_sessions_have_the_given_id_or_a_new_one(newest: str, start_engine: Start) -> None:
    started = await start_engine(newest, AGENTS / "line")
    first, second = await started.engine.new_session("u"), await started.engine.new_session("u", session_id="given")
    assert second.session_id == "given" != first.session_id
    assert await started.engine.session(first) == ({}, [])
    assert await started.engine.session(first._replace(session_id="missing")) is None


async def test_a_database_that_cannot_be_opened_is_an_error(newest: str, start_engine: Start, tmp_path: Path) -> None:
    (tmp_path / "sessions.db").write_bytes(b"no database" * 200)
    with pytest.raises(ChildError, match="database"):
        started = await start_engine(newest, AGENTS / "line", sessions={"kind": "sqlite", "path": str(tmp_path / "sessions.db")})
        await started.engine.new_session("u")
    with pytest.raises(ChildError, match="There is no session service of kind 'paper'"):
        await start_engine(newest, AGENTS / "line", sessions={"kind": "paper"})


async def run_held_at_each_event(started: Started) -> tuple[list[Event], list[Report]]:
    """Run an agent, and check at each held event that nothing is committed after it; return the events and the debugger's reports."""
    key = await started.engine.new_session("u")

    async def at_hold(hold: Hold) -> None:
        for _ in range(5):
            stored = await started.engine.session(key)
        assert stored is not None and debugger.held is not None and stored[1][-1].id == debugger.held.id
        debugger.step()

    told: list[Report] = []
    debugger = Debugger(paused=True, on_report=told.append)
    return await drive(started.engine, key, text("go"), debugger, at_hold), told


async def test_parallel_branches_commit_nothing_while_an_event_is_held(version: str, start_engine: Start) -> None:
    """Each branch runs to its next event and waits there, so no version runs ahead: its event is committed once it is pulled."""
    events, told = await run_held_at_each_event(await start_engine(version, AGENTS / "spread"))
    assert len(events) == 6
    assert told == []


async def test_parallel_nodes_of_a_graph_commit_nothing_while_an_event_is_held(start_engine: Start) -> None:
    events, told = await run_held_at_each_event(await start_engine("2.13", AGENTS / "fan"))
    texts = [part.text for event in events for part in (event.content.parts if event.content else None) or []]
    assert texts == ["left 0", "right 0", "left 1", "right 1", "left 2", "right 2"]
    assert told == []


async def test_an_event_that_ran_ahead_is_reported_to_the_debugger(start_engine: Start) -> None:
    started = await start_engine("2.13", AGENTS / "beside")
    key = await started.engine.new_session("u")
    told: list[Report] = []

    async def at_hold(hold: Hold) -> None:
        await until(lambda: told)
        debugger.resume()

    debugger = Debugger(paused=True, on_report=told.append)
    (held,) = await drive(started.engine, key, text("go"), debugger, at_hold)
    (report,) = told
    assert (report.kind, report.text) == ("ahead", "beside ran ahead: it has committed an event while the run is held.")
    assert report.event is not None
    assert [event.id for event, _ in started.committed][1:] == [held.id, report.event.id]


@pytest.mark.parametrize("name", ["v1.db", "sqlite.db", "ours.db"])
async def test_a_stored_session_is_continued_in_its_own_layout(version: str, start_engine: Start, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    shutil.copy(ROOT / "tests" / "data" / name, file)
    with closing(sqlite3.connect(file)) as database:
        app_name, user_id, session_id = database.execute("SELECT app_name, user_id, id FROM sessions").fetchone()
    before = rows(file)
    agent = tmp_path / app_name
    shutil.copytree(AGENTS / "line", agent)
    code = (agent / "agent.py").read_text().replace('App(\n    name="line"', f'App(\n    name="{app_name}"')
    (agent / "agent.py").write_text(code)
    adk = {"2.13": "2.13.0", "1.39": "1.39.1", "1.25": "1.25.0"}.get(version, "2.13.0")
    if version == "1.25" and name != "ours.db":
        with pytest.raises(StorageRefusedError, match="google-adk 2 has written events into it"):
            session_storage(str(file), adk)
        started = await start_engine(version, agent, sessions=session_storage(str(file), "1.28.0"))
        with pytest.raises(AgentCodeError, match="node_info"):  # it would fail in the run
            await drive(started.engine, SessionKey(app_name, user_id, session_id), text("continue"))
        assert rows(file) == before
        return
    started = await start_engine(version, agent, sessions=session_storage(str(file), adk))
    key = SessionKey(app_name, user_id, session_id)
    events = await drive(started.engine, key, text("continue"))
    assert rows(file)[: len(before)] == before
    assert rows(file)[len(before) + 1 :] == [event.id for event in events]
