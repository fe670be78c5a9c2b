"""An agent that nothing refers to is released after its runs, and its thread ends."""

from __future__ import annotations

import gc
import threading
import weakref

from runtime.agents import LlmAgent
from runtime.models.scripted_llm import ScriptedLlm
from tests.seeds.running import run, runner_for

NAME = "released_after_its_run"


async def test_an_agent_is_released_with_what_its_functions_refer_to() -> None:
    async def scope() -> weakref.ref[LlmAgent]:
        def look() -> str:
            """Look at the agent."""
            return agent.name

        def instruction(context: object) -> str:
            return agent.name

        model = ScriptedLlm(replies=[{"calls": [("look", {})]}, "done"])
        agent = LlmAgent(
            name=NAME, model=model, tools=[look], instruction=instruction, before_agent_callback=lambda callback_context: look() and None
        )
        assert len(await run(runner_for(agent))) == 3
        assert _threads() != []
        return weakref.ref(agent)

    agent = await scope()
    gc.collect()
    assert agent() is None
    for thread in _threads():
        thread.join(timeout=30)
    assert _threads() == []


def _threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == f"agent {NAME}"]
