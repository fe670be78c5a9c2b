"""The request that led to each event."""

from __future__ import annotations

from google.genai import types

from runtime.agents import LlmAgent
from runtime.agents.callback_context import CallbackContext
from runtime.debugger.request_recorder import RequestRecorder
from runtime.events import Event
from runtime.models.llm_request import LlmRequest
from runtime.models.scripted_llm import ScriptedLlm
from runtime.runners import InMemoryRunner


def find(name: str) -> dict[str, str]:
    """Find a product."""
    return {"sku": f"{name}-1"}


def be_brief(callback_context: CallbackContext, llm_request: LlmRequest) -> None:
    llm_request.append_instructions(["Be brief."])


async def run(recorder: RequestRecorder, *messages: str) -> list[Event]:
    llm = ScriptedLlm(replies=[{"calls": [["find", {"name": "PA4"}]]}, "Found it.", *["Again."] * len(messages)])
    agent = LlmAgent(name="desk", model=llm, instruction="Sell.", tools=[find], before_model_callback=be_brief)
    runner = InMemoryRunner(agent=agent)
    runner.plugin_manager.register_plugin(recorder, first=True)
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
    seen = []
    for words in messages:
        message = types.Content(role="user", parts=[types.Part(text=words)])
        seen += [event async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message)]
    return seen


async def test_each_model_event_has_the_request_that_was_sent() -> None:
    recorder = RequestRecorder()
    call, result, answer = await run(recorder, "A4 paper")
    first, second = recorder.request_of(call.id), recorder.request_of(answer.id)
    assert first is not None and second is not None
    assert recorder.request_of(result.id) is None
    assert first.config.system_instruction is not None
    assert str(first.config.system_instruction).endswith("Be brief.")  # includes what a later callback added
    assert [content.role for content in first.contents] == ["user"]
    assert [content.role for content in second.contents] == ["user", "model", "user"]
    tools = first.config.tools or []
    assert [declaration.name for tool in tools for declaration in tool.function_declarations or []] == ["find"]


async def test_contents_are_bounded_and_the_latest_request_is_kept() -> None:
    recorder = RequestRecorder(most_contents=5)
    call, _, answer, *_, last = await run(recorder, "A4 paper", "and pens", "and ink")
    assert recorder.request_of(call.id) is None
    assert recorder.request_of(answer.id) is None
    kept = recorder.request_of(last.id)
    assert kept is not None
    assert len(kept.contents) > 5
