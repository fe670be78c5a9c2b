"""Seed: session-state, "Organizando el State con Prefijos: El Alcance Importa": the owner and lifetime of each scope."""

from __future__ import annotations

from typing import Any

import pytest

from runtime.agents import LlmAgent, SequentialAgent, ToolContext
from runtime.events import Event, EventActions
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.sessions import InMemorySessionService
from tests.seeds.running import run, runner_for, stored


@pytest.mark.rule("S1")
async def test_user_state_is_shared_by_a_users_sessions_and_app_state_by_all_users() -> None:
    service = InMemorySessionService()
    one = await service.create_session(app_name="app", user_id="ana", session_id="1")
    await service.append_event(
        one, Event(author="system", actions=EventActions(state_delta={"k": 1, "user:lang": "fr", "app:code": "SAVE10"}))
    )
    two = await service.create_session(app_name="app", user_id="ana", session_id="2")
    other = await service.create_session(app_name="app", user_id="bo", session_id="1")
    elsewhere = await service.create_session(app_name="another", user_id="ana", session_id="1")
    assert two.state == {"user:lang": "fr", "app:code": "SAVE10"}
    assert other.state == {"app:code": "SAVE10"}
    assert elsewhere.state == {}


@pytest.mark.rule("C2", "S1", "S6")
async def test_temp_state_lives_for_the_invocation_is_shared_down_the_tree_and_never_stored() -> None:
    seen: list[Any] = []

    def first(tool_context: ToolContext) -> str:
        tool_context.state["temp:raw"] = opaque
        return "ok"

    def second(tool_context: ToolContext) -> str:
        seen.append(tool_context.state.get("temp:raw"))
        return "ok"

    opaque = object()  # temp: values may be any object
    agents = [
        LlmAgent(name=tool.__name__ + "_agent", model=ScriptedLlm(replies=[Reply(calls=[(tool.__name__, {})]), "done"]), tools=[tool])
        for tool in (first, second)
    ]
    runner = runner_for(SequentialAgent(name="both", sub_agents=list(agents)))
    await run(runner)
    assert seen == [opaque]
    session = await stored(runner)
    assert session.state == {}
    assert all(not event.actions.state_delta for event in session.events)
    later = runner_for(LlmAgent(name="later", model=ScriptedLlm(replies=[Reply(calls=[("second", {})]), "x"]), tools=[second]))
    later.session_service = runner.session_service
    await run(later)
    assert seen == [opaque, None]
