"""Seed: resume, "Cómo funciona": the effects of agent callbacks and the requests of tools are committed once, regardless of crashes."""

from __future__ import annotations

from typing import Any

from google.genai import types

from runtime.agents import BaseAgent, CallbackContext, SequentialAgent, ToolContext
from runtime.history.invocations import pending_items
from runtime.models.scripted_llm import Reply
from tests.seeds.resume.resumed_runs import check_resumed_equals
from tests.seeds.running import answer, llm_agent, results, resume, run, runner_for, stored, texts


async def test_a_crash_between_request_and_result_loses_neither_request_nor_state_changes() -> None:
    def pay_with_care(amount: int, tool_context: ToolContext) -> dict[str, Any]:
        if tool_context.tool_confirmation is None:
            tool_context.state["asked"] = tool_context.state.get("asked", 0) + 1
            tool_context.request_confirmation(hint=f"Pay {amount}?")
            return {"status": "asked"}
        return {"paid": amount}

    banker = llm_agent("banker", Reply(calls=[("pay_with_care", {"amount": 5})]), "handled", tools=[pay_with_care])
    runner = runner_for(banker, resumable=True)
    async for event in (stream := runner.run_async(user_id="u", session_id="s", new_message=types.UserContent("go"))):
        if any(call.name == "adk_request_confirmation" for call in event.get_function_calls()):
            break
    await stream.aclose()
    assert (await stored(runner)).state == {}
    events = await resume(runner)
    assert results(events) == [("pay_with_care", {"status": "asked"})], "the result follows, and the user is asked once"
    assert (await stored(runner)).state == {"asked": 1}
    (item,) = pending_items((await stored(runner)).events)
    assert (item.kind, item.name, item.hint) == ("confirmation", "pay_with_care", "Pay 5?")
    events = await resume(runner, answer(item.call_id, "adk_request_confirmation", {"confirmed": True}))
    assert (results(events), texts(events)) == ([("pay_with_care", {"paid": 5})], ["handled"])
    assert (await stored(runner)).state == {"asked": 1}


def _agent(called: list[str]) -> BaseAgent:
    def before(callback_context: CallbackContext) -> None:
        called.append("before")
        callback_context.state["before"] = True

    def after(callback_context: CallbackContext) -> types.Content:
        called.append("after")
        return types.ModelContent("one thing more")

    inner = llm_agent("a", "said", before_agent_callback=before, after_agent_callback=after)
    return SequentialAgent(name="s", sub_agents=[inner, llm_agent("b", "bye")])


async def test_callbacks_are_called_once_wherever_the_run_is_interrupted() -> None:
    called: list[str] = []
    whole = runner_for(_agent(called), resumable=True)
    await run(whole)
    events = (await stored(whole)).events
    assert called == ["before", "after"]
    for kept in range(1, len(events) + 1):
        called.clear()
        await check_resumed_equals(_agent(called), events, kept)
        committed = [event.content is None for event in events[:kept] if "inspector_callback" in (event.custom_metadata or {})]
        assert len(called) + len(committed) == 2, f"resumed after {kept} events"


async def test_a_callbacks_answer_is_not_repeated() -> None:
    first = llm_agent("a", "never", before_agent_callback=lambda callback_context: types.ModelContent("instead"))
    root = SequentialAgent(name="s", sub_agents=[first, llm_agent("b", "bye")])
    whole = runner_for(root, resumable=True)
    await run(whole)
    events = (await stored(whole)).events
    assert texts(events) == ["go", "instead", "bye"]
    for kept in range(1, len(events) + 1):
        await check_resumed_equals(root, events, kept)
