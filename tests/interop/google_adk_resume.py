"""A program that resumes sessions with google-adk, and the trees that it resumes."""

from __future__ import annotations

import json

from tests.fixture_paths import fixtures_dir

TREES = {tree["name"]: tree for tree in json.loads((fixtures_dir() / "open" / "prefixes-1.39.1.json").read_text("utf-8"))}


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
