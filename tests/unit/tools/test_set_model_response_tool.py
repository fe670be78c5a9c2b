"""`output_schema` together with tools: the answer is a function call."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel, Field

from runtime.agents import LlmAgent
from runtime.models.llm_request import LlmRequest
from runtime.models.scripted_llm import Reply, ScriptedLlm, instruction_text
from runtime.plugins import BasePlugin
from tests.seeds.running import run, runner_for, stored, texts


class Weather(BaseModel):
    sky: str = Field(description="in one word")
    celsius: int
    error: str | None = None


GOOD = Reply(calls=[("set_model_response", {"sky": "klar ☀", "celsius": 11})])


def look() -> str:
    """Look."""
    return "seen"


def agent(*replies: Any, schema: Any = Weather, **fields: Any) -> LlmAgent:
    return LlmAgent(name="agent", model=ScriptedLlm(replies=list(replies)), output_schema=schema, **{"tools": [look], **fields})


async def test_the_answer_becomes_the_agents_text_and_output() -> None:
    runner = runner_for(agent(Reply(calls=[("look", {})]), GOOD, "never said", output_key="out"))
    events = await run(runner)
    assert texts(events) == ['{"sky": "klar ☀", "celsius": 11}']
    assert events[-1].is_final_response() and not events[-2].is_final_response() and events[-1].author == "agent"
    assert (await stored(runner)).state == {"out": {"sky": "klar ☀", "celsius": 11}}


async def test_the_tool_is_declared_instead_of_a_response_schema() -> None:
    seen: list[LlmRequest] = []

    def note(request: LlmRequest) -> Reply:
        seen.append(request)
        return GOOD

    await run(runner_for(agent(note)))
    (tool,) = seen[0].config.tools or []
    declared = {one.name: one for one in tool.function_declarations}  # type: ignore[union-attr]
    parameters = declared["set_model_response"].parameters
    assert parameters.required == ["sky", "celsius"] and parameters.properties["sky"].description == "in one word"
    assert "`set_model_response`" in instruction_text(seen[0])
    assert seen[0].config.response_schema is None and seen[0].config.response_mime_type is None


async def test_without_tools_the_model_is_asked_for_json() -> None:
    seen: list[LlmRequest] = []

    def note(request: LlmRequest) -> str:
        seen.append(request)
        return '{"sky": "x", "celsius": 1}'

    await run(runner_for(agent(note, tools=[])))
    assert seen[0].config.response_schema is Weather and not seen[0].config.tools


@pytest.mark.parametrize("args", [{}, {"sky": "x", "celsius": "warm"}])
async def test_an_invalid_answer_is_reported_to_the_model(args: dict[str, Any]) -> None:
    events = await run(runner_for(agent(Reply(calls=[("set_model_response", args)]), GOOD)))
    assert "celsius" in events[1].get_function_responses()[0].response["error"]  # type: ignore[index]
    assert texts(events) == ['{"sky": "klar ☀", "celsius": 11}']


@pytest.mark.parametrize(
    ("schema", "answer"),
    [
        (list[str], ["a"]),
        (list[Weather], [{"sky": "x", "celsius": 1}]),
        ({"type": "array", "items": {"type": "integer"}}, [1, 2]),
        (types.Schema(type=types.Type.STRING), "a"),
    ],
)
async def test_schemas_other_than_pydantic_models(schema: Any, answer: Any) -> None:
    runner = runner_for(agent(Reply(calls=[("set_model_response", {"response": answer})]), schema=schema, output_key="out"))
    await run(runner)
    assert (await stored(runner)).state == {"out": answer}


class FailAt(BasePlugin):
    """Simulates a crash right before an event is committed."""

    def __init__(self, index: int) -> None:
        super().__init__("fail")
        self.index = index

    async def on_event_callback(self, **_: Any) -> None:
        self.index -= 1
        if self.index == -1:
            raise RuntimeError("crash")


@pytest.mark.parametrize("crash", [0, 1, 2])
async def test_a_crash_between_the_call_and_the_answer(crash: int) -> None:
    agents = agent(GOOD, "never said", output_key="out")
    failing = runner_for(agents, resumable=True, plugins=[FailAt(crash)])
    with pytest.raises(RuntimeError, match="crash"):
        await run(failing)
    runner = runner_for(agents, failing.session_service, resumable=True)
    events = await run(runner, None, invocation_id=(await stored(runner)).events[0].invocation_id)
    assert texts(events) == ['{"sky": "klar ☀", "celsius": 11}']
    assert (await stored(runner)).state == {"out": {"sky": "klar ☀", "celsius": 11}}
