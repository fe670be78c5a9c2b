"""The real google-adk opens our session after every event of a run, and resumes it to the end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runtime.events import Event
from runtime.sessions import DatabaseSessionService
from tests.agent_specs import build_agent, message, shown
from tests.fixture_paths import fixtures_dir
from tests.interop.google_adk import adk_1_python, adk_python, run_adk
from tests.seeds.running import runner_for, stored

TREES = {tree["name"]: tree for tree in json.loads((fixtures_dir() / "open" / "prefixes-1.39.1.json").read_text("utf-8"))}
NAMES = ["seq_llm", "seq_tools", "loop_llm", "nested", "solo_tool", "transfer"]

RESUME = """
from google.adk.agents import LlmAgent, LoopAgent, SequentialAgent
from google.adk.apps import App, ResumabilityConfig
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner

class Script(BaseLlm):
    replies: list
    async def generate_content_async(self, llm_request, stream=False):
        said = sum(content.role == "model" for content in llm_request.contents)
        reply = self.replies[min(said, len(self.replies) - 1)]
        parts = [types.Part(text=reply["text"])] if "text" in reply else [
            types.Part(function_call=types.FunctionCall(name=name, args=args)) for name, args in reply["calls"]
        ]
        yield LlmResponse(content=types.Content(role="model", parts=parts))

def fetch_prices(item: str, tool_context) -> dict:
    tool_context.state["price_" + item] = 100 * len(item)
    return {"item": item, "cents": 100 * len(item)}

def build(spec):
    common = {"name": spec["name"], "sub_agents": [build(sub) for sub in spec.get("sub_agents", [])]}
    if spec["type"] == "sequential":
        return SequentialAgent(**common)
    if spec["type"] == "loop":
        return LoopAgent(**common, max_iterations=spec["max_iterations"])
    more = {"description": spec.get("description", ""), "output_key": spec.get("output_key")}
    tools = [fetch_prices] if spec.get("tools") else []
    return LlmAgent(**common, **more, model=Script(model="script", replies=spec["script"]), tools=tools)

found = []
for file in args[2:]:
    service = DatabaseSessionService("sqlite+aiosqlite:///" + file)
    app = App(name="app", root_agent=build(json.loads(args[0])), resumability_config=ResumabilityConfig(is_resumable=True))
    runner = Runner(app=app, session_service=service)
    async for event in runner.run_async(user_id="u", session_id="s", invocation_id=args[1]):
        pass
    session = await service.get_session(app_name="app", user_id="u", session_id="s")
    ended = [event.author for event in session.events if event.actions.end_of_agent]
    found.append({"state": session.state, "ended": ended, "events": len(session.events)})
return found
"""


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
