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
from tests.seeds.running import results, run, runner_for, stored, texts


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


async def test_the_result_has_the_answers_fields() -> None:
    runner = runner_for(agent(GOOD, "never said"))
    events = await run(runner)
    assert results(events) == [("set_model_response", {"sky": "klar ☀", "celsius": 11})]
    assert all(event.actions.set_model_response is None for event in (await stored(runner)).events)  # google-adk 1.x would refuse it


@pytest.mark.parametrize(
    ("schema", "argument", "answer", "result"),
    [
        (list[str], "response", ["a"], {"result": ["a"]}),
        (list[Weather], "items", [{"sky": "x", "celsius": 1}], {"result": [{"sky": "x", "celsius": 1}]}),
        ({"type": "array", "items": {"type": "integer"}}, "response", [1, 2], {"result": [1, 2]}),
        ({"type": "object"}, "response", {"a": 1}, {"a": 1}),
        (dict[str, int], "response", {"result": 1}, {"result": 1}),
        (types.Schema(type=types.Type.STRING), "response", "a", {"result": "a"}),
    ],
)
@pytest.mark.parametrize("resumable", [False, True])
async def test_schemas_other_than_pydantic_models(schema: Any, argument: str, answer: Any, result: Any, resumable: bool) -> None:
    call = Reply(calls=[("set_model_response", {argument: answer})])
    runner = runner_for(agent(call, schema=schema, output_key="out"), resumable=resumable)
    events = await run(runner)
    assert results(events) == [("set_model_response", result)]
    assert (await stored(runner)).state == {"out": answer}


async def test_fields_named_result_and_error_belong_to_the_answer() -> None:
    class Outcome(BaseModel):
        result: int
        error: str

    call = Reply(calls=[("set_model_response", {"result": 3, "error": "none"})])
    assert texts(await run(runner_for(agent(call, "never said", schema=Outcome)))) == ['{"result": 3, "error": "none"}']


@pytest.mark.parametrize("hook", ["before_tool_callback", "on_tool_error_callback"])
async def test_only_an_answer_that_the_tool_accepted_ends_the_turn(hook: str) -> None:
    def refuse(**_: Any) -> dict[str, str]:
        return {"result": "refused"}

    schema = None if hook == "on_tool_error_callback" else Weather  # without a schema, the agent has no such tool
    runner = runner_for(agent(GOOD, '{"sky": "x", "celsius": 1}', schema=schema, **{hook: refuse}))
    assert texts(await run(runner)) == ['{"sky": "x", "celsius": 1}']


async def test_an_answer_beside_other_calls() -> None:
    both = Reply(calls=[("look", {}), *GOOD.calls, ("look", {})])
    events = await run(runner_for(agent(both, "never said")))
    assert texts(events) == ['{"sky": "klar ☀", "celsius": 11}']


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
