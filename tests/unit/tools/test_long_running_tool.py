"""Long-running function tools."""

from __future__ import annotations

import pytest

from runtime.models import LlmRequest
from runtime.models.scripted_llm import Reply
from runtime.tools import FunctionTool, LongRunningFunctionTool, request_input
from tests.seeds.running import answer, llm_agent, run, runner_for, texts
from tests.unit.tools.tool_contexts import tool_context


def order_report(topic: str) -> dict[str, str]:
    """Orders a report."""
    return {"ticket": topic}


async def test_a_long_running_tool_tells_the_model_not_to_call_it_again() -> None:
    tool = LongRunningFunctionTool(order_report)

    assert tool.is_long_running
    assert tool.description == "Orders a report."
    assert await tool.run_async(args={"topic": "snow"}, tool_context=tool_context()) == {"ticket": "snow"}
    declaration = tool._get_declaration()
    assert declaration and declaration.description
    assert declaration.description.startswith("Orders a report.\n\n")
    assert "do not call it again" in declaration.description


def test_the_same_function_as_an_ordinary_tool_is_not_marked() -> None:
    LongRunningFunctionTool(order_report)._get_declaration()

    declaration = FunctionTool(order_report)._get_declaration()
    assert declaration and declaration.description == "Orders a report."
    assert not FunctionTool(order_report).is_long_running


def test_without_a_docstring_the_description_is_the_note() -> None:
    def bare() -> None:
        return

    declaration = LongRunningFunctionTool(bare)._get_declaration()
    assert declaration and declaration.description and declaration.description.startswith("This takes long")


@pytest.mark.rule("R11")
@pytest.mark.parametrize("resumable", [False, True])
async def test_a_model_asks_the_user_and_gets_the_answer(resumable: bool) -> None:
    question = Reply(calls=[("adk_request_input", {"message": "Which city?"})])
    asked: list[LlmRequest] = []

    def reply(request: LlmRequest) -> str:
        asked.append(request)
        return "It rains in Oslo."

    runner = runner_for(llm_agent("weather", question, reply, tools=[request_input]), resumable=resumable)
    (call,) = [call for event in await run(runner) for call in event.get_function_calls()]
    assert call.args == {"message": "Which city?"}
    assert not asked
    message = answer(call.id, "adk_request_input", {"result": "Oslo"})
    events = [event async for event in runner.run_async(user_id="u", session_id="s", new_message=message)]
    assert texts(events) == ["It rains in Oslo."]
    *_, said, heard = asked[0].contents
    assert said.parts and said.parts[0].function_call and said.parts[0].function_call.name == "adk_request_input"
    assert heard.parts and heard.parts[0].function_response and heard.parts[0].function_response.response == {"result": "Oslo"}
