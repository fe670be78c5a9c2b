"""Callbacks of every kind: some record, some change, some answer instead."""

from __future__ import annotations

from typing import Any

from fake_llm import told
from google.adk.agents import LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.models import LlmRequest, LlmResponse
from google.adk.tools import BaseTool, ToolContext
from google.genai import types


def greet(callback_context: CallbackContext) -> types.Content | None:
    if callback_context.state.get("greeted"):
        return types.Content(role="model", parts=[types.Part(text="You again.")])
    callback_context.state["greeted"] = True
    return None


async def part(callback_context: CallbackContext) -> types.Content | None:
    callback_context.state["parted"] = True
    return types.Content(role="model", parts=[types.Part(text="Goodbye.")])


def before_model(callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
    callback_context.state["turns"] = callback_context.state.get("turns", 0) + 1
    llm_request.append_instructions(["Be short."])
    return None


def after_model(callback_context: CallbackContext, llm_response: LlmResponse) -> LlmResponse | None:
    if llm_response.content and llm_response.content.parts and llm_response.content.parts[0].text:
        llm_response.content.parts[0].text = llm_response.content.parts[0].text.upper()
        return llm_response
    return None


def before_tool(tool: BaseTool, args: dict[str, Any], tool_context: ToolContext) -> dict | None:
    if args["name"] == "secret":
        return {"refused": args["name"]}
    args["name"] = args["name"].title()
    return None


async def after_tool(tool: BaseTool, args: dict[str, Any], tool_context: ToolContext, tool_response: Any) -> dict | None:
    tool_context.state["looked_up"] = args["name"]
    return {**tool_response, "checked": True}


def look_up(name: str) -> dict:
    """Look up a name."""
    return {"found": name}


root_agent = LlmAgent(
    name="hooks",
    model=told([("look_up", {"name": "ana"})], [("look_up", {"name": "secret"})], "done"),
    tools=[look_up],
    before_agent_callback=greet,
    after_agent_callback=[part],
    before_model_callback=before_model,
    after_model_callback=after_model,
    before_tool_callback=before_tool,
    after_tool_callback=after_tool,
)
