"""The agent that an answer continues."""

from __future__ import annotations

import pytest

from runtime.agents import BaseAgent, LlmAgent, LoopAgent, ParallelAgent, SequentialAgent
from runtime.events.marks import CONFIRMATION_CALL
from runtime.history.invocations import pending_items
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.tools import FunctionTool, ToolContext
from tests.seeds.running import answer, run, runner_for, stored, texts


@pytest.mark.parametrize("resumable", [True, False])
@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("kind", [ParallelAgent, LoopAgent])
async def test_an_agent_that_asked_continues_on_its_branch(kind: type[BaseAgent], depth: int, resumable: bool) -> None:
    paid = []

    def pay(amount: int) -> str:
        paid.append(amount)
        return "paid"

    tool = FunctionTool(pay, require_confirmation=True)
    agent: BaseAgent = LlmAgent(name="till", model=ScriptedLlm(replies=[Reply(calls=[("pay", {"amount": 5})]), "done"]), tools=[tool])
    for level in range(depth):
        more = {"max_iterations": 1} if kind is LoopAgent else {}
        agent = kind(name=f"level{level}", sub_agents=[agent], **more)
    runner = runner_for(agent, resumable=resumable)
    await run(runner)
    (item,) = pending_items((await stored(runner)).events)
    given = answer(item.call_id, CONFIRMATION_CALL, {"confirmed": True})
    events = [event async for event in runner.run_async(user_id="u", session_id="s", new_message=given)]
    assert paid == [5] and texts(events) == ["done"]


@pytest.mark.parametrize("is_sequence", [True, False])
async def test_state_given_to_a_resume_without_a_message_is_committed_before_the_agent_continues(is_sequence: bool) -> None:
    seen = []

    def crash(tool_context: ToolContext) -> str:
        seen.append(tool_context.state.get("mode"))
        if len(seen) == 1:
            raise RuntimeError("crash")
        return "fine"

    agent: BaseAgent = LlmAgent(name="till", model=ScriptedLlm(replies=[Reply(calls=[("crash", {})]), "done"]), tools=[crash])
    if is_sequence:
        agent = SequentialAgent(name="whole", sub_agents=[agent])
    runner = runner_for(agent, resumable=True)
    with pytest.raises(RuntimeError, match="crash"):
        await run(runner)
    invocation_id = (await stored(runner)).events[0].invocation_id
    given = {"mode": "safe", "user:a": 1, "temp:b": 2}
    events = await run(runner, None, invocation_id=invocation_id, state_delta=given)
    assert texts(events) == ["done"] and seen == [None, "safe"]
    assert (await stored(runner)).state == {"mode": "safe", "user:a": 1}
    assert await run(runner, None, invocation_id=invocation_id, state_delta={"mode": "late"}) == []
    assert (await stored(runner)).state["mode"] == "safe", "a finished invocation stays as it is"
