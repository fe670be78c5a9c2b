"""Models that yield several complete responses in one call."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.genai import types
from pydantic import Field

from runtime.agents import LlmAgent
from runtime.models import BaseLlm, LlmRequest, LlmResponse
from runtime.plugins import BasePlugin
from runtime.runners import Runner
from runtime.tools import FunctionTool, LongRunningFunctionTool, ToolContext
from tests.seeds.running import answer, resume, run, runner_for, stored


class Several(BaseLlm):
    """Yields each entry's responses in one call: texts, tool names, or `~` and a piece; then `again`."""

    model: str = "several"
    calls: list[list[str | Exception]]
    asked: list[int] = Field(default_factory=list)

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        self.asked.append(len(llm_request.contents))
        for said in self.calls.pop(0) if self.calls else ["again"]:
            if isinstance(said, Exception):
                raise said
            is_call = said in TOOLS or said == "transfer_to_agent"
            args = {"agent_name": "other"} if said == "transfer_to_agent" else {}
            part = types.Part(function_call=types.FunctionCall(name=said, args=args)) if is_call else types.Part(text=said)
            yield LlmResponse(content=types.Content(role="model", parts=[part]), partial=True if said.startswith("~") else None)


ran: list[str] = []


def one(tool_context: ToolContext) -> str:
    """One."""
    ran.append("one")
    return "1"


def two() -> str:
    """Two."""
    ran.append("two")
    return "2"


def later() -> dict[str, str]:
    """Later."""
    ran.append("later")
    return {"status": "pending"}


def asks(tool_context: ToolContext) -> dict[str, str]:
    """Ask."""
    ran.append("asks")
    return {"status": "done"}


TOOLS = {
    "one": FunctionTool(one),
    "two": FunctionTool(two),
    "later": LongRunningFunctionTool(later),
    "asks": FunctionTool(asks, require_confirmation=True),
}


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    ran.clear()


def several(*calls: list[str | Exception], resumable: bool = False, **more: Any) -> tuple[Several, Runner]:
    model = Several(calls=list(calls))
    agents = {"sub_agents": [LlmAgent(name="other", model=Several(calls=[["from other"]]))]} if "transfer_to_agent" in str(calls) else {}
    return model, runner_for(LlmAgent(name="agent", model=model, tools=list(TOOLS.values()), **agents), resumable=resumable, **more)


def brief(events: list[Any]) -> list[str]:
    """Return texts, `name(` for a call, `name)` for a response, and `end`."""
    said = []
    for event in events:
        for part in (event.content.parts if event.content else None) or []:
            call, response = part.function_call, part.function_response
            said.append(part.text or (f"{call.name}(" if call else f"{response.name})"))
        if event.actions.end_of_agent:
            said.append("end")
    return said


@pytest.mark.rule("R12")
@pytest.mark.parametrize("resumable", [False, True])
@pytest.mark.parametrize(
    ("responses", "expected", "calls"),
    [
        (["one", "after"], ["one(", "one)", "after"], 1),
        (["before", "one"], ["before", "one(", "one)", "again"], 2),
        (["one", "two"], ["one(", "one)", "two(", "two)", "again"], 2),
        (["one", "middle", "two", "after"], ["one(", "one)", "middle", "two(", "two)", "after"], 1),
        (["~a", "one", "~b", "after"], ["~a", "one(", "one)", "~b", "after"], 1),
        (["transfer_to_agent", "after"], ["transfer_to_agent(", "transfer_to_agent)", "from other", "after"], 1),
    ],
)
async def test_the_calls_of_every_complete_response_run(responses: list[Any], expected: list[str], calls: int, resumable: bool) -> None:
    """The same events as google-adk 1.39 and 2.13."""
    model, runner = several(responses, resumable=resumable)
    events = brief(await run(runner))
    assert [said for said in events if said != "end"] == expected
    assert len(model.asked) == calls


async def test_results_before_a_models_error_are_committed() -> None:
    _, runner = several(["one", RuntimeError("broken")])
    with pytest.raises(RuntimeError, match="broken"):
        await run(runner)
    assert brief((await stored(runner)).events) == ["go", "one(", "one)"]


@pytest.mark.parametrize("first", ["later", "asks"])
async def test_a_pause_comes_after_the_other_responses(first: str) -> None:
    model, runner = several([first, "one", "after"], resumable=True)
    events = brief(await run(runner))
    assert events[-3:] == ["one(", "one)", "after"] and len(model.asked) == 1
    assert brief(await resume(runner)) == []
    call = next(call for event in reversed((await stored(runner)).events) for call in event.get_function_calls() if call.name != "one")
    result = {"confirmed": True} if first == "asks" else {"status": "done"}
    after = await resume(runner, answer(call.id, call.name or "", result))
    assert brief(after)[-2:] == ["again", "end"]
    assert ran.count("one") == 1 and ran.count(first) == 1  # not again when it was answered


class FailAt(BasePlugin):
    """Simulates a crash right before an event is committed."""

    def __init__(self, index: int) -> None:
        super().__init__("fail")
        self.index = index

    async def on_event_callback(self, **_: Any) -> None:
        self.index -= 1
        if self.index == -1:
            raise RuntimeError("crash")


@pytest.mark.parametrize("crash", range(5))
@pytest.mark.rule("C1")
async def test_a_crash_between_the_responses_repeats_no_committed_call(crash: int) -> None:
    _, failing = several(["one", "two", "middle", "one"], resumable=True, plugins=[FailAt(crash)])
    with pytest.raises(RuntimeError, match="crash"):
        await run(failing)
    committed = brief((await stored(failing)).events).count("two)")
    before = ran.count("two")
    runner = runner_for(failing.agent, failing.session_service, resumable=True)
    events = brief(await resume(runner))
    assert events[-2:] == ["again", "end"]
    assert not committed or ran.count("two") == before
    session = await stored(runner)
    open_calls = {call.id for event in session.events for call in event.get_function_calls()}
    assert open_calls == {response.id for event in session.events for response in event.get_function_responses()}
