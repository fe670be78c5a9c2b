"""What the programs share: a model with given replies, a run, and its events and requests as JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from google.adk.agents import BaseAgent
from google.adk.apps import App
from google.adk.events import Event
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types
from pydantic import Field


class Scripted(BaseLlm):
    """Gives its replies in order: a text, calls as (name, arguments), a response, or an error to raise.

    Attributes:
        requests: the requests it got.
    """

    replies: list[Any]
    requests: list[Any] = Field(default_factory=list)

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        self.requests.append(
            {
                "contents": [
                    {"role": content.role, "parts": [shown(part) for part in content.parts or []]} for content in llm_request.contents
                ],
                "instruction": llm_request.config.system_instruction,
                "tools": list(llm_request.tools_dict),
            }
        )
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        yield reply if isinstance(reply, LlmResponse) else LlmResponse(content=said(reply))


def scripted(*replies: Any) -> Scripted:
    """Return a model with these replies."""
    return Scripted(model="gemini-2.5-flash", replies=list(replies))


def said(reply: Any) -> types.Content:
    """Return a model's answer: a text, or calls as (name, arguments)."""
    calls = [] if isinstance(reply, str) else reply
    parts = [types.Part(function_call=types.FunctionCall(name=name, args=args)) for name, args in calls]
    return types.Content(role="model", parts=parts or [types.Part(text=reply)])


async def run(agent: BaseAgent, *messages: str, state: dict[str, Any] | None = None, plugins: Any = (), **more: Any) -> dict[str, Any]:
    """Send messages to an agent in a new session.

    Args:
        agent: the agent.
        messages: the user's messages; one if none is given.
        state: the session's state at the beginning.
        plugins: the app's plugins.
        more: further arguments of each `run_async`.

    Returns:
        The stored events, the state, and what each run raised.
    """
    service = InMemorySessionService()
    runner = Runner(app=App(name="app", root_agent=agent, plugins=list(plugins)), session_service=service)
    await service.create_session(app_name="app", user_id="u", session_id="s", state=state or {})
    raised = []
    for text in messages or ("go",):
        message = types.Content(role="user", parts=[types.Part(text=text)])
        try:
            async for _ in runner.run_async(user_id="u", session_id="s", new_message=message, **more):
                pass
        except Exception as error:
            raised.append(f"{type(error).__name__}: {error}")
    session = await service.get_session(app_name="app", user_id="u", session_id="s")
    # google-adk 2 stores an event for a failed run; decision 0170 says why there is none here.
    events = [shown_event(event) for event in session.events if event.content or not event.error_code]
    return {"events": events, "state": session.state, "raised": raised}


def shown_event(event: Event) -> dict[str, Any]:
    """Return what an event says and does."""
    actions = event.actions.model_dump(mode="json", exclude_none=True)
    actions.pop("set_model_response", None)  # a mark of the event here
    parts = (event.content.parts if event.content else None) or []
    return {
        "author": event.author,
        "parts": [shown(part) for part in parts],
        "actions": {name: value for name, value in actions.items() if value not in ({}, [])},
    }


def shown(part: types.Part) -> Any:
    """Return a part without ids."""
    if part.function_call:
        return ["call", part.function_call.name, part.function_call.args]
    if part.function_response:
        return ["response", part.function_response.name, part.function_response.response]
    return part.model_dump(mode="json", exclude_none=True)


def print_result(main: Callable[[], Awaitable[Any]]) -> None:
    """Run a program and print its result, for the test that compares it."""
    sys.stdout.write("RESULT" + json.dumps(asyncio.run(main())) + "\n")
