"""Seed: event-loop-pattern, "The Two Players: Runner and Execution Logic": "What the Runner Does"."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
from google.genai import types

from runtime.agents import BaseAgent, CallbackContext, InvocationContext, LlmAgent, LoopAgent, RunConfig
from runtime.errors import ResumeError, SessionNotFoundError
from runtime.events import Event, EventActions
from runtime.models import LlmRequest, LlmResponse
from runtime.models.scripted_llm import Reply, ScriptedLlm
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


@pytest.mark.rule("E4")
async def test_a_message_without_a_role_gets_the_user_role() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "x")

    runner = runner_for(scripted(body))
    async for _ in runner.run_async(user_id="u", session_id="s", new_message=types.Content(parts=[types.Part(text="hi")])):
        pass
    content = (await stored(runner)).events[0].content
    assert content is not None
    assert content.role == "user"


async def test_a_missing_session_is_an_error() -> None:
    runner = InMemoryRunner(scripted(lambda agent, ctx: agent))  # type: ignore[arg-type, return-value]
    with pytest.raises(SessionNotFoundError, match="Session not found: s"):
        await run(runner)


async def test_a_run_requires_a_message_or_an_invocation() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said(agent, "x")

    with pytest.raises(ResumeError, match="requires a new_message or a resumable app"):
        await run(runner_for(scripted(body)), None)
    with pytest.raises(ResumeError, match="either a new_message or an invocation_id"):
        await run(runner_for(scripted(body), resumable=True), None)


def talkers(root: str = "root", **more: object) -> tuple[LlmAgent, LlmAgent]:
    """Return an agent that transfers to its sub-agent, and the sub-agent."""
    helper = LlmAgent(name="helper", model=ScriptedLlm(replies=["helped", "helped again"]), description="Helps.", **more)
    calls = Reply(calls=[("transfer_to_agent", {"agent_name": "helper"})])
    return LlmAgent(name=root, model=ScriptedLlm(replies=[calls, "root again"]), sub_agents=[helper]), helper


def calls_look_up() -> tuple[LlmAgent, LlmAgent]:
    """Return an agent that calls a tool while its callback transfers to its sub-agent, and the sub-agent."""
    root, helper = talkers()

    def on_call(callback_context: CallbackContext, llm_response: LlmResponse) -> None:
        if llm_response.content and any(part.function_call for part in llm_response.content.parts or []):
            callback_context.actions.transfer_to_agent = "helper"

    def look_up() -> str:
        return "found"

    root.model, root.tools = ScriptedLlm(replies=[Reply(calls=[("look_up", {})]), "root again"]), [look_up]
    root.after_model_callback = on_call
    return root, helper


@pytest.mark.rule("R1")
async def test_a_message_goes_to_the_agent_that_answered_last_if_reachable_by_transfer() -> None:
    """Step 4 of the seed, `findAgentToRun`."""
    runner = runner_for(talkers()[0])
    assert [event.author for event in await run(runner)] == ["root", "root", "helper"]
    assert [event.author for event in await run(runner)] == ["helper"]


@pytest.mark.rule("R1")
async def test_a_message_goes_to_the_root_if_the_last_agent_is_not_reachable() -> None:
    runner = runner_for(talkers(disallow_transfer_to_parent=True)[0])
    assert [event.author for event in await run(runner)] == ["root", "root", "helper"]
    assert [event.author for event in await run(runner)] == ["root"]


@pytest.mark.rule("E8")
@pytest.mark.parametrize("where", ["call", "response"])
async def test_a_transfer_on_the_call_or_response_event_happens_once(where: str) -> None:
    """The seed's events have the transfer on the call, google-adk's on the response."""
    root, _ = talkers()

    def on_call(callback_context: CallbackContext, llm_response: LlmResponse) -> None:
        if where == "call" and llm_response.content.parts[0].function_call:
            callback_context.actions.transfer_to_agent = "helper"

    root.after_model_callback = on_call
    runner = runner_for(root)
    events = await run(runner)
    assert [event.author for event in events] == ["root", "root", "helper"]
    assert texts(events) == ["helped"]


@pytest.mark.rule("E8")
async def test_the_call_event_of_a_transfer_names_the_target() -> None:
    events = await run(runner_for(talkers()[0]))
    assert [event.actions.transfer_to_agent for event in events] == ["helper", "helper", None]
    assert events[0].get_function_calls() and events[1].get_function_responses()


@pytest.mark.rule("E8")
@pytest.mark.parametrize("resumable", [False, True])
async def test_a_transfer_on_the_call_event_of_another_tool_acts_after_its_result(resumable: bool) -> None:
    """A callback orders the transfer; no response event carries it."""
    root, _ = calls_look_up()
    runner = runner_for(root, resumable=resumable)
    events = [event for event in await run(runner) if event.content]
    assert [event.author for event in events] == ["root", "root", "helper"]
    assert [event.actions.transfer_to_agent for event in events] == ["helper", None, None]


@pytest.mark.rule("E8")
@pytest.mark.parametrize("kept", [2, 3])
async def test_a_run_interrupted_before_such_a_transfer_continues_with_the_target(kept: int) -> None:
    """Killed after the call, or after its result."""
    runner = runner_for(calls_look_up()[0], resumable=True)
    await run(runner)
    past = (await stored(runner)).events[:kept]
    again = runner_for(calls_look_up()[0], resumable=True)
    session = await again.session_service.create_session(app_name="app", user_id="u", session_id="s")
    for event in past:
        await again.session_service.append_event(session, event.model_copy(deep=True))
    events = [event for event in await run(again, None, invocation_id=past[0].invocation_id) if event.content]
    assert [event.author for event in events] == ["root", "helper"][kept - 2 :]


@pytest.mark.rule("E8")
async def test_a_callback_that_answers_a_transfer_call_prevents_the_transfer() -> None:
    root, _ = talkers()
    root.before_tool_callback = lambda tool, args, tool_context: {"error": "not now"}
    events = await run(runner_for(root))
    assert [event.author for event in events] == ["root"] * 3 and texts(events) == ["root again"]


@pytest.mark.rule("E8")
async def test_a_run_interrupted_at_a_transfer_call_continues_with_the_target() -> None:
    runner = runner_for(talkers()[0], resumable=True)
    session = await runner.session_service.create_session(app_name="app", user_id="u", session_id="s")
    call = types.Part(function_call=types.FunctionCall(id="c1", name="transfer_to_agent", args={"agent_name": "helper"}))
    for event in (
        Event(invocation_id="i", author="user", content=types.UserContent("go")),
        Event(
            invocation_id="i",
            author="root",
            content=types.Content(role="model", parts=[call]),
            actions=EventActions(transfer_to_agent="helper"),
        ),
    ):
        await runner.session_service.append_event(session, event)
    events = await run(runner, None, invocation_id="i")
    assert texts(events) == ["helped"]
    assert [event.actions.transfer_to_agent for event in events if event.actions.transfer_to_agent] in ([], ["helper"])


@pytest.mark.rule("E6")
async def test_the_actions_of_partial_events_do_nothing() -> None:
    rounds: list[int] = []

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        rounds.append(len(rounds))
        actions = {"escalate": True, "transfer_to_agent": "helper", "end_of_agent": True, "state_delta": {"a": 1}}
        yield said(agent, "piece", partial=True, actions=EventActions(**actions))
        assert "a" not in ctx.session.state
        yield said(agent, "whole")

    async def after(callback_context: CallbackContext) -> types.Content:
        return types.ModelContent("after")

    worker = scripted(body)
    worker.after_agent_callback = after
    runner = runner_for(LoopAgent(name="loop", sub_agents=[worker], max_iterations=2))
    assert texts(await run(runner)) == ["piece", "whole", "after"] * 2
    assert (await stored(runner)).state == {} and rounds == [0, 1]


async def test_an_llm_agent_runs_over_the_history_without_a_message() -> None:
    seen: list[list[str | None]] = []

    def answer(request: LlmRequest) -> str:
        seen.append([part.text for content in request.contents for part in content.parts or []])
        return "again"

    runner = runner_for(LlmAgent(name="agent", model=ScriptedLlm(replies=["first", answer])))
    with pytest.raises(ResumeError, match="requires a new_message"):
        await run(runner, None)  # there is no history
    await run(runner)
    config = RunConfig(model_input_context=[types.UserContent("context")])
    events = [event async for event in runner.run_async(user_id="u", session_id="s", run_config=config)]
    assert [said.author for said in (await stored(runner)).events] == ["user", "agent", "agent"]
    assert seen == [["context", "go", "first"]]
    assert events[0].invocation_id != (await stored(runner)).events[0].invocation_id
