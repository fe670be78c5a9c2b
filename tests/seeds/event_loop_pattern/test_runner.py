"""Seed: event-loop-pattern, "The Two Players: Runner and Execution Logic": "What the Runner Does"."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from google.genai import types

from runtime.agents import BaseAgent, InvocationContext
from runtime.errors import ResumeError, SessionNotFoundError
from runtime.events import Event
from runtime.runners import InMemoryRunner
from tests.seeds.running import run, runner_for, said, scripted, stored, texts


async def test_the_users_message_is_the_first_event_and_is_not_yielded() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        assert texts(ctx.session.events) == ["go"]
        assert ctx.user_content is not None
        yield said(agent, "answer")

    runner = runner_for(scripted(body))
    assert texts(await run(runner)) == ["answer"]
    events = (await stored(runner)).events
    assert [event.author for event in events] == ["user", "agent"]
    assert events[0].content is not None
    assert events[0].content.role == "user"
    assert events[0].invocation_id == events[1].invocation_id != ""


async def test_a_message_without_a_role_is_the_users() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "x")

    runner = runner_for(scripted(body))
    async for _ in runner.run_async(user_id="u", session_id="s", new_message=types.Content(parts=[types.Part(text="hi")])):
        pass
    content = (await stored(runner)).events[0].content
    assert content is not None
    assert content.role == "user"


async def test_a_session_that_does_not_exist() -> None:
    runner = InMemoryRunner(scripted(lambda agent, ctx: agent))  # type: ignore[arg-type, return-value]
    with pytest.raises(SessionNotFoundError, match="Session not found: s"):
        await run(runner)


async def test_neither_a_message_nor_an_invocation() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "x")

    with pytest.raises(ResumeError, match="requires a new_message or a resumable app"):
        await run(runner_for(scripted(body)), None)
    with pytest.raises(ResumeError, match="either a new_message or an invocation_id"):
        await run(runner_for(scripted(body), resumable=True), None)
