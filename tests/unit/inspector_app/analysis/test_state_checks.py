"""State that was lost: cleared by a rewind of google-adk, or overwritten by another call of the same turn."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from inspector_app.analysis.doctor import examine
from runtime.agents import LlmAgent, ToolContext
from runtime.apps import App, ResumabilityConfig
from runtime.events import Event, EventActions
from runtime.models.scripted_llm import ScriptedLlm
from runtime.runners import Runner
from runtime.sessions import DatabaseSessionService
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import fixtures_dir, manifest
from tests.seeds.running import run, runner_for
from tests.unit.inspector_app.analysis.v1_file import said, write_v1, wrote

HELLO, BYE = said("hello", "user"), said("bye")
AGAIN = said("again", "user", invocation_id="j")


def found(file: Path, kind: str) -> list[tuple[str, str]]:
    with StoredDatabase.open(str(file)) as database:
        return [(finding.level, finding.what) for finding in examine(database, file.name) if finding.kind == kind]


def rewound(delta: dict[str, Any], before: str = "j", **more: Any) -> dict[str, Any]:
    return {"author": "user", "invocation_id": "r", "actions": {"rewind_before_invocation_id": before, "state_delta": delta}, **more}


CLEARED: dict[str, tuple[list[dict[str, Any]], list[tuple[str, str]]]] = {
    "from the creation": ([rewound({"plan": None})], [("warning", "plan")]),
    "several": ([rewound({"plan": None, "size": None})], [("warning", "plan, size")]),
    "beside one that is restored": ([wrote({"n": 2}, invocation_id="j"), rewound({"n": 1, "plan": None})], [("warning", "plan")]),
    "new in what was taken back": ([wrote({"n": 2}, invocation_id="j"), rewound({"n": None})], []),
    "null before": ([wrote({"n": None}, invocation_id="j"), rewound({"n": None})], []),
    "cleared before": ([rewound({"plan": None}), rewound({"plan": None}, "i", invocation_id="q")], [("warning", "plan")]),
    "set again": ([rewound({"plan": None}), wrote({"plan": 2}, invocation_id="k")], [("note", "plan")]),
    "of the user": ([rewound({"user:plan": None, "app:plan": None, "temp:plan": None})], []),
    "no rewind": ([wrote({"plan": None}, invocation_id="j")], []),
    "no change": ([rewound({})], []),
}


@pytest.mark.parametrize("name", CLEARED)
def test_a_key_that_a_rewind_cleared_is_named(name: str, tmp_path: Path) -> None:
    events, expected = CLEARED[name]
    file = write_v1(tmp_path / "s.db", [HELLO, wrote({"other": 1}), AGAIN, said("so", invocation_id="j"), *events])
    words = [(level, f"The rewind set {keys} to null, which the session was created with.") for level, keys in expected]
    assert found(file, "cleared by a rewind") == words


async def test_a_key_that_was_overwritten_before_the_rewind_cleared_it_is_named_where_its_first_value_is_recorded(tmp_path: Path) -> None:
    async with DatabaseSessionService(str(tmp_path / "s.db")) as service:
        session = await service.create_session(app_name="app", user_id="u", session_id="s", state={"plan": "gold", "empty": None})
        for name, delta, target in (
            ("i", {"m": 1}, None),
            ("j", {"plan": "iron", "n": 1}, None),
            ("r", {"plan": None, "n": None, "empty": None}, "j"),
        ):
            actions = EventActions(state_delta=delta, rewind_before_invocation_id=target)
            await service.append_event(session, Event(author="user", invocation_id=name, actions=actions))
    expected = [("error", "The rewind set plan to null, which the session was created with.")]
    assert found(tmp_path / "s.db", "cleared by a rewind") == expected


async def test_this_programs_own_rewind_clears_nothing(tmp_path: Path) -> None:
    root = LlmAgent(name="root", model=ScriptedLlm(replies=["one", "two"]), output_key="plan")
    async with DatabaseSessionService(str(tmp_path / "s.db")) as service:
        await service.create_session(app_name="app", user_id="u", session_id="s", state={"plan": "gold", "size": 3})
        await run(runner_for(root, service), "go")
        session = await service.get_session(app_name="app", user_id="u", session_id="s")
        assert session is not None
        first = session.events[0].invocation_id
        await runner_for(root, service).rewind_async(user_id="u", session_id="s", rewind_before_invocation_id=first)
    assert found(tmp_path / "s.db", "cleared by a rewind") == []


REWINDS = [entry["file"] for entry in manifest() if entry["scenario"] == "rewind"]


@pytest.mark.parametrize("file", REWINDS)
def test_the_rewinds_of_every_google_adk_cleared_the_key_of_the_creation_alone(file: str) -> None:
    expected = [("warning", "The rewind set start to null, which the session was created with.")]
    assert found(fixtures_dir() / "open" / file, "cleared by a rewind") == expected


async def add(item: str, tool_context: ToolContext) -> dict[str, str]:
    """Adds an item."""
    items = list(tool_context.state.get("items", []))
    await asyncio.sleep(0)
    tool_context.state["items"] = [*items, item]
    return {"added": item}


def add_at_once(item: str, tool_context: ToolContext) -> dict[str, str]:
    """Adds an item."""
    tool_context.state["items"] = [*tool_context.state.get("items", []), item]
    return {"added": item}


@pytest.mark.parametrize("resumable", [False, True])
@pytest.mark.parametrize("tool", [add, add_at_once])
async def test_calls_that_run_at_the_same_time_lose_what_others_added(tool: Any, resumable: bool, tmp_path: Path) -> None:
    calls = [[tool.__name__, {"item": item}] for item in ("pear", "plum", "fig")]
    root = LlmAgent(name="root", model=ScriptedLlm(replies=[{"calls": calls}, "ok", {"calls": calls[:1]}, "ok"]), tools=[tool])
    app = App(name="app", root_agent=root, resumability_config=ResumabilityConfig(is_resumable=resumable))
    async with DatabaseSessionService(str(tmp_path / "s.db")) as service:
        await service.create_session(app_name="app", user_id="u", session_id="s")
        for message in ("go", "more"):
            await run(Runner(app=app, session_service=service), message)
    lost = 'items has what add(item: "fig") added, and not what add(item: "pear") and add(item: "plum") of the same turn did.'
    assert found(tmp_path / "s.db", "lost update") == ([("warning", lost)] if tool is add else [])
    with StoredDatabase.open(str(tmp_path / "s.db")) as database:
        writes = database.writes(database.listing()[0].key, "items")
    if tool is add and resumable:  # the second call's result carries what the third one wrote
        assert [(write.after, write.tools) for write in writes[:3]] == [(["pear"], ("add",)), (["fig"], ()), (["fig"], ("add",))]
    else:
        assert {write.tools for write in writes} == {(tool.__name__,)}
