"""Committed events do not change when agents, tools and callbacks later change the objects they were given."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import AsyncGenerator
from copy import deepcopy
from typing import Any

import pytest
from google.genai import types

from runtime.agents import BaseAgent, CallbackContext, InvocationContext, LlmAgent, ToolContext
from runtime.events import Event, EventActions
from runtime.history.in_memory import history_in_memory
from runtime.history.state_at import History
from runtime.models import BaseLlm, LlmRequest, LlmResponse
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.sessions import BaseSessionService
from tests.agent_specs import message
from tests.seeds.running import Recording, resume, run, runner_for, said, scripted, stored, texts


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


async def test_a_session_value_changed_in_place_without_an_event_is_not_stored_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def tool(tool_context: ToolContext) -> str:
        tool_context.session.state["cart"].append("unsaid")
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


def _spoil(event: Event) -> None:
    """Change everything that can be changed in an event."""
    for part in (event.content.parts if event.content else None) or []:
        if part.text:
            part.text = "changed"
        if part.function_call and part.function_call.args:
            part.function_call.args["who"]["name"] = "changed"
        if part.function_response and part.function_response.response:
            part.function_response.response["card"] = "changed"
    if event.content and event.content.parts:
        event.content.parts.append(types.Part(text="added"))
    event.author = "changed"
    event.actions.state_delta["added"] = 1
    for value in event.actions.state_delta.values():
        if isinstance(value, list):
            value.append("changed")
    event.actions.artifact_delta["added"] = 1
    event.actions.requested_auth_configs["added"] = {}
    for owner in (event, event.actions):  # fields of a newer version
        assert owner.model_extra is not None
        owner.model_extra["added"] = 1
    if event.actions.agent_state is not None:
        event.actions.agent_state["step"] = "changed"
    event.custom_metadata = {**(event.custom_metadata or {}), "added": 1}
    if event.usage_metadata:
        event.usage_metadata.total_token_count = 99
    event.long_running_tool_ids = {"added"}


@pytest.mark.rule("E3")
async def test_an_event_changed_after_its_commit_changes_no_history_and_no_state(service: BaseSessionService) -> None:
    seen: list[Any] = []

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        notes = ["first"]
        call = types.FunctionCall(id="c", name="f", args={"who": {"name": "Ada"}})
        answer = types.FunctionResponse(id="c", name="f", response={"card": "4000"})
        parts = [types.Part(text="said"), types.Part(function_call=call), types.Part(function_response=answer)]
        event = Event(
            author=agent.name,
            content=types.Content(role="model", parts=parts),
            actions=EventActions(state_delta={"notes": notes, "temp:draft": "kept"}, agent_state={"step": 1}),
            usage_metadata=types.GenerateContentResponseUsageMetadata(total_token_count=5),
            custom_metadata={"of": ["mine"]},
        )
        yield event
        seen.append(deepcopy(ctx.session.state))
        notes.append("changed")
        _spoil(event)
        seen.append(deepcopy(ctx.session.state))
        seen.append(list(ctx.session.events))

    runner = runner_for(scripted(body), service)
    question = message("go")
    async for event in runner.run_async(user_id="u", session_id="s", new_message=question):
        before = event.model_copy(deep=True)
        assert question.parts
        question.parts[0].text = "changed"
        _spoil(event)
    kept = await stored(runner)
    assert texts(kept.events[:1]) == ["go"]
    assert kept.events[1] == before and kept.state == {"notes": ["first"]}
    assert seen[0] == seen[1] == {"notes": ["first"], "temp:draft": "kept"}
    assert seen[2] == kept.events


@pytest.mark.rule("E3")
async def test_an_event_changed_after_its_commit_changes_no_request_to_a_model(service: BaseSessionService) -> None:
    answer = types.Content(role="model", parts=[types.Part(text="first answer")])
    requests: list[list[str]] = []

    class Client(BaseLlm):
        async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
            requests.append([part.text or "" for content in llm_request.contents for part in content.parts or []])
            yield LlmResponse(content=answer)
            assert answer.parts
            answer.parts[0].text = "changed by the client"

    runner = runner_for(LlmAgent(name="agent", model=Client(model="client")), service)
    question = message("go")
    async for event in runner.run_async(user_id="u", session_id="s", new_message=question):
        assert question.parts
        question.parts[0].text = "changed by the caller"
        _spoil(event)
    runner = runner_for(LlmAgent(name="agent", model=Client(model="client")), service)
    await run(runner, "again")
    assert requests == [["go"], ["go", "first answer", "again"]]


@pytest.mark.rule("E3")
async def test_a_model_client_that_changes_its_request_changes_no_stored_events(service: BaseSessionService) -> None:
    class Client(BaseLlm):
        async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
            for content in llm_request.contents:
                for part in content.parts or []:
                    part.text = "changed by the client"
            yield LlmResponse(content=types.ModelContent("answer"))

    runner = runner_for(LlmAgent(name="agent", model=Client(model="client")), service)
    await run(runner, "go")
    await run(runner, "again")
    assert texts((await stored(runner)).events) == ["go", "answer", "again", "answer"]


@pytest.mark.rule("E3")
async def test_a_changed_message_of_the_caller_does_not_change_the_invocations_message() -> None:
    seen: list[str] = []

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "one")
        assert ctx.user_content and ctx.user_content.parts
        seen.append(ctx.user_content.parts[0].text or "")
        ctx.user_content.parts[0].text = "changed by the agent"

    runner = runner_for(scripted(body))
    question = message("go")
    async for _event in runner.run_async(user_id="u", session_id="s", new_message=question):
        assert question.parts
        question.parts[0].text = "changed by the caller"
    assert seen == ["go"] and texts((await stored(runner)).events) == ["go", "one"]


@pytest.mark.rule("E2")
async def test_a_refused_event_keeps_its_temp_keys_and_its_values() -> None:
    event = Event(author="agent", actions=EventActions(state_delta={"temp:draft": 1, "cart": [1, 2]}))
    service = Recording()
    service.fails = {"?"}
    session = await service.create_session(app_name="app", user_id="u", session_id="s")
    with pytest.raises(OSError, match="the disk is full"):
        await service.append_event(session, event)
    assert event.actions.state_delta == {"temp:draft": 1, "cart": [1, 2]}
