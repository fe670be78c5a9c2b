"""Seed: runtime-event-loop, "Rol de la Lógica de Ejecución (Agent, Tool, Callback)"."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from google.genai import types

from runtime.agents import BaseAgent, InvocationContext
from runtime.events import Event, EventActions
from tests.seeds.running import run, runner_for, said, scripted, texts


async def test_an_agent_yields_an_event_with_a_delta_and_reads_the_state_after() -> None:
    """runtime-event-loop, "Rol de la Lógica de Ejecución", as written: no invocation_id."""

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        assert "field_1" not in ctx.session.state
        yield Event(
            author=agent.name,
            actions=EventActions(state_delta={"field_1": "value_2"}),
            content=types.Content(parts=[types.Part(text="State updated.")]),
        )
        assert ctx.session.state["field_1"] == "value_2"
        fresh = await ctx.session_service.get_session(app_name="app", user_id="u", session_id="s")
        assert fresh is not None
        assert fresh.state["field_1"] == "value_2"
        yield said(agent, "seen")

    runner = runner_for(scripted(body))
    assert texts(await run(runner)) == ["State updated.", "seen"]
