"""The agent that an answer continues."""

from __future__ import annotations

import pytest

from runtime.agents import BaseAgent, LlmAgent, LoopAgent, ParallelAgent
from runtime.events.marks import CONFIRMATION_CALL
from runtime.history.invocations import pending_items
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.tools import FunctionTool
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
