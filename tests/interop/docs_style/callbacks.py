"""The six callbacks and lists of callbacks, observing and replacing results."""

from __future__ import annotations

import copy
from typing import Any

from google.adk.agents import Agent, BaseAgent, LlmAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.models import LlmRequest, LlmResponse
from google.adk.tools import FunctionTool
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from harness import REPLIES, Talk, scenario

MODEL = "gemini-2.0-flash"


def check_if_agent_should_run(callback_context: CallbackContext) -> types.Content | None:
    current_state = callback_context.state.to_dict()
    if current_state.get("skip_llm_agent", False):
        part = types.Part(text=f"Agent {callback_context.agent_name} skipped by before_agent_callback due to state.")
        return types.Content(parts=[part], role="model")
    return None


@scenario
async def before_agent_skips() -> Any:
    REPLIES["skippable"] = ["I ran."]
    agent = LlmAgent(name="skippable", model=MODEL, instruction="Help.", before_agent_callback=check_if_agent_should_run)
    skipped, ran = Talk(agent, state={"skip_llm_agent": True}), Talk(agent)
    return [await skipped.say("x"), await ran.say("x"), await skipped.end()]


def modify_output_after_agent(callback_context: CallbackContext) -> types.Content | None:
    callback_context.state["after_ran_in"] = callback_context.invocation_id[:2]
    if callback_context.state.get("add_concluding_note", False):
        return types.Content(parts=[types.Part(text="Concluding note.")], role="model")
    return None


@scenario
async def after_agent_adds() -> Any:
    REPLIES["noted"] = ["Done.", "Done again."]
    agent = LlmAgent(name="noted", model=MODEL, after_agent_callback=modify_output_after_agent)
    noted, plain = Talk(agent, state={"add_concluding_note": True}), Talk(agent)
    return [await noted.say("x"), await plain.say("x"), await noted.end(), await plain.end()]


def simple_before_model_modifier(callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse | None:
    original_instruction = llm_request.config.system_instruction or types.Content(role="system", parts=[])
    if not isinstance(original_instruction, types.Content):
        original_instruction = types.Content(role="system", parts=[types.Part(text=str(original_instruction))])
    original_instruction.parts[0].text = "[Modified] " + (original_instruction.parts[0].text or "")
    llm_request.config.system_instruction = original_instruction
    return None


def simple_after_model_modifier(callback_context: CallbackContext, llm_response: LlmResponse) -> LlmResponse | None:
    if not llm_response.content or not llm_response.content.parts or not llm_response.content.parts[0].text:
        return None
    parts = [copy.deepcopy(part) for part in llm_response.content.parts]
    parts[0].text = parts[0].text.replace("joke", "funny story")
    return LlmResponse(content=types.Content(role="model", parts=parts), grounding_metadata=llm_response.grounding_metadata)


@scenario
async def model_callbacks_change() -> Any:
    REPLIES["joker"] = ["Here is a joke."]
    agent = LlmAgent(
        name="joker",
        model=MODEL,
        instruction="Be funny.",
        before_model_callback=simple_before_model_modifier,
        after_model_callback=simple_after_model_modifier,
        output_key="said",
    )
    talk = Talk(agent)
    return [await talk.say("x"), await talk.end()]


def get_capital_city(country: str) -> str:
    """Retrieves the capital city of a given country."""
    return {"canada": "Ottawa", "france": "Paris"}.get(country.lower(), f"unknown: {country}")


def simple_before_tool_modifier(tool: BaseTool, args: dict[str, Any], tool_context: ToolContext) -> dict | None:
    if tool.name == "get_capital_city" and args.get("country", "").lower() == "canada":
        args["country"] = "France"
        return None
    if args.get("country", "").upper() == "BLOCK":
        return {"result": "Tool execution was blocked by before_tool_callback."}
    return None


def simple_after_tool_modifier(tool: BaseTool, args: dict[str, Any], tool_context: ToolContext, tool_response: dict) -> dict | None:
    original = tool_response.get("result", "") if isinstance(tool_response, dict) else tool_response
    tool_context.state.setdefault("seen", 0)
    tool_context.state["seen"] = tool_context.state["seen"] + 1
    if original == "Paris":
        return {"result": "Paris", "note_added_by_callback": True}
    return None


@scenario
async def tool_callbacks_change() -> Any:
    REPLIES["capitals"] = [
        [("get_capital_city", {"country": "Canada"})],
        [("get_capital_city", {"country": "BLOCK"})],
        [("get_capital_city", {"country": "Peru"})],
        "done",
    ]
    agent = LlmAgent(
        name="capitals",
        model=MODEL,
        tools=[FunctionTool(func=get_capital_city)],
        before_tool_callback=simple_before_tool_modifier,
        after_tool_callback=simple_after_tool_modifier,
    )
    talk = Talk(agent)
    return [await talk.say("x"), await talk.end()]


@scenario
async def lists_stop_at_the_first_answer() -> Any:
    order: list[str] = []

    def looks(callback_context: CallbackContext) -> None:
        order.append("looks")

    async def answers(callback_context: CallbackContext) -> types.Content:
        order.append("answers")
        return types.ModelContent("instead")

    def never(callback_context: CallbackContext) -> None:
        order.append("never")

    agent = Agent(name="listed", model=MODEL, before_agent_callback=[looks, answers, never])
    return [await Talk(agent).say("x"), order]


@scenario
async def error_callbacks_answer() -> Any:
    def breaks() -> str:
        """Breaks."""
        raise ValueError("broken tool")

    def on_tool_error(tool: BaseTool, args: dict[str, Any], tool_context: ToolContext, error: Exception) -> dict | None:
        tool_context.state["tool_error"] = str(error)
        return {"error": f"{tool.name}: {error}"}

    def on_model_error(callback_context: CallbackContext, llm_request: LlmRequest, error: Exception) -> LlmResponse | None:
        return LlmResponse(content=types.ModelContent(f"The model failed: {error}"))

    REPLIES["fragile"] = [[("breaks", {})], RuntimeError("quota")]
    agent = LlmAgent(
        name="fragile", model=MODEL, tools=[breaks], on_tool_error_callback=on_tool_error, on_model_error_callback=on_model_error
    )
    talk = Talk(agent)
    return [await talk.say("x"), await talk.end()]


class Custom(BaseAgent):
    """Says what it was given."""

    greeting: str

    async def _run_async_impl(self, ctx: Any) -> Any:
        from google.adk.events import Event

        yield Event(author=self.name, invocation_id=ctx.invocation_id, content=types.ModelContent(self.greeting))


@scenario
async def callbacks_of_a_custom_agent() -> Any:
    async def before(callback_context: CallbackContext) -> None:
        callback_context.state["before"] = callback_context.agent_name

    async def after(callback_context: CallbackContext) -> None:
        callback_context.state["app:after"] = True

    talk = Talk(Custom(name="custom", greeting="hi", before_agent_callback=before, after_agent_callback=after))
    return [await talk.say("x"), await talk.end()]
