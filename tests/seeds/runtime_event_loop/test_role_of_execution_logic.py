"""Seed: runtime-event-loop, "Rol de la Lógica de Ejecución (Agent, Tool, Callback)"."""
# ruff: noqa: T201 - the example is as the seed has it

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from google.genai import types

from runtime.agents import BaseAgent, InvocationContext
from runtime.events import Event, EventActions
from tests.seeds.running import run, runner_for, stored, texts


class Logic(BaseAgent):
    """The seed's example as an agent."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        assert "field_1" not in ctx.session.state

        # 1. Determinar que se necesita un cambio o salida, construir el evento
        update_data = {"field_1": "value_2"}
        event_with_state_change = Event(
            author=self.name,
            actions=EventActions(state_delta=update_data),
            content=types.Content(parts=[types.Part(text="Estado actualizado.")]),
        )

        # 2. Ceder el evento al Runner para procesamiento y confirmación
        yield event_with_state_change

        # 3. Reanudar ejecución SOLO después de que el Runner terminó de procesar el evento anterior.
        val = ctx.session.state["field_1"]
        print(f"Ejecución reanudada. El valor de field_1 es ahora: {val}")
        fresh = await ctx.session_service.get_session(app_name="app", user_id="u", session_id="s")
        assert fresh.state["field_1"] == "value_2"


async def test_an_agent_yields_an_event_with_a_delta_and_reads_the_state_after(capsys: pytest.CaptureFixture[str]) -> None:
    """The seed's example, without an invocation id."""
    runner = runner_for(Logic(name="agent"))
    assert texts(await run(runner)) == ["Estado actualizado."]
    assert capsys.readouterr().out == "Ejecución reanudada. El valor de field_1 es ahora: value_2\n"
    user, event = (await stored(runner)).events
    assert event.invocation_id == user.invocation_id != ""
