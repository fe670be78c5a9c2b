"""Instructions, run settings, plugins, planners and resuming."""

from __future__ import annotations

import contextlib
from typing import Any

from google.adk.agents import Agent, BaseAgent, LlmAgent, SequentialAgent
from google.adk.agents.callback_context import CallbackContext
from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App, ResumabilityConfig
from google.adk.events import Event
from google.adk.models import LlmRequest, LlmResponse
from google.adk.planners import PlanReActPlanner
from google.adk.plugins import LoggingPlugin
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools import BaseTool, ToolContext
from google.adk.utils import instructions_utils
from google.genai import types
from harness import REPLIES, Talk, scenario, text

MODEL = "gemini-2.0-flash"
SEEN: list[str] = []


class CountInvocationPlugin(BasePlugin):
    """A custom plugin that counts agent and tool invocations."""

    def __init__(self) -> None:
        super().__init__(name="count_invocation")
        self.counts: dict[str, int] = {}

    def _count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    async def on_user_message_callback(self, *, invocation_context: InvocationContext, user_message: types.Content) -> types.Content | None:
        self._count("message")
        return types.Content(role="user", parts=[*user_message.parts, types.Part(text="(seen)")])

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> types.Content | None:
        self._count("before_run")
        return None

    async def before_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> None:
        self._count("before_agent")

    async def after_agent_callback(self, *, agent: BaseAgent, callback_context: CallbackContext) -> None:
        self._count("after_agent")

    async def before_model_callback(self, *, callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        self._count("before_model")

    async def after_model_callback(self, *, callback_context: CallbackContext, llm_response: LlmResponse) -> None:
        self._count("after_model")

    async def before_tool_callback(self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext) -> None:
        self._count("before_tool")

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: dict
    ) -> dict | None:
        self._count("after_tool")
        return {"changed": result}

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: Exception
    ) -> dict | None:
        self._count("tool_error")
        return {"error": str(error)}

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        self._count("event")
        return None

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        self._count("after_run")


def fails() -> str:
    """Fails."""
    raise ValueError("no luck")


def works() -> dict:
    """Works."""
    return {"ok": True}


@scenario
async def a_plugin_sees_all() -> Any:
    REPLIES["busy"] = [[("works", {})], [("fails", {})], "done"]
    plugin = CountInvocationPlugin()
    app = App(name="plugged", root_agent=Agent(name="busy", model=MODEL, tools=[works, fails]), plugins=[plugin])
    talk = Talk(app=app)
    return [await talk.say("go"), plugin.counts, await talk.end()]


@scenario
async def the_logging_plugin() -> Any:
    REPLIES["quiet"] = ["done"]
    talk = Talk(app=App(name="logged", root_agent=Agent(name="quiet", model=MODEL), plugins=[LoggingPlugin()]))
    return await talk.say("go")


@scenario
async def a_plugin_answers_instead() -> Any:
    class Closed(BasePlugin):
        async def before_run_callback(self, *, invocation_context: InvocationContext) -> types.Content:
            return types.Content(role="model", parts=[types.Part(text="closed")])

    talk = Talk(app=App(name="plugged", root_agent=Agent(name="busy", model=MODEL), plugins=[Closed(name="closed")]))
    return [len(await talk.say("go")), len((await talk.end())["events"])]


@scenario
async def streaming() -> Any:
    REPLIES["talker"] = ["one two three"]
    talk = Talk(Agent(name="talker", model=MODEL, output_key="said"))
    said = await talk.say("go", run_config=RunConfig(streaming_mode=StreamingMode.SSE))
    return [said, await talk.end()]


@scenario
async def too_many_model_calls() -> Any:
    REPLIES["endless"] = [[("works", {})]] * 5
    try:
        await Talk(Agent(name="endless", model=MODEL, tools=[works])).say("go", run_config=RunConfig(max_llm_calls=3))
    except Exception as error:
        return type(error).__name__
    return None


@scenario
async def metadata_of_a_run() -> Any:
    REPLIES["plain"] = ["x"]
    return await Talk(Agent(name="plain", model=MODEL)).say("go", run_config=RunConfig(custom_metadata={"trace": "t1"}))


@scenario
async def instructions() -> Any:
    seen: list[Any] = []

    def note(llm_request: LlmRequest) -> str:
        instruction = str(llm_request.config.system_instruction)
        seen.append([part for part in ("Be brief.", "Topic: sea", "{{literal}}", "{literal}", "Global sea") if part in instruction])
        return "x"

    async def dynamic(context: ReadonlyContext) -> str:
        return await instructions_utils.inject_session_state("Topic: {topic}", context)

    REPLIES["told"] = [note, note, note]
    provider = LlmAgent(name="told", model=MODEL, instruction=lambda context: "{{literal}} " + context.state["topic"])
    for agent in (
        LlmAgent(name="told", model=MODEL, instruction="Be brief. Topic: {topic}{missing?}", global_instruction="Global {topic}"),
        LlmAgent(name="told", model=MODEL, instruction=dynamic),
        provider,
    ):
        await Talk(agent, state={"topic": "sea"}).say("x")
    return seen


@scenario
async def a_key_that_is_missing() -> Any:
    try:
        await Talk(LlmAgent(name="told", model=MODEL, instruction="Topic: {topic}")).say("x")
    except KeyError as error:
        return "topic" in str(error)
    return None


@scenario
async def a_planner() -> Any:
    REPLIES["thinker"] = ["/*PLANNING*/ look it up /*FINAL_ANSWER*/ 42"]
    events = await Talk(LlmAgent(name="thinker", model=MODEL, planner=PlanReActPlanner())).events("x")
    return [[(part.text.strip(), bool(part.thought)) for part in event.content.parts] for event in events]


@scenario
async def resuming_after_a_failure() -> Any:
    attempts: list[str] = []

    def flaky() -> str:
        """Fails once."""
        attempts.append("try")
        if len(attempts) == 1:
            raise RuntimeError("crash")
        return "fine"

    REPLIES.update(first=["one"], second=[[("flaky", {})], "two"], third=["three"])
    agents = [LlmAgent(name=name, model=MODEL, tools=[flaky] if name == "second" else []) for name in ("first", "second", "third")]
    app = App(
        name="my_resumable_agent",
        root_agent=SequentialAgent(name="pipe", sub_agents=agents),
        resumability_config=ResumabilityConfig(is_resumable=True),
    )
    talk = Talk(app=app)
    with contextlib.suppress(RuntimeError):
        await talk.say("go")
    invocation_id = (await talk.session()).events[0].invocation_id
    return [await talk.say(None, invocation_id=invocation_id), attempts]


@scenario
async def what_is_final() -> Any:
    from google.adk.events import EventActions

    cases = {
        "text": Event(author="a", content=types.ModelContent("x")),
        "partial": Event(author="a", content=types.ModelContent("x"), partial=True),
        "call": Event(author="a", content=types.Content(parts=[types.Part.from_function_call(name="f", args={})])),
        "skips": Event(author="a", actions=EventActions(skip_summarization=True)),
        "long": Event(author="a", long_running_tool_ids={"x"}),
    }
    ids = {Event.new_id() for _ in range(3)}
    return [{name: event.is_final_response() for name, event in cases.items()}, len(ids)]


assert text("x").role == "user"


@scenario
async def the_conversation_in_an_instruction() -> Any:
    seen: list[Any] = []

    def provider(context: ReadonlyContext) -> str:
        seen.append([context.agent_name, context.user_content.parts[0].text, dict(context.state), context.invocation_id[:2]])
        return "Be brief."

    REPLIES["told"] = ["x"]
    await Talk(LlmAgent(name="told", model=MODEL, instruction=provider), state={"k": 1}).say("hello")
    return seen


@scenario
async def an_error_of_the_model_as_a_response() -> Any:
    def blocked(callback_context: CallbackContext, llm_request: LlmRequest) -> LlmResponse:
        return LlmResponse(error_code="SAFETY", error_message="Blocked.")

    talk = Talk(LlmAgent(name="told", model=MODEL, before_model_callback=blocked))
    return [await talk.say("hello"), await talk.end()]
