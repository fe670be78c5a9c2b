"""Planners: the request sent to the model, and the thoughts kept from its answer."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from runtime.agents import CallbackContext, LlmAgent
from runtime.models.llm_request import LlmRequest
from runtime.models.scripted_llm import Reply, ScriptedLlm, instruction_text
from runtime.planners import BasePlanner, BuiltInPlanner, PlanReActPlanner
from tests.seeds.running import run, runner_for, stored


def agent(seen: list[LlmRequest], planner: BasePlanner, *replies: Any) -> LlmAgent:
    def note(request: LlmRequest, reply: Any) -> Any:
        seen.append(request)
        return reply

    scripted = [lambda request, reply=reply: note(request, reply) for reply in replies]
    return LlmAgent(name="agent", model=ScriptedLlm(replies=scripted), planner=planner, tools=[look])


def look() -> str:
    """Look."""
    return "seen"


def shown(event: Any) -> list[tuple[bool, str | None]]:
    return [(bool(part.thought), part.text or (part.function_call and part.function_call.name)) for part in event.content.parts]


async def test_the_built_in_planner_enables_thinking_and_keeps_thoughts() -> None:
    seen: list[LlmRequest] = []
    config = types.ThinkingConfig(include_thoughts=True, thinking_budget=7)
    runner = runner_for(agent(seen, BuiltInPlanner(thinking_config=config), Reply(text="yes", thought="hm")))
    (event,) = await run(runner)
    assert seen[0].config.thinking_config == config
    assert shown(event) == [(True, "hm"), (False, "yes")]
    assert shown((await stored(runner)).events[-1]) == shown(event)


async def test_plan_react_keeps_plans_as_thoughts() -> None:
    seen: list[LlmRequest] = []
    first = Reply(text="/*PLANNING*/ 1. look", calls=[("look", {})])
    last = "/*REASONING*/ it is there /*FINAL_ANSWER*/ There."
    runner = runner_for(agent(seen, PlanReActPlanner(), first, last))
    events = await run(runner)
    assert "/*FINAL_ANSWER*/" in instruction_text(seen[0])
    assert shown(events[0]) == [(True, "/*PLANNING*/ 1. look"), (False, "look")]
    assert shown(events[-1]) == [(True, "/*REASONING*/ it is there "), (False, "There.")]
    assert [part.thought for part in seen[1].contents[1].parts or []] == [None, None]
    assert shown((await stored(runner)).events[1])[0][0] is True  # the stored event is still a thought


@pytest.mark.parametrize(
    ("text", "parts"),
    [("plain", [(False, "plain")]), ("/*FINAL_ANSWER*/ x", [(False, "x")]), ("/*ACTION*/ x", [(True, "/*ACTION*/ x")])],
)
async def test_plan_react_reads_marks(text: str, parts: list[Any]) -> None:
    (event,) = await run(runner_for(agent([], PlanReActPlanner(), text)))
    assert shown(event) == parts


async def test_a_custom_planner_can_write_state() -> None:
    class Counting(BasePlanner):
        def build_planning_instruction(self, readonly_context: Any, llm_request: Any) -> str:
            return f"You have planned {readonly_context.state.get('plans', 0)} times."

        def process_planning_response(self, callback_context: CallbackContext, response_parts: Any) -> None:
            callback_context.state["plans"] = callback_context.state.get("plans", 0) + 1

    seen: list[LlmRequest] = []
    runner = runner_for(agent(seen, Counting(), Reply(calls=[("look", {})]), "x"))
    await run(runner)
    assert "planned 1 times" in instruction_text(seen[1])
    assert (await stored(runner)).state == {"plans": 2}


@pytest.mark.parametrize(
    "point",
    [
        "rely on them more than on what you remember",
        "numbered plan",
        "covers everything that the user asks",
        "which of your tools",
        "what you know now",
        "what comes next",
        "if the first one fails",
        "the form that the user asks for",
        "say why, and ask",
        "only with the parameters",
        "no code of your own",
        "Ask when something is unclear",
        "before you call a tool again",
    ],
)
def test_the_plan_is_asked_for_point_by_point_as_google_adk_does(point: str) -> None:
    instruction: Any = PlanReActPlanner().build_planning_instruction(None, LlmRequest())  # type: ignore[arg-type]  # the context is unused
    assert point in " ".join(instruction.split())
