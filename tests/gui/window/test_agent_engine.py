"""The sessions of an Agent Engine in the window: opened by the engine's URI, read-only until writing is allowed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from google.genai import types

from inspector_app.workspace.manual_events import ManualEvents
from inspector_app.workspace.open_databases import OpenDatabases
from runtime.events import Event, EventActions
from runtime.sessions import VertexAiSessionService
from tests.agent_engine import PLACE, AgentEngine, agent_engine
from tests.gui.window.driver import WindowDriver

URI = f"agentengine://{PLACE}/reasoningEngines/7?app=desk"


async def _append(text: str, delta: dict[str, object]) -> None:
    async with VertexAiSessionService.of_uri(URI.partition("?")[0]) as service:
        key = {"app_name": "desk", "user_id": "u", "session_id": "s"}
        session = await service.get_session(**key) or await service.create_session(**key, state={"k": 1, "user:name": "Ann"})
        content = types.Content(role="model", parts=[types.Part(text=text)])
        event = Event(author="desk", invocation_id="e-1", content=content, actions=EventActions(state_delta=delta))
        await service.append_event(session, event)


def append(text: str, **delta: object) -> None:
    with ThreadPoolExecutor(1) as thread:  # the window's loop belongs to this one
        thread.submit(lambda: asyncio.run(_append(text, delta))).result()


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[AgentEngine]:
    with agent_engine() as server:
        monkeypatch.setenv("GOOGLE_VERTEX_BASE_URL", server.address)
        append("first", k=2)
        yield server


def test_an_engine_is_read_like_a_database_and_written_only_when_that_is_allowed(driver: WindowDriver, engine: AgentEngine) -> None:
    driver.inspector.features.opening.opening.open_path(URI)
    databases: OpenDatabases = driver.inspector.databases
    driver.run_until(lambda: databases.source(URI) is not None)
    driver.run_until_idle()
    source = databases.source(URI)
    assert source is not None and not source.writing_allowed
    assert driver.stream.rows()[-1] == "first"
    assert driver.state.values()["k"] == "2" and driver.state.values()["user:name"] == '"Ann"'
    asked = [method for method, _ in engine.asked]
    append("second", k=3)
    driver.run_until(lambda: driver.stream.rows()[-1] == "second")  # what others append appears
    written = [method for method, _ in engine.asked[len(asked) :] if method != "GET"]
    assert written == ["POST"]  # by the other, not by the window
    driver.inspector.tasks.spawn(databases.allow_writing(source), "Allowing")
    driver.run_until_idle()
    assert source.writing_allowed
    one = driver.inspector
    commits = ManualEvents(one.agents, one.current, one.run, one.tasks, one.messages)
    commits.commit("Editing", lambda drives, shown: drives.edit_state(shown.address.key, {"k": 4}))
    driver.run_until_idle()
    (stored,) = engine.sessions.values()
    assert stored.state["k"] == 4
    count = len(driver.stream.events())
    driver.run_until(lambda: one.catalog.sessions(URI)[0].event_count == 3)  # the copy has followed
    assert len(driver.stream.events()) == count == 3
