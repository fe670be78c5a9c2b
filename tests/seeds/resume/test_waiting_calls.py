"""Seed: resume, "Precaución: Funciones de Larga Ejecución, Confirmaciones, Autenticación"."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.agents import ParallelAgent, SequentialAgent, ToolContext
from runtime.errors import ResumeError
from runtime.history.in_memory import history_in_memory
from runtime.history.invocations import invocations, pending_items
from runtime.models.scripted_llm import Reply
from runtime.sessions import InMemorySessionService
from runtime.tools import FunctionTool, LongRunningFunctionTool
from tests.seeds.running import answer, llm_agent, results, resume, run, runner_for, stored, texts


def slow_report(topic: str) -> dict[str, str]:
    return {"status": "pending", "ticket": topic}


def silent_job(topic: str) -> None:
    SILENT_RUNS.append(topic)


SILENT_RUNS: list[str] = []


def pay(amount: int) -> dict[str, int]:
    PAID.append(amount)
    return {"paid": amount}


PAID: list[int] = []


@pytest.mark.rule("C1", "C5")
async def test_the_invocation_pauses_and_continues_with_the_answer() -> None:
    asker = llm_agent("asker", Reply(calls=[("slow_report", {"topic": "t"})]), "reported", tools=[LongRunningFunctionTool(slow_report)])
    runner = runner_for(SequentialAgent(name="pipe", sub_agents=[asker, llm_agent("last", "bye")]), resumable=True)
    events = await run(runner)
    assert results(events) == [("slow_report", {"status": "pending", "ticket": "t"})]
    assert texts(events) == []
    (item,) = pending_items((await stored(runner)).events)
    assert (item.kind, item.name, item.args) == ("long_running", "slow_report", {"topic": "t"})
    assert await resume(runner) == []  # still paused: neither the agent nor its parent continues
    events = await resume(runner, answer(item.call_id, "slow_report", {"pages": 3}))
    assert texts(events) == ["reported", "bye"]
    session = await stored(runner)
    assert len({event.invocation_id for event in session.events}) == 1
    assert invocations(session.events)[0].status == "finished"


async def test_an_answer_resumes_its_invocation_without_an_id() -> None:
    asker = llm_agent("asker", Reply(calls=[("slow_report", {"topic": "t"})]), "reported", tools=[LongRunningFunctionTool(slow_report)])
    runner = runner_for(asker, resumable=True)
    await run(runner)
    (item,) = pending_items((await stored(runner)).events)
    message = answer(item.call_id, "slow_report", {"pages": 3})
    events = [event async for event in runner.run_async(user_id="u", session_id="s", new_message=message)]
    assert texts(events) == ["reported"]
    assert events[0].invocation_id == item.invocation_id


async def test_several_pending_calls_are_answered_one_at_a_time() -> None:
    calls = Reply(calls=[("slow_report", {"topic": "a"}), ("slow_report", {"topic": "b"})])
    runner = runner_for(llm_agent("asker", calls, "both", tools=[LongRunningFunctionTool(slow_report)]), resumable=True)
    await run(runner)
    first, second = pending_items((await stored(runner)).events)
    assert await resume(runner, answer(first.call_id, "slow_report", {"n": 1})) == []
    assert [item.call_id for item in pending_items((await stored(runner)).events)] == [second.call_id]
    assert texts(await resume(runner, answer(second.call_id, "slow_report", {"n": 2}))) == ["both"]


@pytest.mark.rule("C1", "C8")
async def test_a_tool_that_returns_nothing_runs_once_and_waits_for_its_answer() -> None:
    SILENT_RUNS.clear()
    asker = llm_agent("asker", Reply(calls=[("silent_job", {"topic": "t"})]), "done", tools=[LongRunningFunctionTool(silent_job)])
    runner = runner_for(asker, resumable=True)
    await run(runner)
    assert await resume(runner) == []
    assert SILENT_RUNS == ["t"]
    (item,) = pending_items((await stored(runner)).events)
    assert texts(await resume(runner, answer(item.call_id, "silent_job", {"ok": True}))) == ["done"]
    assert SILENT_RUNS == ["t"]


async def test_siblings_of_a_paused_agent_finish_first() -> None:
    asker = llm_agent("asker", Reply(calls=[("slow_report", {"topic": "t"})]), "reported", tools=[LongRunningFunctionTool(slow_report)])
    both = ParallelAgent(name="both", sub_agents=[asker, llm_agent("sibling", "sibling done")])
    runner = runner_for(SequentialAgent(name="pipe", sub_agents=[both, llm_agent("last", "bye")]), resumable=True)
    events = await run(runner)
    assert texts(events) == ["sibling done"]
    (item,) = pending_items((await stored(runner)).events)
    assert texts(await resume(runner, answer(item.call_id, "slow_report", {}))) == ["reported", "bye"]


async def test_without_resumability_the_agent_continues_with_the_receipt() -> None:
    asker = llm_agent(
        "asker",
        Reply(calls=[("slow_report", {"topic": "t"})]),
        "it is on its way",
        "reported",
        tools=[LongRunningFunctionTool(slow_report)],
    )
    runner = runner_for(asker)
    assert texts(await run(runner)) == ["it is on its way"]
    (item,) = pending_items((await stored(runner)).events)
    message = answer(item.call_id, "slow_report", {"pages": 3})
    events = [event async for event in runner.run_async(user_id="u", session_id="s", new_message=message)]
    assert texts(events)
    assert pending_items((await stored(runner)).events) == []


async def test_an_answer_to_an_unknown_call_is_rejected_and_not_stored() -> None:
    runner = runner_for(llm_agent("asker", "x"), resumable=True)
    await run(runner)
    before = len((await stored(runner)).events)
    with pytest.raises(ResumeError, match="No function call in session s has the id unknown"):
        await resume(runner, answer("unknown", "f", {}))
    assert len((await stored(runner)).events) == before


async def test_temp_values_end_with_the_interrupted_run_also_in_history() -> None:
    def ask(tool_context: ToolContext) -> dict[str, str]:
        tool_context.state["temp:before"] = 1
        return {"status": "pending"}

    def after(tool_context: ToolContext) -> str:
        assert "temp:before" not in tool_context.state
        tool_context.state["temp:after"] = 2
        return "ok"

    calls = [Reply(calls=[("ask", {})]), Reply(calls=[("after", {})]), "done"]
    runner = runner_for(llm_agent("asker", *calls, tools=[LongRunningFunctionTool(ask), after]), resumable=True)
    await run(runner)
    service = runner.session_service
    assert isinstance(service, InMemorySessionService)
    key = (await stored(runner)).key
    paused = history_in_memory(service, key)
    assert paused.state_at(len(paused) - 1).temp == {"temp:before": 1}
    (item,) = pending_items((await stored(runner)).events)
    await resume(runner, answer(item.call_id, "ask", {"ok": True}))
    whole = history_in_memory(service, key)
    assert whole.state_at(len(paused) - 1).temp == {"temp:before": 1}
    assert whole.state_at(len(paused)).temp == {}
    assert whole.state_at(len(whole) - 1).temp == {"temp:after": 2}
    assert all("inspector" not in change.key for index in range(len(whole)) for change in whole.delta_at(index))


@pytest.mark.parametrize("resumable", [True, False])
@pytest.mark.parametrize(
    ("given", "paid", "result"),
    [
        ({"confirmed": True}, [5], {"paid": 5}),
        ({"response": '{"confirmed": true}'}, [5], {"paid": 5}),
        ({"confirmed": False}, [], {"error": "This tool call is rejected."}),
    ],
)
async def test_a_call_runs_when_the_user_has_confirmed_it(
    resumable: bool, given: dict[str, Any], paid: list[int], result: dict[str, Any]
) -> None:
    PAID.clear()
    banker = llm_agent("banker", Reply(calls=[("pay", {"amount": 5})]), "handled", tools=[FunctionTool(pay, require_confirmation=True)])
    runner = runner_for(banker, resumable=resumable)
    events = await run(runner)
    assert texts(events) == []
    assert results(events) == [("pay", {"error": "This tool call requires confirmation, please approve or reject."})]
    (item,) = pending_items((await stored(runner)).events)
    assert (item.kind, item.name, item.args) == ("confirmation", "pay", {"amount": 5})
    message = answer(item.call_id, "adk_request_confirmation", given)
    events = [event async for event in runner.run_async(user_id="u", session_id="s", new_message=message)]
    assert results(events) == [("pay", result)]
    assert texts(events) == ["handled"]
    assert paid == PAID
    assert pending_items((await stored(runner)).events) == []
