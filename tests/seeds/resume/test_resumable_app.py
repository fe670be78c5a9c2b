"""Seed: resume, "Agregar configuración reanudable"."""

from __future__ import annotations

import pytest
from google.genai import types

from runtime.apps import App, ResumabilityConfig
from runtime.errors import ResumeError
from runtime.runners import Runner
from runtime.sessions import InMemorySessionService
from tests.seeds.running import llm_agent, resume, run, runner_for, texts


@pytest.mark.rule("R10", "R11")
async def test_a_resumable_app_runs_and_stays_finished() -> None:
    root_agent = llm_agent("root", "hello")
    app = App(
        name="my_resumable_agent",
        root_agent=root_agent,
        resumability_config=ResumabilityConfig(
            is_resumable=True,
        ),
    )
    service = InMemorySessionService()
    await service.create_session(app_name="my_resumable_agent", user_id="u_123", session_id="s_abc")
    runner = Runner(app=app, session_service=service)
    message = types.Content(parts=[types.Part(text="hi")])
    events = [event async for event in runner.run_async(user_id="u_123", session_id="s_abc", new_message=message)]
    assert texts(events) == ["hello"]
    assert events[-1].actions.end_of_agent
    again = runner.run_async(user_id="u_123", session_id="s_abc", invocation_id=events[0].invocation_id)
    assert [event async for event in again] == []  # a finished invocation yields nothing


async def test_resuming_requires_a_resumable_app() -> None:
    runner = runner_for(llm_agent("root", "hello"))
    await run(runner)
    with pytest.raises(ResumeError, match="is_resumable=True"):
        await resume(runner)
