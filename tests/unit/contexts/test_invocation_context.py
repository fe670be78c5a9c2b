"""Contexts as google-adk's users construct and change them."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from runtime.agents import (
    BaseAgent,
    BaseAgentState,
    CallbackContext,
    InvocationContext,
    LoopAgentState,
    ReadonlyContext,
    RunConfig,
    ToolContext,
)
from runtime.agents.sequential_agent import SequentialAgentState
from runtime.apps import ResumabilityConfig
from runtime.artifacts import InMemoryArtifactService
from runtime.memory import InMemoryMemoryService
from runtime.plugins import PluginManager
from runtime.sessions import InMemorySessionService, Session


class Step(BaseAgentState):
    step: int = 0


def context(**more: Any) -> InvocationContext:
    return InvocationContext(
        invocation_id="i",
        agent=BaseAgent(name="agent", sub_agents=[BaseAgent(name="below")]),
        session=Session(id="s", app_name="app", user_id="u", state={"k": 1}),
        session_service=InMemorySessionService(),
        **more,
    )


@pytest.mark.rule("R11")
def test_a_context_accepts_all_fields_and_reassignment() -> None:
    ctx = context(
        artifact_service=InMemoryArtifactService(),
        memory_service=InMemoryMemoryService(),
        user_content=types.UserContent("hi"),
        run_config=RunConfig(),
        branch="p.a",
        plugin_manager=PluginManager(plugins=[]),
        resumability_config=ResumabilityConfig(is_resumable=True),
    )
    assert ctx.is_resumable
    ctx.resumability_config = None
    assert not ctx.is_resumable
    ctx.session, ctx.artifact_service, ctx.branch = Session(id="t", app_name="app", user_id="v"), None, None
    assert (ctx.session.id, ctx.user_id, ctx.app_name) == ("t", "v", "app")


@pytest.mark.rule("R11")
def test_checkpoints_are_set_ended_and_removed() -> None:
    ctx = context()
    ctx.set_agent_state("agent", agent_state=Step(step=2))
    assert (ctx.agent_states, ctx.end_of_agents) == ({"agent": {"step": 2}}, {"agent": False})
    ctx.set_agent_state("agent", end_of_agent=True)
    assert (ctx.agent_states, ctx.end_of_agents) == ({}, {"agent": True})
    ctx.set_agent_state("agent")
    assert (ctx.agent_states, ctx.end_of_agents) == ({}, {})


def test_reset_removes_the_checkpoints_below_an_agent() -> None:
    ctx = context()
    for name in ("agent", "below"):
        ctx.set_agent_state(name, agent_state=Step())
    ctx.reset_sub_agent_states("agent")
    assert set(ctx.agent_states) == {"agent"}


@pytest.mark.rule("R11")
def test_the_json_of_checkpoints() -> None:
    assert SequentialAgentState(current_sub_agent="a").model_dump(mode="json") == {"current_sub_agent": "a"}
    assert LoopAgentState(current_sub_agent="a", times_looped=2).model_dump(mode="json") == {"current_sub_agent": "a", "times_looped": 2}


@pytest.mark.rule("R11")
def test_an_agents_own_checkpoint_and_its_event() -> None:
    ctx = context(branch="p")
    agent = ctx.agent
    assert agent._load_agent_state(ctx, Step) is None
    ctx.set_agent_state("agent", agent_state=Step(step=3))
    assert agent._load_agent_state(ctx, Step) is None  # not resumable
    ctx.resumability_config = ResumabilityConfig(is_resumable=True)
    assert agent._load_agent_state(ctx, Step) == Step(step=3)
    event = agent._create_agent_state_event(ctx)
    assert (event.author, event.branch, event.invocation_id) == ("agent", "p", "i")
    assert (event.actions.agent_state, event.actions.end_of_agent) == ({"step": 3}, None)
    ctx.set_agent_state("agent", end_of_agent=True)
    event = agent._create_agent_state_event(ctx)
    assert (event.actions.agent_state, event.actions.end_of_agent) == (None, True)


@pytest.mark.rule("R11")
def test_a_readonly_context_rejects_changes() -> None:
    readonly = ReadonlyContext(context(user_content=types.UserContent("hi")))
    assert (readonly.invocation_id, readonly.agent_name, readonly.user_id, dict(readonly.state)) == ("i", "agent", "u", {"k": 1})
    assert readonly.user_content == types.UserContent("hi")
    with pytest.raises(TypeError):
        readonly.state["k"] = 2  # type: ignore[index]


@pytest.mark.rule("R11")
async def test_contexts_call_the_services_for_their_session() -> None:
    ctx = context(artifact_service=InMemoryArtifactService(), memory_service=InMemoryMemoryService())
    callback = CallbackContext(ctx)
    assert await callback.save_artifact(filename="f", artifact=types.Part(text="one")) == 0
    assert await callback.save_artifact("f", types.Part(text="two")) == 1
    assert callback.actions.artifact_delta == {"f": 1}
    tool = ToolContext(invocation_context=ctx, function_call_id="c")
    loaded = [await tool.load_artifact("f"), await tool.load_artifact(filename="f", version=0), await tool.load_artifact("none")]
    assert [part and part.text for part in loaded] == ["two", "one", None]
    assert await tool.list_artifacts() == ["f"]
    assert (await tool.search_memory("x")).memories == []
    tool.state["k"] = 2
    assert (tool.actions.state_delta, callback.state["k"], callback.actions.state_delta) == ({"k": 2}, 2, {})


@pytest.mark.parametrize("use", ["save", "load", "list", "search", "remember"])
async def test_a_missing_service_is_reported(use: str) -> None:
    tool = ToolContext(context(), function_call_id="c")
    calls = {
        "save": lambda: tool.save_artifact("f", types.Part(text="x")),
        "load": lambda: tool.load_artifact("f"),
        "list": lambda: tool.list_artifacts(),
        "search": lambda: tool.search_memory("x"),
        "remember": lambda: tool.add_session_to_memory(),
    }
    with pytest.raises(ValueError, match="service"):
        await calls[use]()


@pytest.mark.rule("R11")
def test_a_confirmation_request_requires_a_call_id() -> None:
    with pytest.raises(ValueError, match="request_confirmation requires function_call_id"):
        ToolContext(context()).request_confirmation(hint="?")
    tool = ToolContext(context(), function_call_id="c")
    tool.request_confirmation(hint="Sure?", payload={"days": 1})
    asked = tool.actions.requested_tool_confirmations["c"]
    assert (asked.hint, asked.payload, asked.confirmed) == ("Sure?", {"days": 1}, False)
