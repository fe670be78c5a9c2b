"""Seed: events, "Generation Sources": the authors of events."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from runtime.agents import BaseAgent, InvocationContext, LlmAgent, SequentialAgent
from runtime.events import Event
from runtime.models.scripted_llm import Reply, ScriptedLlm
from tests.seeds.running import run, runner_for, said, scripted, stored


def tool() -> str:
    return "ok"


async def test_authors_and_roles_of_user_agent_model_and_tool() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "mine")

    llm = LlmAgent(name="thinker", model=ScriptedLlm(replies=[Reply(calls=[("tool", {})]), "done"]), tools=[tool])
    runner = runner_for(SequentialAgent(name="pipe", sub_agents=[scripted(body, "custom"), llm]))
    await run(runner)
    told = [(event.author, event.content.role) for event in (await stored(runner)).events]
    assert told == [("user", "user"), ("custom", "model"), ("thinker", "model"), ("thinker", "user"), ("thinker", "model")]


async def test_a_models_error_is_an_event_of_the_agent() -> None:
    llm = LlmAgent(name="thinker", model=ScriptedLlm(replies=[Reply(error=("SAFETY", "It was blocked."))]))
    (event,) = await run(runner_for(llm))
    assert (event.author, event.error_code, event.error_message) == ("thinker", "SAFETY", "It was blocked.")
