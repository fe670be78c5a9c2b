"""Seed: resume, "Reanudar un flujo de trabajo detenido". (The `api_server` and its curl command: tests/end2end/test_api_server.py.)"""

from __future__ import annotations

import pytest

from runtime.agents import SequentialAgent
from runtime.apps import App, ResumabilityConfig
from runtime.errors import ResumeError
from runtime.events import Event
from runtime.runners import Runner
from runtime.sessions import InMemorySessionService
from tests.agent_specs import message
from tests.seeds.running import llm_agent, texts


async def stopped(*invocation_ids: str) -> InMemorySessionService:
    """Return a service whose session has only the user messages of these invocations."""
    service = InMemorySessionService()
    session = await service.create_session(app_name="my_resumable_agent", user_id="u_123", session_id="s_abc")
    for invocation_id in invocation_ids:
        await service.append_event(session, Event(invocation_id=invocation_id, author="user", content=message("go")))
    return service


def runner_on(service: InMemorySessionService) -> Runner:
    root_agent = SequentialAgent(name="pipe", sub_agents=[llm_agent("one", "first"), llm_agent("two", "second")])
    config = ResumabilityConfig(is_resumable=True)
    return Runner(app=App(name="my_resumable_agent", root_agent=root_agent, resumability_config=config), session_service=service)


@pytest.mark.rule("R10")
async def test_run_async_with_an_invocation_id() -> None:
    """As written."""
    runner = runner_on(await stopped("invocation-123"))
    resumed = runner.run_async(user_id="u_123", session_id="s_abc", invocation_id="invocation-123")
    events = [event async for event in resumed]
    assert texts(events) == ["first", "second"]
    assert {event.invocation_id for event in events} == {"invocation-123"}


@pytest.mark.rule("C9")
async def test_any_unfinished_invocation_can_be_resumed_not_only_the_latest() -> None:
    runner = runner_on(await stopped("invocation-1", "invocation-2"))
    for invocation_id in ("invocation-1", "invocation-2"):
        events = [event async for event in runner.run_async(user_id="u_123", session_id="s_abc", invocation_id=invocation_id)]
        assert texts(events) == ["first", "second"]
        assert {event.invocation_id for event in events} == {invocation_id}


async def test_an_unknown_invocation_is_rejected() -> None:
    runner = runner_on(await stopped("invocation-123"))
    with pytest.raises(ResumeError, match="has no such invocation"):
        await anext(runner.run_async(user_id="u_123", session_id="s_abc", invocation_id="invocation-124"))
