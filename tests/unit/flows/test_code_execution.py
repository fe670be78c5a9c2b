"""An agent with a code executor: its events, its requests, failures, files, and interrupted runs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.genai import types
from pydantic import Field

from runtime.agents import LlmAgent
from runtime.artifacts import InMemoryArtifactService
from runtime.code_executors import BaseCodeExecutor, BuiltInCodeExecutor, UnsafeLocalCodeExecutor
from runtime.code_executors.code_execution_utils import CodeExecutionInput, CodeExecutionResult, File
from runtime.models import BaseLlm, LlmRequest, LlmResponse
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.planners import PlanReActPlanner
from runtime.tools import AgentTool
from tests.agent_specs import message
from tests.seeds.running import llm_agent, resume, run, runner_for, stored, texts

pytestmark = pytest.mark.rule("R11")

CODE = "Let me see.\n```python\nprint(6 * 7)\n```\nand more"


class Recorded(BaseCodeExecutor):
    """Returns given results."""

    results: list[Any]
    inputs: list[Any] = Field(default_factory=list)

    def execute_code(self, invocation_context: Any, code_execution_input: CodeExecutionInput) -> CodeExecutionResult:
        self.inputs.append(code_execution_input)
        result = self.results.pop(0)
        if isinstance(result, Exception):
            raise result
        return CodeExecutionResult(**result)


class Answering(BaseLlm):
    """Gives complete responses."""

    answers: list[LlmResponse]
    requests: list[Any] = Field(default_factory=list)

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        self.requests.append(llm_request)
        yield self.answers.pop(0)


def answering(*parts: types.Part) -> Answering:
    return Answering(model="gemini-2.5-flash", answers=[LlmResponse(content=types.Content(role="model", parts=list(parts)))])


def kinds(events: list[Any]) -> list[list[str]]:
    return [[next(iter(part.model_fields_set)) for part in event.content.parts] for event in events if event.content]


def recording(requests: list[LlmRequest], *replies: Any) -> ScriptedLlm:
    left = list(replies)

    def reply(request: LlmRequest) -> Any:
        requests.append(request)
        return left.pop(0)

    return ScriptedLlm(replies=[reply] * len(replies))


async def test_code_is_run_and_the_model_continues_with_the_result() -> None:
    requests: list[LlmRequest] = []
    agent = LlmAgent(name="coder", model=recording(requests, CODE, "It is 42."), code_executor=UnsafeLocalCodeExecutor(), output_key="out")
    runner = runner_for(agent)
    events = await run(runner)
    assert kinds(events) == [["text", "executable_code"], ["code_execution_result"], ["text"]]
    said, result, _ = (event.content for event in events)
    assert said and result and said.parts and result.parts
    assert said.parts[0].text == "Let me see.\n"
    assert said.parts[1].executable_code and said.parts[1].executable_code.code == "print(6 * 7)"
    assert result.role == "model"
    outcome = result.parts[0].code_execution_result
    assert outcome == types.CodeExecutionResult(outcome=types.Outcome.OUTCOME_OK, output="Code execution result:\n42\n\n")
    told = [(content.role, [part.text for part in content.parts or []]) for content in requests[1].contents]
    assert told[1:] == [
        ("model", ["Let me see.\n", "```tool_code\nprint(6 * 7)\n```"]),
        ("user", ["```tool_output\nCode execution result:\n42\n\n\n```"]),
    ]
    session = await stored(runner)
    assert session.state == {"out": "Let me see.\nIt is 42.", "_code_execution_context": {}}
    assert kinds(session.events[1:]) == kinds(events)


async def test_after_some_failures_code_is_an_answer_like_any_other() -> None:
    failing = Recorded(results=[{"stderr": "boom"}, {"stderr": "boom"}])
    events = await run(runner_for(LlmAgent(name="coder", model=ScriptedLlm(replies=[CODE] * 3), code_executor=failing)))
    assert kinds(events) == [["text", "executable_code"], ["code_execution_result"]] * 2 + [["text"]]
    assert texts(events)[-1] == CODE
    outcomes = [event.content.parts[0].code_execution_result.outcome for event in events[1:4:2] if event.content and event.content.parts]  # type: ignore[union-attr]
    assert outcomes == [types.Outcome.OUTCOME_FAILED] * 2


async def test_files_of_the_code_become_artifacts() -> None:
    executor = Recorded(results=[{"output_files": [File("a.png", "iVBORw==", "image/png"), File("b.txt", b"plain")]}], stateful=True)
    agent = LlmAgent(name="coder", model=ScriptedLlm(replies=[CODE, "done"]), code_executor=executor)
    artifacts = InMemoryArtifactService()
    runner = runner_for(agent, artifact_service=artifacts)
    events = await run(runner)
    assert events[1].actions.artifact_delta == {"a.png": 0, "b.txt": 0}
    part = await artifacts.load_artifact(app_name="app", user_id="u", session_id="s", filename="a.png")
    assert part and part.inline_data and part.inline_data.data == b"\x89PNG"
    assert executor.inputs[0].execution_id == "s"
    assert (await stored(runner)).state["_code_execution_context"] == {"execution_session_id": "s"}


async def test_an_interrupted_run_executes_the_code_that_has_no_result() -> None:
    executor = Recorded(results=[RuntimeError("crash"), {"stdout": "1"}])
    runner = runner_for(LlmAgent(name="coder", model=ScriptedLlm(replies=[CODE, "done"]), code_executor=executor), resumable=True)
    with pytest.raises(RuntimeError, match="crash"):
        await run(runner)
    events = await resume(runner)
    assert kinds(events) == [["code_execution_result"], ["text"]]
    assert [given.code for given in executor.inputs] == ["print(6 * 7)"] * 2


async def test_a_stopped_run_stops_its_code() -> None:
    begun, stopped = threading.Event(), threading.Event()

    class Endless(BaseCodeExecutor):
        def execute_code(self, invocation_context: Any, code_execution_input: CodeExecutionInput) -> CodeExecutionResult:
            begun.set()
            stopped.wait()
            return CodeExecutionResult()

        def stop(self, invocation_context: Any) -> None:
            stopped.set()

    runner = runner_for(LlmAgent(name="coder", model=ScriptedLlm(replies=[CODE]), code_executor=Endless()))
    task = asyncio.create_task(run(runner))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert stopped.is_set()


async def test_thoughts_with_code_are_not_run_unless_a_planner_marked_them() -> None:
    thought = types.Part(text="```python\n1\n```", thought=True)
    executor = Recorded(results=[{"stdout": "1"}])
    await run(runner_for(LlmAgent(name="coder", model=answering(thought, types.Part(text="answer")), code_executor=executor)))
    assert not executor.inputs
    planned = "/*ACTION*/\n```python\n1\n```"
    replies = [planned, "/*FINAL_ANSWER*/ 1"]
    agent = LlmAgent(name="coder", model=ScriptedLlm(replies=replies), code_executor=executor, planner=PlanReActPlanner())
    await run(runner_for(agent))
    assert [given.code for given in executor.inputs] == ["1"]


async def test_geminis_own_code_stays_in_its_answer_and_its_images_are_saved() -> None:
    parts = [
        types.Part(executable_code=types.ExecutableCode(code="plot()", language=types.Language.PYTHON)),
        types.Part(code_execution_result=types.CodeExecutionResult(outcome=types.Outcome.OUTCOME_OK, output="ok")),
        types.Part(inline_data=types.Blob(data=b"png", mime_type="image/png", display_name="plot.png")),
        types.Part(text="Here it is."),
    ]
    model = answering(*parts)
    agent = LlmAgent(name="coder", model=model, code_executor=BuiltInCodeExecutor())
    (event,) = await run(runner_for(agent, artifact_service=InMemoryArtifactService()))
    assert model.requests[0].config.tools == [types.Tool(code_execution=types.ToolCodeExecution())]
    assert event.content and event.content.parts
    assert event.content.parts[:2] == parts[:2]
    assert texts([event]) == ["Saved as artifact: plot.png. ", "Here it is."]
    assert event.actions.artifact_delta == {"plot.png": 0}


async def test_an_agent_tool_returns_code_and_its_result_as_text() -> None:
    parts = [
        types.Part(text="thinking", thought=True),
        types.Part(executable_code=types.ExecutableCode(code="6 * 7", language=types.Language.PYTHON)),
        types.Part(code_execution_result=types.CodeExecutionResult(outcome=types.Outcome.OUTCOME_OK, output="42\n")),
        types.Part(text="So it is."),
    ]
    inner = LlmAgent(name="inner", model=answering(*parts))
    outer = llm_agent("outer", Reply(calls=[("inner", {"request": "?"})]), "done", tools=[AgentTool(inner)])
    runner = runner_for(outer)
    events = [event async for event in runner.run_async(user_id="u", session_id="s", new_message=message("go"))]
    assert events[1].get_function_responses()[0].response == {"result": "6 * 7\n42\nSo it is."}
