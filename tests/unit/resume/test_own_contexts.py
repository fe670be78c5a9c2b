"""Agents resumed with an `InvocationContext` of the caller's own, without a Runner, as google-adk's users do in tests."""

from __future__ import annotations

from typing import Any

import pytest
from google.genai import types

from runtime.agents import (
    BaseAgent,
    BaseAgentState,
    InvocationContext,
    LlmAgent,
    LoopAgent,
    ParallelAgent,
    RunConfig,
    SequentialAgent,
)
from runtime.agents.loop_agent import LoopAgentState
from runtime.agents.sequential_agent import SequentialAgentState
from runtime.apps import ResumabilityConfig
from runtime.events import Event, EventActions
from runtime.models.scripted_llm import ScriptedLlm
from runtime.sessions import InMemorySessionService
from tests.seeds.running import llm_agent

ran: list[str] = []


def look() -> dict[str, str]:
    """Look."""
    ran.append("look")
    return {"result": "ok"}


def told(author: str, *parts: types.Part, **actions: Any) -> Event:
    content = types.Content(parts=list(parts)) if parts else None
    return Event(author=author, invocation_id="i", content=content, actions=EventActions(**actions))


def call(name: str, call_id: str | None = None, **args: Any) -> types.Part:
    return types.Part(function_call=types.FunctionCall(id=call_id, name=name, args=args))


def response(name: str, call_id: str | None = None, result: Any = "ok") -> types.Part:
    return types.Part(function_response=types.FunctionResponse(id=call_id, name=name, response={"result": result}))


async def resumed(agent: BaseAgent, past: list[Event], states: dict[str, BaseAgentState], ended: tuple[str, ...] = ()) -> list[str]:
    """Return `author: what` of the events that the agent yields."""
    service = InMemorySessionService()
    session = await service.create_session(app_name="app", user_id="u")
    for event in past:
        await service.append_event(session, event)
    ctx = InvocationContext(
        invocation_id="i",
        agent=agent,
        session=session,
        session_service=service,
        resumability_config=ResumabilityConfig(is_resumable=True),
        run_config=RunConfig(),
    )
    ctx.agent_states.update({name: state.model_dump(mode="json") for name, state in states.items()})
    ctx.end_of_agents.update(dict.fromkeys(ended, True))
    found = []
    async for event in agent.run_async(ctx):
        await service.append_event(session, event)
        texts = [part.text or (f"{part.function_response.name})" if part.function_response else "call") for part in _parts(event)]
        what = " ".join(texts) or ("end" if event.actions.end_of_agent else "checkpoint")
        found.append(f"{event.author}: {what}")
    return found


def _parts(event: Event) -> list[types.Part]:
    return (event.content.parts if event.content else None) or []


def tree() -> LlmAgent:
    sub = llm_agent("sub", "from sub", tools=[look])
    return LlmAgent(name="root", model=ScriptedLlm(replies=["from root"]), tools=[look], sub_agents=[sub])


TRANSFER = [
    told("root", call("transfer_to_agent", agent_name="sub")),
    told("root", response("transfer_to_agent", result=None), transfer_to_agent="sub"),
]
NEW = BaseAgentState()


@pytest.mark.rule("C1")
@pytest.mark.parametrize(
    ("past", "expected"),
    [
        (TRANSFER[:1], ["root: transfer_to_agent)", "sub: from sub", "sub: end", "root: end"]),
        (TRANSFER, ["sub: from sub", "sub: end", "root: end"]),
        (TRANSFER[1:], ["sub: from sub", "sub: end", "root: end"]),
        ([told("root", call("look", "1"))], ["root: look)", "root: from root", "root: end"]),
        ([told("root", types.Part(text="said"))], ["root: from root", "root: end"]),  # without an end of its own, it continues
        ([told("root", call("look", "1")), told("root", response("look", "1"))], ["root: from root", "root: end"]),
        (
            [*TRANSFER, told("sub", call("look", "2")), told("user", response("look", "2"))],
            ["sub: from sub", "sub: end", "root: end"],
        ),
        (
            [*TRANSFER, told("root", call("look", "1")), told("sub", call("look", "2")), told("user", response("look", "1"))],
            ["root: from root", "root: end"],
        ),
        ([*TRANSFER, told("sub", call("look", "2"))], ["sub: look)", "sub: from sub", "sub: end", "root: end"]),
    ],
    ids=["transfer call", "transfer", "transfer response", "call", "answer", "response", "answer to sub", "answer to root", "call of sub"],
)
async def test_an_llm_agent_continues_where_the_events_end(past: list[Event], expected: list[str]) -> None:
    """The same events as google-adk 1.39."""
    assert await resumed(tree(), past, {"root": NEW, "sub": NEW}) == expected


async def test_workflow_agents_continue_at_their_state() -> None:
    def kids() -> list[BaseAgent]:
        return [llm_agent(name, name) for name in ("a", "b")]

    sequence = SequentialAgent(name="top", sub_agents=kids())
    assert await resumed(sequence, [], {"top": SequentialAgentState(current_sub_agent="b")}) == ["b: b", "b: end", "top: end"]
    loop = LoopAgent(name="top", sub_agents=kids(), max_iterations=2)
    state = LoopAgentState(current_sub_agent="b", times_looped=1)
    assert await resumed(loop, [], {"top": state}) == ["b: b", "b: end", "top: end"]
    parallel = ParallelAgent(name="top", sub_agents=kids())
    assert await resumed(parallel, [], {"top": NEW}, ended=("a",)) == ["b: b", "b: end", "top: end"]


async def test_a_context_without_states_begins() -> None:
    assert await resumed(tree(), [told("root", types.Part(text="earlier"))], {}) == ["root: from root", "root: end"]
