"""Agents that declare the state that they write."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, Field

from runtime.agents import LlmAgent
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.sessions.state import State, StateSchemaError
from runtime.tools import ToolContext
from tests.seeds.running import run, runner_for, stored


class Declared(BaseModel):
    """A state."""

    n: int = Field(ge=0)
    items: list[int] = []


@pytest.mark.parametrize(("key", "value"), [("m", 1), ("n", -1), ("n", "x"), ("items", ["x"])])
def test_a_write_that_is_not_declared_is_refused_before_anything_is_written(key: str, value: Any) -> None:
    value_, delta = dict[str, Any](), dict[str, Any]()
    state = State(value_, delta, Declared)
    with pytest.raises(StateSchemaError, match=f"key {key!r} is not declared|value for {key!r} does not satisfy"):
        state[key] = value
    with pytest.raises(StateSchemaError):
        state.update({"n": 1, key: value, "user:x": 1})
    with pytest.raises(StateSchemaError):
        state.setdefault(key, value)
    assert (value_, delta) == ({}, {})


def test_declared_keys_and_keys_with_a_scope_are_written() -> None:
    delta = dict[str, Any]()
    state = State({}, delta, Declared)
    state.update({"n": 1, "user:any": object, "items": []})
    state["items"].append("unchecked, as in google-adk")
    state.record_changes()
    assert delta == {"n": 1, "user:any": object, "items": ["unchecked, as in google-adk"]}


async def test_an_agents_tools_and_answer_are_checked() -> None:
    async def write(key: str, tool_context: ToolContext) -> str:
        tool_context.state[key] = 1
        return "ok"

    model = ScriptedLlm(replies=[Reply(calls=[("write", {"key": "n"})]), Reply(calls=[("write", {"key": "m"})])])
    runner = runner_for(LlmAgent(name="agent", model=model, tools=[write], state_schema=Declared))
    with pytest.raises(StateSchemaError, match="'m' is not declared"):
        await run(runner)
    assert (await stored(runner)).state == {"n": 1}
    answering = LlmAgent(name="agent", model=ScriptedLlm(replies=["text"]), output_key="n", state_schema=Declared)
    with pytest.raises(StateSchemaError, match="'n' does not satisfy"):
        await run(runner_for(answering))
