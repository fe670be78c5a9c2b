"""Seed: event-loop-pattern, "Error Handling": exceptions reach the agent, partial changes are rolled back."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from google.genai import types

from runtime.agents import BaseAgent, InvocationContext, ParallelAgent, SequentialAgent
from runtime.errors import UnstorableValueError
from runtime.events import Event, EventActions
from tests.seeds.running import Recording, run, runner_for, said, scripted, stored, texts


@pytest.mark.rule("E2")
async def test_a_failed_commit_is_raised_at_the_agents_own_yield_and_changes_nothing() -> None:
    service = Recording()
    service.fails = {"two"}
    caught: list[str] = []

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "one", actions=EventActions(state_delta={"one": 1}))
        ctx.session.state["local"] = "write"
        try:
            yield said(agent, "two", actions=EventActions(state_delta={"one": 2, "two": 2}))
        except OSError as error:
            caught.append(str(error))
        assert ctx.session.state == {"one": 1}
        yield said(agent, "three")

    runner = runner_for(scripted(body), service)
    assert texts(await run(runner)) == ["one", "three"]
    assert caught == ["the disk is full"]
    assert (await stored(runner)).state == {"one": 1}


async def test_an_uncaught_commit_error_fails_the_run() -> None:
    service = Recording()
    service.fails = {"two"}
    cleaned: list[str] = []

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        try:
            yield said(agent, "one")
            yield said(agent, "two")
            yield said(agent, "never")
        finally:
            cleaned.append("finally")

    runner = runner_for(SequentialAgent(name="outer", sub_agents=[scripted(body)]), service)
    with pytest.raises(OSError, match="the disk is full"):
        await run(runner)
    assert cleaned == ["finally"]
    assert texts((await stored(runner)).events) == ["go", "one"]


@pytest.mark.rule("E2")
@pytest.mark.parametrize("outer", [SequentialAgent, ParallelAgent])
async def test_workflow_agents_forward_a_commit_error_to_the_child_that_yielded(outer: type[BaseAgent]) -> None:
    service = Recording()
    service.fails = {"bad"}
    caught: list[str] = []

    async def catching(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        try:
            yield said(agent, "bad")
        except OSError:
            caught.append(agent.name)
        yield said(agent, f"{agent.name} continued")

    async def calm(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "calm")

    runner = runner_for(outer(name="outer", sub_agents=[scripted(catching, "first"), scripted(calm, "second")]), service)
    assert sorted(texts(await run(runner))) == ["calm", "first continued"]
    assert caught == ["first"]


async def test_a_value_that_cannot_be_stored_is_rejected_before_the_commit() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "x", actions=EventActions(state_delta={"fine": 1, "cart": {"items": [1, {2, 3}]}}))

    runner = runner_for(scripted(body))
    with pytest.raises(UnstorableValueError, match=r"state\['cart'\]\['items'\]\[1\]"):
        await run(runner)
    session = await stored(runner)
    assert (session.state, texts(session.events)) == ({}, ["go"])


@pytest.mark.rule("E5")
async def test_yielding_anything_but_an_event_raises_a_type_error_in_the_agent() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        try:
            yield "a string"  # type: ignore[misc]
        except TypeError as error:
            yield said(agent, str(error))

    assert "yielded a str" in texts(await run(runner_for(scripted(body))))[0]


async def test_each_sibling_receives_its_own_commit_error() -> None:
    service = Recording()
    service.fails = {"bad"}
    caught: list[str] = []

    async def catching(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        try:
            yield said(agent, "bad")
        except OSError:
            caught.append(agent.name)

    agents = [scripted(catching, name) for name in ("first", "second", "third")]
    await run(runner_for(ParallelAgent(name="outer", sub_agents=[*agents]), service))
    assert sorted(caught) == ["first", "second", "third"]


@pytest.mark.parametrize("hook", ["before_agent_callback", "after_agent_callback"])
async def test_a_failed_commit_of_a_callbacks_event_fails_the_run(hook: str) -> None:
    service = Recording()
    service.fails = {"bad"}

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "good")

    root = scripted(body)
    setattr(root, hook, lambda callback_context: types.Content(role="model", parts=[types.Part(text="bad")]))
    with pytest.raises(OSError, match="the disk is full"):
        await run(runner_for(root, service))
