"""A language model that answers from a script, and the conversion of runs to JSON. Written for google-adk's public names."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from typing import Any

from google.adk.models import BaseLlm, LLMRegistry, LlmRequest, LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.genai import types

# Agent name → its model's answers: texts, lists of (tool, arguments), or functions of the request that return one of these.
REPLIES: dict[str, list[Any]] = {}

ASKED: list[Any] = []  # the request of each model call
SCENARIOS: dict[str, Any] = {}


def scenario(function: Any) -> Any:
    """Register a scenario: an async function without arguments that returns JSON."""
    SCENARIOS[function.__name__] = function
    return function


class FakeGemini(BaseLlm):
    """Serves every model whose name begins with `gemini-`, so that agents name their model as in the docs."""

    @classmethod
    def supported_models(cls) -> list[str]:
        return [r"gemini-.*"]

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        name = re.search(r'name is "(\w+)"', str(llm_request.config.system_instruction)).group(1)  # type: ignore[union-attr]
        config = llm_request.config
        tools = list(config.tools or [])
        ASKED.append(
            {
                "agent": name,
                "contents": [[content.role, parts_of(content)] for content in llm_request.contents],
                "tools": sorted(declared.name for tool in tools for declared in tool.function_declarations or []),
                "built_in": sorted(key for tool in tools for key in tool.model_dump(exclude_none=True) if key != "function_declarations"),
                "schema": bool(config.response_schema or config.response_json_schema),
                "temperature": config.temperature,
            }
        )
        reply = REPLIES[name].pop(0)
        while callable(reply):
            reply = reply(llm_request)
        if isinstance(reply, Exception):
            raise reply
        if stream and isinstance(reply, str):
            for word in reply.split():
                yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=word + " ")]), partial=True)
        parts = (
            [types.Part(text=reply)]
            if isinstance(reply, str)
            else [types.Part(function_call=types.FunctionCall(name=tool, args=args)) for tool, args in reply]
        )
        yield LlmResponse(content=types.Content(role="model", parts=parts))


LLMRegistry.register(FakeGemini)


def parts_of(content: types.Content | None) -> list[Any]:
    shown: list[Any] = []
    for part in (content.parts if content else None) or []:
        if part.text is not None:
            shown.append(part.text)
        if part.function_call:
            shown.append({"call": part.function_call.name, "args": without_ids(part.function_call.args)})
        if part.function_response:
            shown.append({"result_of": part.function_response.name, "response": without_ids(part.function_response.response)})
        if part.inline_data:
            shown.append({"data": len(part.inline_data.data or b""), "mime": part.inline_data.mime_type})
    return shown


def without_ids(value: Any) -> Any:
    """Return JSON without the values that differ from run to run."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json", exclude_none=True, by_alias=True)
    if isinstance(value, dict):
        return {key: without_ids(item) for key, item in value.items() if key not in ("id", "timestamp", "custom_metadata")}
    return [without_ids(item) for item in value] if isinstance(value, list) else value


def shown(event: Any) -> dict[str, Any]:
    """Return an event's content and actions as JSON, without empty parts."""
    actions = event.actions
    found = {
        "author": event.author,
        "parts": parts_of(event.content),
        "branch": event.branch,
        "partial": event.partial,
        "error": [event.error_code, event.error_message] if event.error_code else None,
        "long_running": len(event.long_running_tool_ids or ()),
        "state": without_ids(actions.state_delta),
        "artifacts": actions.artifact_delta,
        # Ours is on the call event too, as the seeds have it.
        "transfer": None if event.get_function_calls() else actions.transfer_to_agent,
        "escalate": actions.escalate,
        "skips_summary": actions.skip_summarization,
        "confirmations": sorted(c.hint for c in actions.requested_tool_confirmations.values()),
        "checkpoint": actions.agent_state,
        "end": actions.end_of_agent,
        "metadata": {key: value for key, value in (event.custom_metadata or {}).items() if not key.startswith("inspector")},
    }
    return {key: value for key, value in found.items() if value}


def text(words: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=words)])


class Talk:
    """A session and its Runner."""

    def __init__(self, agent: Any = None, *, state: dict[str, Any] | None = None, service: Any = None, **more: Any) -> None:
        self.service = service or InMemorySessionService()
        self.names = {"user_id": "u", "session_id": "s"}
        if agent is not None:
            more.update(agent=agent, app_name="docs")
        self.runner = Runner(session_service=self.service, **more)
        self.app_name = self.runner.app_name
        self.state = state
        self.begun = False

    async def say(self, message: str | types.Content | None, **more: Any) -> list[dict[str, Any]]:
        """Run one invocation and return its events as JSON."""
        return [shown(event) for event in await self.events(message, **more)]

    async def events(self, message: str | types.Content | None, **more: Any) -> list[Any]:
        if not self.begun:
            await self.service.create_session(app_name=self.app_name, state=self.state, **self.names)
            self.begun = True
        content = text(message) if isinstance(message, str) else message
        run = self.runner.run_async(**self.names, new_message=content, **more)
        return [event async for event in run]

    async def session(self) -> Any:
        return await self.service.get_session(app_name=self.app_name, **self.names)

    async def end(self) -> dict[str, Any]:
        """Return the stored session as JSON."""
        session = await self.session()
        return {"state": without_ids(session.state), "events": [shown(event) for event in session.events]}


async def run_all() -> dict[str, Any]:
    """Run every scenario; the result of one that fails is its exception."""
    results: dict[str, Any] = {}
    for name, function in SCENARIOS.items():
        REPLIES.clear()
        ASKED.clear()
        try:
            async with asyncio.timeout(20):
                result = await function()
        except Exception as error:
            result = {"failed": f"{type(error).__name__}: {error}"}
        # The order of two parallel agents' requests is random.
        results[name] = {"result": result, "asked": sorted(ASKED, key=lambda request: request["agent"])}
    return results
