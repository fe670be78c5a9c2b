"""google-adk's own plugins, and names imported from deep paths."""

from __future__ import annotations

from typing import Any

from google.adk.agents import BaseAgent, LlmAgent, SequentialAgent
from google.adk.agents.base_agent import AfterAgentCallback, BeforeAgentCallback
from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.llm_agent import (
    AfterModelCallback,
    AfterToolCallback,
    BeforeModelCallback,
    BeforeToolCallback,
    OnModelErrorCallback,
    OnToolErrorCallback,
)
from google.adk.apps import App
from google.adk.models import Gemini
from google.adk.models.google_llm import Gemini as GeminiByItsPath
from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
from google.adk.plugins.global_instruction_plugin import GlobalInstructionPlugin
from google.adk.tools import get_user_choice
from google.adk.utils.context_utils import Aclosing
from google.genai import types
from harness import REPLIES, Talk, scenario

MODEL = "gemini-2.0-flash"
CALLBACKS = (
    AfterAgentCallback,
    BeforeAgentCallback,
    AfterModelCallback,
    AfterToolCallback,
    BeforeModelCallback,
    BeforeToolCallback,
    OnModelErrorCallback,
    OnToolErrorCallback,
)


def talk(agent: Any, *plugins: Any, **more: Any) -> Talk:
    return Talk(app=App(name="docs", root_agent=agent, plugins=list(plugins)), **more)


@scenario
async def one_instruction_for_all() -> Any:
    seen = []

    def look(callback_context: Any, llm_request: Any) -> None:
        seen.append(str(llm_request.config.system_instruction).split("You are an agent")[0])

    REPLIES["first"], REPLIES["second"] = ["1", "1"], ["2", "2"]
    for given in ("Be {mood}.", lambda context: f"As {context.agent_name} {{mood}}"):
        agents = [LlmAgent(name=name, model=MODEL, instruction="Own.", before_model_callback=look) for name in ("first", "second")]
        both = talk(SequentialAgent(name="both", sub_agents=agents), GlobalInstructionPlugin(given), state={"mood": "kind"})
        await both.say("x")
    return seen


@scenario
async def only_the_last_turns_are_sent() -> Any:
    def look_up() -> int:
        """Look it up."""
        return 1

    REPLIES["brief"] = ["r1", [("look_up", {})], "r2", "r3", [("look_up", {})], "r4"]
    brief = talk(LlmAgent(name="brief", model=MODEL, tools=[look_up]), ContextFilterPlugin(num_invocations_to_keep=2))
    return [await brief.say(message) for message in ("1", "2", "3", "4")]


@scenario
async def a_filter_of_ones_own() -> Any:
    REPLIES["brief"] = ["r1", "r2"]
    brief = talk(LlmAgent(name="brief", model=MODEL), ContextFilterPlugin(custom_filter=lambda contents: contents[-1:]))
    return [await brief.say("1"), await brief.say("2")]


@scenario
async def a_filter_that_fails() -> Any:
    def fails(contents: list[types.Content]) -> list[types.Content]:
        raise ValueError("no")

    REPLIES["brief"] = ["r1", "r2", "r3"]
    brief = talk(LlmAgent(name="brief", model=MODEL), ContextFilterPlugin(num_invocations_to_keep=1, custom_filter=fails))
    return [await brief.say("1"), await brief.say("2"), await brief.say("3")]


@scenario
async def a_choice_of_the_user() -> Any:
    REPLIES["host"] = [[("get_user_choice", {"options": ["tea", "coffee"]})], "Tea it is."]
    host = Talk(LlmAgent(name="host", model=MODEL, tools=[get_user_choice]))
    asked = await host.events("x")
    (call,) = asked[-1].get_function_calls()
    answer = types.FunctionResponse(id=call.id, name=call.name, response={"result": "tea"})
    return [len(asked), await host.say(types.Content(role="user", parts=[types.Part(function_response=answer)]))]


@scenario
async def names_by_their_paths() -> Any:
    class Relay(BaseAgent):
        async def _run_async_impl(self, ctx: InvocationContext) -> Any:
            async with Aclosing(self.sub_agents[0].run_async(ctx)) as events:
                async for event in events:
                    yield event

    REPLIES["inner"] = ["hello"]
    relay = Talk(Relay(name="relay", sub_agents=[LlmAgent(name="inner", model=MODEL)]))
    return [await relay.say("x"), GeminiByItsPath is Gemini, len(CALLBACKS)]
