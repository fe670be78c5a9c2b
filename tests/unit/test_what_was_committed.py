"""Committed events do not change when agents, tools and callbacks later change the objects they were given."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncGenerator
from copy import deepcopy
from typing import Any

import pytest

from runtime.agents import BaseAgent, CallbackContext, InvocationContext, LlmAgent, ToolContext
from runtime.events import Event, EventActions
from runtime.history.in_memory import history_in_memory
from runtime.history.state_at import History
from runtime.models import LlmRequest
from runtime.models.scripted_llm import Reply, ScriptedLlm
from tests.seeds.running import Recording, resume, run, runner_for, said, scripted, stored


@pytest.mark.rule("E3")
async def test_a_list_changed_in_place_is_stored_separately_in_each_event() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        for number in range(3):
            cart = ctx.session.state.get("cart", [])
            cart.append(number)
            yield Event(author=agent.name, actions=EventActions(state_delta={"cart": cart}))

    runner = runner_for(scripted(body))
    yielded = await run(runner)
    wanted = [{"cart": [0]}, {"cart": [0, 1]}, {"cart": [0, 1, 2]}]
    assert [event.actions.state_delta for event in yielded] == wanted
    assert [event.actions.state_delta for event in (await stored(runner)).events[1:]] == wanted
    assert [History(yielded, baseline={}).state_at(index).session for index in range(3)] == wanted


async def test_a_value_changed_in_place_without_an_event_is_not_stored_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def tool(tool_context: ToolContext) -> str:
        tool_context.state["cart"].append("unsaid")
        return "ok"

    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=[Reply(calls=[("tool", {})]), "done"]), tools=[tool])
    runner = runner_for(agent)
    await runner.session_service.create_session(app_name="app", user_id="u", session_id="s", state={"cart": ["first"]})
    with caplog.at_level(logging.WARNING, "runtime"):
        await run(runner)
    assert (await stored(runner)).state == {"cart": ["first"]}
    assert "not stored: cart" in caplog.text


async def test_a_failed_event_resets_values_changed_in_place() -> None:
    seen: list[Any] = []

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield Event(author=agent.name, actions=EventActions(state_delta={"new": ["a"]}))
        ctx.session.state["old"].append("b")
        ctx.session.state["new"].append("b")
        try:
            yield said(agent, "fails")
        except OSError:
            seen.append(deepcopy(ctx.session.state))
        ctx.session.state["new"].append("c")
        try:
            yield said(agent, "fails")
        except OSError:
            seen.append(deepcopy(ctx.session.state))

    service = Recording()
    service.fails = {"fails"}
    runner = runner_for(scripted(body), service)
    await service.create_session(app_name="app", user_id="u", session_id="s", state={"old": ["a"]})
    await run(runner)
    assert seen == [{"old": ["a"], "new": ["a"]}] * 2


async def test_a_tool_that_changes_its_arguments_does_not_change_the_stored_call() -> None:
    def buy(items: list[str], options: dict[str, Any]) -> str:
        items.clear()
        options["gift"] = True
        return "ok"

    args = {"items": ["a", "b"], "options": {"wrap": "blue"}}
    runner = runner_for(LlmAgent(name="agent", model=ScriptedLlm(replies=[Reply(calls=[("buy", args)]), "done"]), tools=[buy]))
    await run(runner)
    calls = [call.args for event in (await stored(runner)).events for call in event.get_function_calls()]
    assert calls == [{"items": ["a", "b"], "options": {"wrap": "blue"}}]


@pytest.mark.rule("E3")
async def test_a_callback_that_changes_the_request_does_not_change_stored_events() -> None:
    asked: list[Any] = []

    def hide(callback_context: CallbackContext, llm_request: LlmRequest) -> None:
        for content in llm_request.contents:
            for part in content.parts or []:
                if part.function_call and part.function_call.args:
                    part.function_call.args["who"]["name"] = "hidden"
                if part.function_response and part.function_response.response:
                    part.function_response.response["card"] = "hidden"
                    asked.append(part.function_response.response)

    def look_up(who: dict[str, str]) -> dict[str, str]:
        return {"card": "4000"}

    model = ScriptedLlm(replies=[Reply(calls=[("look_up", {"who": {"name": "Ada"}})]), "done"])
    runner = runner_for(LlmAgent(name="agent", model=model, tools=[look_up], before_model_callback=hide))
    await run(runner)
    events = (await stored(runner)).events
    assert asked == [{"card": "hidden"}]
    assert [call.args for event in events for call in event.get_function_calls()] == [{"who": {"name": "Ada"}}]
    assert [answer.response for event in events for answer in event.get_function_responses()] == [{"card": "4000"}]


async def test_a_resumed_runs_first_committed_event_is_marked_even_after_a_failed_commit() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        if ctx.shared.resumed is None:
            yield Event(author=agent.name, actions=EventActions(state_delta={"temp:draft": 1}))
            raise RuntimeError("the power went")
        with contextlib.suppress(OSError):
            yield said(agent, "fails")
        yield said(agent, "on we go")

    service = Recording()
    runner = runner_for(scripted(body), service, resumable=True)
    with pytest.raises(RuntimeError, match="the power went"):
        await run(runner)
    service.fails = {"fails"}
    await resume(runner)
    history = history_in_memory(service, (await stored(runner)).key)
    assert [history.state_at(index).temp for index in (1, 2)] == [{"temp:draft": 1}, {}]
