"""The rewind plan, compared with the rewind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runtime.agents import LlmAgent, ToolContext
from runtime.artifacts import InMemoryArtifactService
from runtime.errors import InvocationNotFoundError
from runtime.models.scripted_llm import ScriptedLlm
from runtime.running.rewind_plan import RewindPlan, UndoneFile, rewind_plan
from runtime.sessions import DatabaseSessionService
from runtime.sessions.session import SessionKey
from runtime.sessions.state import Change
from runtime.storage.reading.reader import StoredDatabase
from tests.fixture_paths import copy_of
from tests.seeds.running import run, runner_for, stored

KEY = SessionKey("app", "u", "s")


async def work(number: int, tool_context: ToolContext) -> dict[str, int]:
    """Writes state in three scopes and two files."""
    tool_context.state.update({"n": number, f"n{number}": [number], "user:n": number, "app:n": number, "given": None})
    await tool_context.save_artifact("own.txt", {"text": str(number)})
    if number > 1:
        await tool_context.save_artifact("late.txt", {"text": str(number)})
        await tool_context.save_artifact("user:mine.txt", {"text": str(number)})
    return {"done": number}


def agent(number: int) -> LlmAgent:
    def reply(request: Any) -> Any:
        last = request.contents[-1].parts[-1]
        return "ok" if last.function_response else {"calls": [["work", {"number": number}]]}

    return LlmAgent(name="agent", model=ScriptedLlm(replies=[reply] * 9), tools=[work])


def plan_of(path: Path, invocation_id: str) -> RewindPlan:
    with StoredDatabase.open(str(path)) as database:
        return rewind_plan(database.history(KEY), KEY, database.state(KEY), invocation_id)


async def test_the_plan_matches_the_rewind(tmp_path: Path) -> None:
    path, files = tmp_path / "s.db", InMemoryArtifactService()
    async with DatabaseSessionService(str(path)) as service:
        await service.create_session(app_name="app", user_id="u", session_id="s", state={"given": 7})
        for number in (1, 2, 3):
            await run(runner_for(agent(number), service, artifact_service=files), f"number {number}")
        runner = runner_for(agent(0), service, artifact_service=files)
        ids = list(dict.fromkeys(event.invocation_id for event in (await stored(runner)).events))
        plan = plan_of(path, ids[1])
        assert [(each.invocation_id, each.message, each.events, each.status) for each in plan.undone] == [
            (ids[1], "number 2", 4, "finished"),
            (ids[2], "number 3", 4, "finished"),
        ]
        assert sorted(plan.state, key=lambda change: change.key) == [
            Change("n", 3, 1, "changed"),
            Change("n2", [2], None, "changed"),
            Change("n3", [3], None, "changed"),
        ]
        assert plan.files == (UndoneFile("late.txt", 1, None), UndoneFile("own.txt", 2, 0))
        assert plan.stays == ("app:n", "user:n", "file user:mine.txt")
        assert plan.tools == {"work": 2} and plan.unknown == ()

        await runner.rewind_async(user_id="u", session_id="s", rewind_before_invocation_id=ids[1])
        event = (await stored(runner)).events[-1]
        assert event.actions.state_delta == {change.key: change.after for change in plan.state}
        assert sorted(event.actions.artifact_delta) == [file.name for file in plan.files]
        with pytest.raises(InvocationNotFoundError, match="already taken it back"):
            plan_of(path, ids[2])
        again = plan_of(path, ids[0])
        assert [each.invocation_id for each in again.undone] == [ids[0]]
        assert Change("given", None, 7, "changed") in again.state


async def test_unrecorded_values_are_listed(tmp_path: Path) -> None:
    theirs = copy_of("open/adk2.13.0-v1-state_delta_arg.db", tmp_path)
    with StoredDatabase.open(str(theirs)) as database:
        key = database.sessions()[0].key
        history = database.history(key)
        plan = rewind_plan(history, key, database.state(key), history.events[0].invocation_id)
    written = {name for event in history.events for name in event.actions.state_delta if ":" not in name}
    assert set(plan.unknown) == written == {change.key for change in plan.state if change.after is None} != set()
