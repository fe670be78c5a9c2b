"""Seed: runtime-event-loop, "'Lecturas Sucias' del Estado de la Sesión"."""
# ruff: noqa: T201 - the example is as the seed has it

from __future__ import annotations

from typing import Any

import pytest

from runtime.agents import CallbackContext, LlmAgent, ToolContext
from runtime.models.scripted_llm import Reply, ScriptedLlm
from tests.seeds.running import run, runner_for, stored


async def test_a_callbacks_write_is_read_by_a_later_tool_before_it_is_committed() -> None:
    seen: list[Any] = []

    def before_agent(callback_context: CallbackContext) -> None:
        # Código en before_agent_callback
        callback_context.state["field_1"] = "value_1"

    def before_model(callback_context: CallbackContext, llm_request: Any) -> None:
        callback_context.state["field_2"] = "value_2"

    async def tool(tool_context: ToolContext) -> str:
        # Código en una herramienta llamada más tarde dentro de la misma invocación
        val = tool_context.state["field_1"]
        print(f"Valor de lectura sucia en herramienta: {val}")
        seen.extend([val, tool_context.state["field_2"]])
        committed = await runner.session_service.get_session(app_name="app", user_id="u", session_id="s")
        assert committed is not None
        return "ok"

    agent = LlmAgent(
        name="agent",
        model=ScriptedLlm(replies=[Reply(calls=[("tool", {})]), "done"]),
        tools=[tool],
        before_agent_callback=before_agent,
        before_model_callback=before_model,
    )
    runner = runner_for(agent)
    await run(runner)
    assert seen == ["value_1", "value_2"]
    assert (await stored(runner)).state == {"field_1": "value_1", "field_2": "value_2"}


@pytest.mark.rule("S3")
async def test_uncommitted_writes_are_lost_when_the_run_fails() -> None:
    def before_tool(tool: Any, args: dict[str, Any], tool_context: ToolContext) -> None:
        tool_context.state["written"] = "by a callback"

    def breaks(tool_context: ToolContext) -> str:
        raise RuntimeError("the tool broke")

    agent = LlmAgent(
        name="agent",
        model=ScriptedLlm(replies=[Reply(calls=[("breaks", {})])]),
        tools=[breaks],
        before_tool_callback=before_tool,
    )
    runner = runner_for(agent)
    with pytest.raises(RuntimeError, match="the tool broke"):
        await run(runner)
    session = await stored(runner)
    assert session.state == {}
    assert [event.author for event in session.events] == ["user", "agent"]
