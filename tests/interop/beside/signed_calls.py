"""A call that waits for its approval in a signed session: `FILE ask`, `FILE approve` or `FILE restore`."""

from __future__ import annotations

import sys
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.plugins import ToolCallIntegrityPlugin
from google.adk.runners import Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools import FunctionTool
from google.genai import types

from tests.interop.beside.common import print_result, scripted

paid: list[Any] = []


def pay(amount: float, to: dict[str, Any]) -> str:
    """Pay."""
    paid.append([amount, to])
    return "paid"


async def main() -> Any:
    """Return what was paid, or the error."""
    file, what = sys.argv[1:3]
    service, names = SqliteSessionService(file), {"app_name": "app", "user_id": "u"}
    replies = [[("pay", {"amount": 1.0, "to": {"name": "Ä", "at": [1, None]}})], "It waits."] if what == "ask" else ["done"]
    tool = FunctionTool(pay, require_confirmation=True)
    agent = LlmAgent(name="agent", model=scripted(*replies), tools=[tool])
    app = App(name="app", root_agent=agent, plugins=[ToolCallIntegrityPlugin([b"new", b"old"] if what == "approve" else b"old")])
    runner, message = Runner(app=app, session_service=service), types.Part(text="go")
    if what == "ask":
        await service.create_session(**names, session_id="s")
    else:
        session = await service.get_session(**names, session_id="s")
        calls = [call for event in session.events for call in event.get_function_calls()]
        asked = next(call for call in calls if call.name == "adk_request_confirmation")
        message = types.Part(function_response=types.FunctionResponse(id=asked.id, name=asked.name, response={"confirmed": True}))
    session_id = "s"
    if what == "restore":
        copy = await service.create_session(**names, session_id="t")
        for event in session.events:
            await service.append_event(copy, ToolCallIntegrityPlugin.prepare_restored_event(event))
        session_id = "t"
    try:
        content = types.Content(role="user", parts=[message])
        async for _ in runner.run_async(user_id="u", session_id=session_id, new_message=content):
            pass
    except Exception as error:
        return f"{type(error).__name__} from {type(error.__cause__).__name__}"
    return paid


if __name__ == "__main__":
    print_result(main)
