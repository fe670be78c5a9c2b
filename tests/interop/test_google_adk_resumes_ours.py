"""The real google-adk opens our session after every event of a run, and resumes it to the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runtime.events import Event
from runtime.sessions import DatabaseSessionService
from tests.agent_specs import build_agent, message, shown
from tests.interop.google_adk import adk_1_python, adk_python, run_adk
from tests.interop.google_adk_resume import RESUME, TREES
from tests.seeds.running import runner_for, stored

NAMES = ["seq_llm", "seq_tools", "loop_llm", "nested", "solo_tool", "transfer"]


async def _whole_run(tree: dict[str, Any]) -> list[Event]:
    runner = runner_for(build_agent(tree["agent"]), resumable=True)
    async for _ in runner.run_async(user_id="u", session_id="s", new_message=message(tree["message"])):
        pass
    return list((await stored(runner)).events)


# google-adk's node runtime resumes an LlmAgent root by calling its model again, so it does not follow a committed transfer.
NOT_RESUMED = {("transfer", "2.13")}


@pytest.mark.parametrize(("name", "version"), [(name, of) for name in NAMES for of in ("1.39", "2.13") if (name, of) not in NOT_RESUMED])
async def test_google_adk_resumes_from_every_event(name: str, version: str, tmp_path: Path) -> None:
    python = adk_1_python if version == "1.39" else adk_python
    tree = TREES[name]
    whole = await _whole_run(tree)
    files = []
    for kept in range(1, len(whole) + 1):
        files.append(str(tmp_path / f"{kept}.db"))
        async with DatabaseSessionService(f"sqlite:///{files[-1]}") as service:
            session = await service.create_session(app_name="app", user_id="u", session_id="s")
            for event in whole[:kept]:
                await service.append_event(session, event.model_copy(deep=True))
    found = run_adk(RESUME, json.dumps(tree["agent"]), whole[0].invocation_id, *files, python=python())
    finished = {key: value for event in whole for key, value in event.actions.state_delta.items()}
    for kept, after in enumerate(found, 1):
        assert after["state"] == finished, f"after {kept} events"
        assert tree["agent"]["name"] in after["ended"], f"after {kept} events"
        assert after["events"] >= len(whole), f"after {kept} events, of {[shown(event) for event in whole]}"
