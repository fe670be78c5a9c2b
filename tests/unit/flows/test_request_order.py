"""The place of a request for the user's approval among a turn's results, and google-adk's helpers for results."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from runtime.agents import LlmAgent
from runtime.apps import App, ResumabilityConfig
from runtime.events import Event, EventActions
from runtime.flows.llm_flows.functions import find_matching_function_call, merge_parallel_function_response_events
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.runners import Runner
from runtime.sessions import InMemorySessionService
from runtime.tools import FunctionTool
from tests.agent_specs import message

CONFIRM = "adk_request_confirmation"


def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


def look() -> str:
    """Look."""
    return "seen"


def named(event: Event) -> list[str | None]:
    return [call.name for call in event.get_function_calls()] or [f"{one.name} result" for one in event.get_function_responses()]


async def said(replies: list[Any], *, resumable: bool = False) -> tuple[Runner, list[Event]]:
    tools: list[Any] = [FunctionTool(pay, require_confirmation=True), look]
    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=replies), tools=tools)
    app = App(name="app", root_agent=agent, resumability_config=ResumabilityConfig(is_resumable=resumable))
    runner = Runner(app=app, session_service=InMemorySessionService(), auto_create_session=True)
    return runner, [event async for event in runner.run_async(user_id="u", session_id="s", new_message=message("go"))]


@pytest.mark.parametrize("resumable", [False, True])
async def test_a_request_comes_before_the_result_that_asks_for_it(resumable: bool) -> None:
    _, events = await said([Reply(calls=[("pay", {"amount": 1})])], resumable=resumable)
    assert [named(event) for event in events] == [["pay"], [CONFIRM], ["pay result"]]
    assert [event.content and event.content.role for event in events] == ["model", "model", "user"]  # as in google-adk 2


async def test_a_request_comes_after_results_that_need_no_approval() -> None:
    _, events = await said([Reply(calls=[("pay", {"amount": 1}), ("look", {})])])
    assert [named(event) for event in events] == [["pay", "look"], ["pay result", "look result"], [CONFIRM]]


async def test_a_run_that_ended_between_request_and_result_asks_once() -> None:
    runner, events = await said([Reply(calls=[("pay", {"amount": 1})]), "Done."], resumable=True)
    service = InMemorySessionService()
    session = await service.create_session(app_name="app", user_id="u", session_id="s")
    stored = await runner.session_service.get_session(app_name="app", user_id="u", session_id="s")
    assert stored is not None
    for event in stored.events[:3]:  # the message, the call and the request
        await service.append_event(session, event)
    again = Runner(app=runner.app, session_service=service)

    rest = [event async for event in again.run_async(user_id="u", session_id="s", invocation_id=events[0].invocation_id)]
    assert [named(event) for event in rest] == [["pay result"]]

    (asked,) = stored.events[2].get_function_calls()
    part = types.Part(function_response=types.FunctionResponse(id=asked.id, name=CONFIRM, response={"confirmed": True}))
    answer = types.Content(role="user", parts=[part])
    run = again.run_async(user_id="u", session_id="s", invocation_id=events[0].invocation_id, new_message=answer)
    done = [event async for event in run]
    assert [one.response for event in done for one in event.get_function_responses()] == [{"result": "paid 1"}]


def result(call_id: str, **state: Any) -> Event:
    part = types.Part(function_response=types.FunctionResponse(id=call_id, name="f", response={"result": call_id}))
    content = types.Content(role="user", parts=[part])
    return Event(invocation_id=f"of {call_id}", author="agent", content=content, actions=EventActions(state_delta=state))


def test_results_are_merged_into_a_copy_of_the_first() -> None:
    one, two = result("a", seen={"x": 1}, last="a"), result("b", seen={"y": 2}, last="b")
    merged = merge_parallel_function_response_events([one, two])

    assert [response.id for response in merged.get_function_responses()] == ["a", "b"] and merged.invocation_id == "of a"
    assert merged.actions.state_delta == {"seen": {"x": 1, "y": 2}, "last": "b"}
    assert len(one.get_function_responses()) == 1 and one.actions.state_delta["last"] == "a"
    assert merge_parallel_function_response_events([one]) is one


def test_the_call_that_an_answer_belongs_to_is_found() -> None:
    part = types.Part(function_call=types.FunctionCall(id="a", name="f", args={}))
    call = Event(author="agent", content=types.Content(role="model", parts=[part]))
    assert find_matching_function_call([call, result("a")]) is call
    assert find_matching_function_call([call, result("b")]) is None
    assert find_matching_function_call([result("a"), call]) is None
    assert find_matching_function_call([]) is None
