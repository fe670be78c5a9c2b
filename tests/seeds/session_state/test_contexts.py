"""Seed: session-state, "3. Mediante CallbackContext o ToolContext (Recomendado para Callbacks y Tools)"."""

from __future__ import annotations

import pytest

from runtime.agents import CallbackContext, LlmAgent
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.sessions import State
from tests.seeds.running import run, runner_for, stored


@pytest.mark.rule("R3")
async def test_one_function_as_callback_and_as_tool() -> None:
    """As written."""

    def my_callback_or_tool_function(
        context: CallbackContext,
    ) -> None:
        # Actualizar estado existente
        count = context.state.get("user_action_count", 0)
        context.state["user_action_count"] = count + 1

        # Agregar nuevo estado
        context.state["temp:last_operation_status"] = "success"

    agent = LlmAgent(
        name="agent",
        model=ScriptedLlm(replies=[Reply(calls=[("my_callback_or_tool_function", {})]), "done"]),
        tools=[my_callback_or_tool_function],
        before_agent_callback=my_callback_or_tool_function,
        after_agent_callback=[my_callback_or_tool_function, my_callback_or_tool_function],
    )
    runner = runner_for(agent)
    await run(runner)
    assert (await stored(runner)).state == {"user_action_count": 4}


def test_state_records_changes() -> None:
    value, delta = {"a": 1}, {}
    state = State(value, delta)
    assert not state.has_delta()
    state["b"] = 2
    state.update({"c": 3})
    assert state.setdefault("d", 4) == 4
    assert (state.get("b"), state.get("nothing"), "c" in state, state["a"]) == (2, None, True, 1)
    assert delta == {"b": 2, "c": 3, "d": 4}
    assert state.to_dict() == value == {"a": 1, "b": 2, "c": 3, "d": 4}
