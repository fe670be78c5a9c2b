"""Settings of agents, runs and plugins of google-adk 2."""

from __future__ import annotations

import asyncio
import contextlib
import io
from importlib.util import find_spec
from typing import Any

from google.adk.agents import LlmAgent, RunConfig, SequentialAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.plugins import LoggingPlugin, ToolResultClassification
from google.adk.tools import AgentTool, ToolContext
from google.adk.utils.instructions_utils import inject_session_state
from google.genai import types
from pydantic import BaseModel, Field

from tests.interop.beside.common import print_result, run, scripted

TEMPLATES = (
    "{{ name }} {{ 'user:place' }}",
    "{% for item in items %}[{{ item }}]{% endfor %}",
    "{{ missing }}.",
    "{name}",
    "{% if",
)


class Declared(BaseModel):
    """The state of an agent."""

    n: int = Field(ge=0)
    answer: str = ""


def other_key(tool_context: ToolContext) -> str:
    """Write a key that is not declared."""
    tool_context.state["other"] = 1
    return "ok"


def wrong_type(tool_context: ToolContext) -> str:
    """Write a wrong type."""
    tool_context.state["n"] = -1
    return "ok"


def declared_key(tool_context: ToolContext) -> str:
    """Write what is declared."""
    tool_context.state.update({"n": 3, "user:any": 1})
    return "ok"


async def schemas() -> list[Any]:
    """Return what becomes of writes to a declared state."""
    found = []
    for tool in (other_key, wrong_type, declared_key):
        model = scripted([(tool.__name__, {})], "done")
        agent = LlmAgent(name="agent", model=model, tools=[tool], state_schema=Declared, output_key="answer")
        found.append(await run(agent))
    for more in ({"output_key": "other"}, {"before_agent_callback": lambda callback_context: other_key(callback_context) and None}):
        found.append(await run(LlmAgent(name="agent", model=scripted("done"), state_schema=Declared, **more)))
    below = LlmAgent(name="below", model=scripted([("other_key", {})], "done"), tools=[other_key])
    found.append(await run(SequentialAgent(name="above", sub_agents=[below], state_schema=Declared)))
    for case in found:
        case["raised"] = [error.split(":")[0] for error in case["raised"]]
    return found


class Choosing(LlmAgent):
    """Has a model for each user."""

    async def canonical_model_async(self, ctx: Any) -> BaseLlm:
        return scripted(f"for {ctx.user_id} in turn {len(ctx.session.events)}")


async def aborted(inside: bool) -> Any:
    """Return a run that is ended, by its caller or by a tool."""
    signal = asyncio.Event()
    seen: list[bool] = []

    async def stop(tool_context: ToolContext) -> str:
        """End the run."""
        seen.append(tool_context.is_aborted)
        if inside:
            tool_context.get_invocation_context().abort()
        else:
            signal.set()
        seen.append(tool_context.is_aborted)
        if not inside:
            await asyncio.Event().wait()
        return "stopped"

    model = scripted([("stop", {})], "never")
    found = await run(LlmAgent(name="agent", model=model, tools=[stop]), **({} if inside else {"abort_signal": signal}))
    return {"seen": seen, "requests": len(model.requests), "events": found["events"][:2], "raised": found["raised"]}


def thinking(*texts: str) -> LlmResponse:
    *thoughts, answer = texts
    parts = [types.Part(text=text, thought=True) for text in thoughts] + [types.Part(text=answer)]
    return LlmResponse(content=types.Content(role="model", parts=parts))


async def thoughts() -> list[Any]:
    """Return which of the first agent's words the second one's model gets, of `secret` and `open`."""
    found = []
    for setting in (None, False, True):
        second = scripted("two")
        agents = [LlmAgent(name="one", model=scripted(thinking("secret", "open"))), LlmAgent(name="two", model=second)]
        config = RunConfig() if setting is None else RunConfig(include_thoughts_from_other_agents=setting)
        await run(SequentialAgent(name="both", sub_agents=agents), run_config=config)
        told = str(second.requests[0]["contents"])
        found.append([word in told for word in ("secret", "open")])
    return found


async def classified() -> list[Any]:
    """Return which results a classifier sees, and whether its message is printed."""
    results = {"half": {"status": "half"}, "whole": {"isError": True}, "plain": {"fine": 1}}
    asked: list[str] = []

    def look_up(word: str) -> dict[str, Any]:
        """Look a word up."""
        return results[word]

    def classify(*, tool: Any, tool_args: dict[str, Any], tool_context: Any, result: Any) -> Any:
        asked.append(f"{tool.name} {tool_args} {result}")
        if tool_args["word"] == "half":
            return ToolResultClassification(status="ERROR", error_message="only half of it")
        return ToolResultClassification(status="OK") if tool_args["word"] == "whole" else None

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        model = scripted(*([("look_up", {"word": word})] for word in results), "done")
        found = await run(LlmAgent(name="agent", model=model, tools=[look_up]), plugins=[LoggingPlugin(tool_result_classifier=classify)])
    return [asked, "only half of it" in printed.getvalue(), found["raised"]]


async def templates() -> list[Any] | None:
    """Return instructions that are templates of Jinja2; None if it is not installed."""
    if find_spec("jinja2") is None:
        return None
    found: list[Any] = []

    async def instruction(context: Any) -> str:
        for template in TEMPLATES:
            try:
                found.append(await inject_session_state(template, context, use_jinja2=True))
            except Exception as error:
                found.append(type(error).__name__)
        return "done"

    agent = LlmAgent(name="agent", model=scripted("done"), instruction=instruction)
    await run(agent, state={"name": "Ada", "items": [1, 2]})
    return found


async def skipped() -> list[Any]:
    """Return the answers of agents that are tools and shown as they are."""
    found = []
    for answer in ("an answer", ""):
        inner = LlmAgent(name="inner", model=scripted(answer))
        outer = LlmAgent(
            name="outer", model=scripted([("inner", {"request": "go"})], "never"), tools=[AgentTool(inner, skip_summarization=True)]
        )
        found.append(await run(outer))
    return found


async def main() -> dict[str, Any]:
    """Return everything."""
    return {
        "schemas": await schemas(),
        "chosen": await run(Choosing(name="agent", model=scripted()), "one", "two"),
        "aborted by the caller": await aborted(False),
        "aborted inside": await aborted(True),
        "thoughts": await thoughts(),
        "classified": await classified(),
        "templates": await templates(),
        "skipped": await skipped(),
    }


if __name__ == "__main__":
    print_result(main)
