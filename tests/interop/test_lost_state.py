"""State that google-adk loses, as each version stores it: what calls of one turn added to a list, and what a rewind clears."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from inspector_app.analysis.doctor import examine
from runtime.storage.reading.reader import StoredDatabase
from tests.interop.google_adk import adk_1_25_python, adk_1_python, adk_python, run_adk

WRITE = """
import asyncio
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import Runner
from google.adk.tools import ToolContext

async def add(item: str, tool_context: ToolContext):
    items = list(tool_context.state.get("items", []))
    await asyncio.sleep(0)
    tool_context.state["items"] = [*items, item]
    return {"added": item}

async def add_safely(item: str, tool_context: ToolContext):
    await asyncio.sleep(0)
    tool_context.state["safe"] = [*tool_context.state.get("safe", []), item]
    return {"added": item}

async def replace(item: str, tool_context: ToolContext):
    await asyncio.sleep(0)
    tool_context.state["replaced"] = [item]
    return {"searched": item}

TURNS = {"one": ["pear"], "two": ["plum", "fig"], "three": ["lime", "date", "kiwi"]}

class Calling(BaseLlm):
    async def generate_content_async(self, llm_request, stream=False):
        last = llm_request.contents[-1].parts[0]
        names = ("add", "add_safely", "replace") if last.text else ()
        calls = [types.FunctionCall(name=name, args={"item": item}) for name in names for item in TURNS[last.text]]
        parts = [types.Part(function_call=call) for call in calls] or [types.Part(text="done")]
        yield LlmResponse(content=types.Content(role="model", parts=parts))

service = DatabaseSessionService("sqlite+aiosqlite:///" + args[0])
agent = LlmAgent(name="agent", model=Calling(model="m"), tools=[add, add_safely, replace])
runner = Runner(app_name="app", agent=agent, session_service=service)
await service.create_session(app_name="app", user_id="u", session_id="s", state={"plan": "gold"})
ids = []
for text in TURNS:
    message = types.Content(role="user", parts=[types.Part(text=text)])
    async for event in runner.run_async(user_id="u", session_id="s", new_message=message):
        ids.append(event.invocation_id)
await runner.rewind_async(user_id="u", session_id="s", rewind_before_invocation_id=ids[-1])
"""


TOOLS = "add or add_safely or replace"  # their arguments are the same


@pytest.mark.parametrize("python", [adk_python, adk_1_python, adk_1_25_python], ids=["2.13", "1.39", "1.25"])
async def test_what_was_lost_is_found_and_nothing_else(python: Callable[[], str], tmp_path: Path) -> None:
    file = str(tmp_path / "s.db")
    await asyncio.to_thread(run_adk, WRITE, file, python=python())
    with StoredDatabase.open(file) as database:
        found = [finding.what for finding in examine(database, file)]
        key = database.listing()[0].key
        assert {
            write.tool_text for name in ("items", "safe", "replaced") for write in database.writes(key, name) if write.author == "agent"
        } == {TOOLS}
    assert found == [
        f'items has what {TOOLS}(item: "fig") added, and not what {TOOLS}(item: "plum") of the same turn did.',
        f'items has what {TOOLS}(item: "kiwi") added, and not what {TOOLS}(item: "lime") and {TOOLS}(item: "date") of the same turn did.',
        "The rewind set plan to null, which the session was created with.",
    ]
