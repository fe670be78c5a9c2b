"""A program that calls tools of MCP servers with the embedded runtime: `python -m tests.mcp_client PLACE...`, each a URL or a file.

It prints the version of the package mcp and, for each server, what the model sees. The Python of another environment can run it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from google.genai import types
from mcp import StdioServerParameters

from runtime.agents import LlmAgent, McpInstructionProvider
from runtime.models.llm_request import LlmRequest
from runtime.models.scripted_llm import Rule, ScriptedLlm, instruction_text
from runtime.runners import InMemoryRunner
from runtime.tools import McpToolset
from runtime.tools.mcp_tool import SseConnectionParams, StdioConnectionParams, StreamableHTTPConnectionParams
from runtime.tools.mcp_tool.mcp_package import MCPError, is_timeout, read_timeout
from runtime.tools.mcp_tool.mcp_session_manager import MCPSessionManager

LONG = 60.0  # seconds


def params_of(place: str) -> Any:
    """Return how to reach a server."""
    if place.endswith("/sse"):
        return SseConnectionParams(url=place, timeout=LONG)
    if place.endswith("/mcp"):
        return StreamableHTTPConnectionParams(url=place, timeout=LONG)
    return StdioConnectionParams(server_params=StdioServerParameters(command=sys.executable, args=["-S", place]), timeout=LONG)


async def told(place: str, calls: Sequence[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Return the declared tools, the instruction and the answers of the calls."""
    seen: list[LlmRequest] = []

    def reply(request: LlmRequest) -> Any:
        seen.append(request)
        return {"calls": [calls[len(seen) - 1]]} if len(seen) <= len(calls) else "done"

    params = params_of(place)
    instruction: Any = McpInstructionProvider(params, "greeting") if place.startswith("http") else ""
    toolset = McpToolset(connection_params=params, use_mcp_resources=place.startswith("http"))
    agent = LlmAgent(name="agent", model=ScriptedLlm(rules=[Rule(reply=reply)]), instruction=instruction, tools=[toolset])
    runner = InMemoryRunner(agent=agent, app_name="app")
    await runner.session_service.create_session(app_name="app", user_id="u", session_id="s", state={"customer": "Ada"})
    events = [event async for event in runner.run_async(user_id="u", session_id="s", new_message=types.UserContent("go"))]
    declared = [one for tool in seen[0].config.tools or [] for one in getattr(tool, "function_declarations", None) or []]
    return {
        "tools": {one.name: one.parameters_json_schema for one in declared},
        "instruction": instruction_text(seen[0]),
        "answers": [response.response for event in events for response in event.get_function_responses()],
        "contents": [part.text for content in seen[-1].contents for part in content.parts or [] if part.text],
    }


async def times_out(place: str) -> bool:
    """Return whether a call that is never answered ends as a timeout."""
    manager = MCPSessionManager(params_of(place))
    session = await manager.create_session()
    try:
        await session.call_tool("hang", {}, read_timeout_seconds=read_timeout(0.05))
    except MCPError as error:
        return is_timeout(error)
    finally:
        await manager.close()
    return False


async def main(places: list[str]) -> None:
    """Print what the model sees."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("add", {"a": 2, "b": 3}),
        ("fail", {}),
        ("load_mcp_resource", {"resource_names": ["prices"]}),
    ]
    results = {place: await told(place, calls if place.startswith("http") else [("die", {})]) for place in places}
    late = [await times_out(place) for place in places]
    sys.stdout.write(json.dumps({"mcp": metadata.version("mcp"), "told": results, "times out": late}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
