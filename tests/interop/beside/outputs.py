"""Answers of agents with `output_key`, plain and with `output_schema`, and the state that they leave."""

from __future__ import annotations

import itertools
from typing import Any

from google.adk.agents import LlmAgent, LoopAgent, RunConfig, SequentialAgent
from google.adk.agents.run_config import StreamingMode
from google.adk.apps import App, ResumabilityConfig
from google.adk.models import BaseLlm, LlmResponse
from google.adk.planners import PlanReActPlanner
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import AgentTool, FunctionTool, LongRunningFunctionTool, ToolContext
from google.genai import types
from pydantic import BaseModel, Field

from tests.interop.beside.common import print_result, shown_event

GOOD = '{"title": "a", "steps": 1}'
FENCED = [
    GOOD,
    f"```json\n{GOOD}\n```",
    f"```\n{GOOD}\n```",
    f"  ```json\n{GOOD}\n```\n",
    f"```JSON {GOOD}```",
    f"```json5  \n\n{GOOD}```",
    f"```{GOOD}```",
    f"```json\r\n{GOOD}\r\n```",
    f"Here:\n```json\n{GOOD}\n```",
    f"```json\n{GOOD}\n``` as you wished",
    f"```json\n{GOOD}",
    f"~~~json\n{GOOD}\n~~~",
    f"```json\n[{GOOD}]\n```",
    f"```json\n```json\n{GOOD}\n```\n```",
    "``````",
    "```json\n```",
    "`````",
    '```json\n{"title": "a"}\n```',
    "",
    "  \n",
]


class Plan(BaseModel):
    """A plan."""

    title: str
    steps: int


class Streaming(BaseLlm):
    """Gives all responses of one call from a list of lists."""

    turns: list[Any] = Field(default_factory=list)

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        for response in self.turns.pop(0):
            yield response


def text(value: str, **more: Any) -> types.Part:
    return types.Part(text=value, **more)


def thought(value: str) -> types.Part:
    return types.Part(text=value, thought=True)


def call(name: str, **args: Any) -> types.Part:
    return types.Part(function_call=types.FunctionCall(name=name, args=args))


def code(value: str) -> types.Part:
    return types.Part(executable_code=types.ExecutableCode(code=value, language=types.Language.PYTHON))


def result(value: str) -> types.Part:
    return types.Part(code_execution_result=types.CodeExecutionResult(output=value, outcome=types.Outcome.OUTCOME_OK))


IMAGE = types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png"))


def says(*parts: types.Part, **more: Any) -> LlmResponse:
    return LlmResponse(content=types.Content(role="model", parts=list(parts)), **more)


def part_of(value: str) -> LlmResponse:
    return says(text(value), partial=True)


# name: the model's turns, each a list of responses.
ANSWERS: dict[str, list[list[LlmResponse]]] = {
    "text": [[says(text("one"))]],
    "thought only": [[says(thought("hm"))]],
    "thought and text": [[says(thought("hm"), text("two"))]],
    "thought and image": [[says(thought("hm"), IMAGE)]],
    "image only": [[says(IMAGE)]],
    "image and text": [[says(IMAGE, text("three"))]],
    "empty text": [[says(text(""))]],
    "space": [[says(text(" "))]],
    "empty text and thought": [[says(text(""), thought("hm"))]],
    "no parts": [[LlmResponse(content=types.Content(role="model", parts=[]))]],
    "code only": [[says(code("1"))]],
    "code and result": [[says(code("1"), result("1"))]],
    "code, result and text": [[says(text("a "), code("1"), result("1"), text(" b"))]],
    "text then code": [[says(text("calculating "), code("1"), result("1"))], [says(text("done"))]],
    "text beside a call": [[says(text("let me see "), call("look"))], [says(text("done"))]],
    "text beside two calls": [[says(text("a "), call("look"))], [says(text("b "), call("look"))], [says(text("c"))]],
    "text beside a call, then a thought": [[says(text("a "), call("look"))], [says(thought("hm"))]],
    "text beside a call, then empty": [[says(text("a "), call("look"))], [says(text(""))]],
    "text beside a call, then an image": [[says(text("a "), call("look"))], [says(IMAGE)]],
    "thought beside a call": [[says(thought("hm"), call("look"))], [says(text("done"))]],
    "call alone": [[says(call("look"))], [says(text("done"))]],
    "streamed text": [[part_of("a"), part_of("b"), says(text("ab"))]],
    "streamed text then a call": [[part_of("a"), part_of("b"), says(text("ab")), says(call("look"))], [part_of("c"), says(text("c"))]],
    "streamed text beside a call": [[part_of("a"), says(text("a"), call("look"))], [part_of("c"), says(text("c"))]],
    "streamed thought then a call": [[says(thought("a")), says(call("look"))], [says(text("c"))]],
    "call then text in one call": [[says(call("look")), says(text("a"))], [says(text("c"))]],
    "text, text": [[says(text("a")), says(text("b"))]],
    "text, empty end": [[says(text("a")), says(text(""))]],
    "text, end without content": [[says(text("a")), LlmResponse(turn_complete=True)]],
    "text and an error": [[says(text("a"), error_code="MAX_TOKENS", error_message="too long")]],
    "error alone": [[LlmResponse(error_code="SAFETY", error_message="no")]],
    "text beside a writing call": [[says(text("a "), call("write"))], [says(text("b"))]],
    "a writing call, then a thought": [[says(call("write"))], [says(thought("b"))]],
    "text beside a call that ends": [[says(text("a "), call("finish"))]],
    "call that ends": [[says(call("finish"))]],
    "text beside a long call": [[says(text("a "), call("wait"))], [says(text("b"))]],
    "text beside a quiet call": [[says(text("a "), call("quiet"))]],
    "text beside a confirmed call": [[says(text("a "), call("erase"))], [says(text("b"))]],
    "text beside a transfer": [[says(text("a "), call("transfer_to_agent", agent_name="other"))]],
    "transfer": [[says(call("transfer_to_agent", agent_name="other"))]],
    "text beside an agent": [[says(text("a "), call("helper", request="x"))], [says(text("b"))]],
    "escalating": [[says(text("a "), call("leave"))], [says(text("b"))]],
}


def look() -> str:
    """Look."""
    return "all"


def write(tool_context: ToolContext) -> str:
    """Write the agent's key."""
    tool_context.state["draft"] = "written"
    return "ok"


def finish(tool_context: ToolContext) -> str:
    """Be the answer."""
    tool_context.actions.skip_summarization = True
    return "finished"


def leave(tool_context: ToolContext) -> str:
    """Escalate."""
    tool_context.actions.escalate = True
    return "left"


def wait() -> dict[str, str]:
    """Wait."""
    return {"status": "pending"}


def quiet() -> None:
    """Return nothing."""


def erase() -> str:
    """Erase."""
    return "erased"


async def run(agent: Any, *, resumable: bool = False, streaming: bool = False) -> dict[str, Any]:
    """Return what a run of the agent writes."""
    service = InMemorySessionService()
    app = App(name="app", root_agent=agent, resumability_config=ResumabilityConfig(is_resumable=resumable))
    runner = Runner(app=app, session_service=service)
    await service.create_session(app_name="app", user_id="u", session_id="s", state={"draft": "before"})
    config = RunConfig(streaming_mode=StreamingMode.SSE if streaming else StreamingMode.NONE)
    raised = False
    try:
        async for _ in runner.run_async(user_id="u", session_id="s", new_message=types.UserContent("go"), run_config=config):
            pass
    except ValueError:
        raised = True
    session = await service.get_session(app_name="app", user_id="u", session_id="s")
    shown = [shown_event(event) for event in session.events if event.content]
    writes = [one["actions"]["state_delta"] for one in shown if one["actions"].get("state_delta")]
    return {"state": session.state, "writes": writes, "raised": raised}


def agent_with(turns: list[list[LlmResponse]], **more: Any) -> LlmAgent:
    """Return an agent with all tools, whose model gives the turns."""
    model = Streaming(model="gemini-2.5-flash", turns=[*turns, [says(text("(no more)"))]])
    helper = LlmAgent(name="helper", model=Streaming(model="gemini-2.5-flash", turns=[[says(text("helped"))]] * 2), output_key="help")
    other = LlmAgent(name="other", model=Streaming(model="gemini-2.5-flash", turns=[[says(text("from the other"))]] * 2))
    tools = [look, write, finish, leave, LongRunningFunctionTool(wait), LongRunningFunctionTool(quiet), AgentTool(helper)]
    tools.append(FunctionTool(erase, require_confirmation=True))
    return LlmAgent(name="agent", model=model, tools=tools, sub_agents=[other], output_key="draft", **more)


async def answers() -> dict[str, Any]:
    """Return what each answer writes, of an agent alone and in a sequence."""
    found = {}
    for (name, turns), (resumable, nested) in itertools.product(ANSWERS.items(), ((False, False), (True, True))):
        agent = agent_with(turns)
        root = SequentialAgent(name="steps", sub_agents=[agent]) if nested else agent
        found[f"{name}{', in a resumable sequence' if nested else ''}"] = await run(root, resumable=resumable, streaming="stream" in name)
    return found


async def further() -> dict[str, Any]:
    """Return what agents with callbacks, and in loops, write."""
    beside = [[says(text("a "), call("look"))], [says(text("b"))]]
    return {
        "before callback": await run(agent_with(beside, before_agent_callback=lambda callback_context: types.ModelContent("early"))),
        "before callback, thought": await run(
            agent_with(beside, before_agent_callback=lambda callback_context: types.Content(role="model", parts=[thought("early")]))
        ),
        "after callback": await run(agent_with(beside, after_agent_callback=lambda callback_context: types.ModelContent("late"))),
        "after model": await run(agent_with(beside, after_model_callback=lambda callback_context, llm_response: says(text("changed")))),
        "planner": await run(agent_with([[says(text("/*PLANNING*/p/*FINAL_ANSWER*/f"))]], planner=PlanReActPlanner())),
        "temp": await run(LlmAgent(name="a", model=Streaming(model="gemini-2.5-flash", turns=beside[1:]), output_key="temp:draft")),
        "loop": await run(LoopAgent(name="loop", max_iterations=2, sub_agents=[agent_with([*beside, *beside])])),
    }


async def shaped() -> list[Any]:
    """Return what structured answers write, at once and after text beside a call."""
    found = []
    for schema, answer in itertools.product((Plan, list[Plan]), FENCED):
        model = Streaming(model="gemini-2.5-flash", turns=[[says(text(answer))]])
        found.append([str(schema), answer, await run(LlmAgent(name="a", model=model, output_schema=schema, output_key="draft"))])
    split = [[says(thought("hm"), text('{"title": '), text('"a", "steps": 1}'))]]
    beside = [[says(text("let me see"), call("look"))], [says(text(f"```json\n{GOOD}\n```"))]]
    for turns in (split, beside):
        model = Streaming(model="gemini-2.5-flash", turns=turns)
        found.append(await run(LlmAgent(name="a", model=model, tools=[look], output_schema=Plan, output_key="draft")))
    return found


async def main() -> dict[str, Any]:
    """Return everything."""
    return {**await answers(), **await further(), **{str(index): one for index, one in enumerate(await shaped())}}


if __name__ == "__main__":
    print_result(main)
