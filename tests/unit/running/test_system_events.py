"""Manual state edits and open calls of stopped runs, through a real Runner on every kind of session service."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from runtime.agents import BaseAgent, InvocationContext, LlmAgent
from runtime.debugger.calls import ToolCall
from runtime.errors.unstorable_value_error import UnstorableValueError
from runtime.events import Event
from runtime.events.kinds import kind_of
from runtime.flows.contents import Conversation
from runtime.history.invocations import invocations
from runtime.models.scripted_llm import ScriptedLlm
from runtime.running.system_events import CANCELLED_TEXT, ProgressError, StateEditError, is_state_edit
from runtime.sessions import BaseSessionService, DatabaseSessionService, InMemorySessionService
from runtime.tools import LongRunningFunctionTool
from tests.agent_specs import Emit
from tests.seeds.running import run, runner_for, scripted, stored, texts
from tests.unit.debugger.watched_run import WatchedRun, watching
from tests.unit.expressions.examples import said

IDS = {"user_id": "u", "session_id": "s"}


@pytest.fixture(params=["memory", "database"])
async def service(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[BaseSessionService, None]:
    if request.param == "memory":
        yield InMemorySessionService()
        return
    database = DatabaseSessionService(f"sqlite:///{tmp_path / 's.db'}")
    yield database
    await database.close()


async def test_state_is_edited_between_runs_and_undone(service: BaseSessionService) -> None:
    runner = runner_for(Emit(name="emit", lines=["1"], counter="n"), service)
    await run(runner)
    first = await runner.edit_state(**IDS, changes={"n": 5, "user:plan": "gold", "app:vat": None})
    assert (first.author, first.invocation_id != "", kind_of(first), is_state_edit(first)) == ("system", True, "state change", True)
    state = (await stored(runner)).state
    assert (state["n"], state["user:plan"], state["app:vat"]) == (5, "gold", None)
    assert first.custom_metadata == {"inspector_edited": {"state": {"before": {"n": 1}, "absent": ["user:plan", "app:vat"]}}}

    undone = await runner.undo_state_edit(**IDS, event_id=first.id)
    state = (await stored(runner)).state
    assert (state["n"], state["user:plan"], state["app:vat"]) == (1, None, None)
    redone = await runner.undo_state_edit(**IDS, event_id=undone.id)
    assert redone.actions.state_delta == first.actions.state_delta
    assert texts(await run(runner)) == ["1"]
    assert (await stored(runner)).state["n"] == 6


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, "nothing to change"),
        ({" ": 1}, "needs a name"),
        ({"temp:x": 1}, "never stored"),
        ({"x": {1}}, "set"),
        ({"x": float("nan")}, "nan"),
    ],
)
async def test_an_unstorable_edit_is_rejected_and_changes_nothing(changes: dict[str, Any], problem: str) -> None:
    runner = runner_for(Emit(name="emit", lines=["1"]))
    await run(runner)
    with pytest.raises((StateEditError, UnstorableValueError), match=problem):
        await runner.edit_state(**IDS, changes=changes)
    assert len((await stored(runner)).events) == 2


async def test_only_state_edits_without_later_changes_can_be_undone() -> None:
    runner = runner_for(Emit(name="emit", lines=["1"], counter="n"))
    await run(runner)
    edit = await runner.edit_state(**IDS, changes={"n": 5})
    await run(runner)
    with pytest.raises(StateEditError, match="has changed since"):
        await runner.undo_state_edit(**IDS, event_id=edit.id)
    with pytest.raises(StateEditError, match="Only a state edit"):
        await runner.undo_state_edit(**IDS, event_id=(await stored(runner)).events[1].id)
    with pytest.raises(StateEditError, match="no event"):
        await runner.undo_state_edit(**IDS, event_id="nothing")


async def test_state_is_edited_while_the_agent_is_held_and_the_agent_sees_it(service: BaseSessionService) -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield said("one")
        yield said(f"cart is {ctx.session.state.get('cart')}")

    runner = runner_for(scripted(body), service, resumable=True)
    watched = WatchedRun(runner, paused=True)
    async with asyncio.TaskGroup() as group:
        group.create_task(watched.play())
        await watched.next_hold()
        edit = await runner.edit_state(**IDS, changes={"cart": [1]})
        watched.debugger.resume()
    assert watched.error is None
    assert texts(watched.seen) == ["one", "cart is [1]"]
    session = await stored(runner)
    assert [event.id for event in session.events][2] == edit.id
    assert edit.invocation_id == watched.seen[0].invocation_id
    assert [invocation.status for invocation in invocations(session.events)] == ["finished"]


async def test_an_edit_after_the_final_answer_does_not_call_the_model_again() -> None:
    runner = runner_for(LlmAgent(name="a", model=ScriptedLlm(replies=["once", "twice"])), resumable=True)
    watched = WatchedRun(runner, paused=True)
    async with asyncio.TaskGroup() as group:
        group.create_task(watched.play())
        await watched.next_hold()
        await runner.edit_state(**IDS, changes={"x": 1})
        watched.debugger.stop()
    again = await run(runner_for(runner.agent, runner.session_service, resumable=True), None, invocation_id=watched.seen[0].invocation_id)
    assert texts(again) == []
    assert again[-1].actions.end_of_agent


async def test_an_edit_does_not_affect_the_invocations_status() -> None:
    runner = runner_for(LlmAgent(name="a", model=ScriptedLlm(replies=["done"])), resumable=True)
    watched = WatchedRun(runner)
    watched.debugger.breakpoints.add(when="before model")
    async with asyncio.TaskGroup() as group:
        group.create_task(watched.play())
        await watched.next_hold()
        await runner.edit_state(**IDS, changes={"x": 1})
        watched.debugger.resume()
    (invocation,) = invocations((await stored(runner)).events)
    assert (invocation.status, invocation.reason) == ("finished", "a reached its end")


@pytest.mark.parametrize("resumable", [True, False])
async def test_open_calls_of_a_stopped_run_are_cancelled_and_the_session_stays_usable(service: BaseSessionService, resumable: bool) -> None:
    blocked = asyncio.Event()

    async def hangs() -> None:
        blocked.set()
        await asyncio.Event().wait()

    def quick() -> dict[str, Any]:
        return {"ok": True}

    llm = ScriptedLlm(replies=[{"calls": [["quick", {}], ["hangs", {}]]}, "then"])
    runner = runner_for(LlmAgent(name="a", model=llm, tools=[hangs, quick]), service, resumable=resumable)
    watched = WatchedRun(runner)
    async with asyncio.TaskGroup() as group:
        group.create_task(watched.play())
        await blocked.wait()
        while resumable and len(watched.seen) < 2:  # noqa: ASYNC110  # the result of `quick` is committed soon
            await asyncio.sleep(0)
        watched.debugger.stop()
    assert watched.error is None
    invocation_id = watched.seen[0].invocation_id
    events = await runner.cancel_open_calls(**IDS, invocation_id=invocation_id, edits=watched.interception.unmarked_edits)
    assert await runner.cancel_open_calls(**IDS, invocation_id=invocation_id) == []
    (event,) = events
    names = [response.name for response in event.get_function_responses()]
    assert names == (["hangs"] if resumable else ["quick", "hangs"])
    assert all(response.response == {"error": CANCELLED_TEXT} for response in event.get_function_responses())
    assert (event.author, event.invocation_id, kind_of(event)) == ("a", invocation_id, "tool result")
    assert event.custom_metadata == {"inspector_cancelled": [response.id for response in event.get_function_responses()]}
    # The conversation continues by a resume that makes no call again, or by a new message.
    more = {"text": None, "invocation_id": invocation_id} if resumable else {"text": "and?"}
    assert texts(await run(runner_for(runner.agent, service, resumable=resumable), **more)) == ["then"]


@pytest.mark.parametrize("resumable", [True, False])
@pytest.mark.parametrize("receipt", [None, {"status": "asked"}])
async def test_calls_that_wait_for_a_person_keep_waiting(resumable: bool, receipt: Any) -> None:
    def ask() -> Any:
        return receipt

    agent = LlmAgent(name="a", model=ScriptedLlm(replies=[{"calls": [["ask", {}]]}, "x"]), tools=[LongRunningFunctionTool(ask)])
    runner = runner_for(agent, resumable=resumable)
    events = await run(runner)
    assert await runner.cancel_open_calls(**IDS, invocation_id=events[0].invocation_id) == []


async def test_a_cancelled_call_keeps_its_manual_edits() -> None:
    def pay(amount: int) -> None:
        return None

    llm = ScriptedLlm(replies=[{"calls": [["pay", {"amount": 5}]]}])
    async with watching(LlmAgent(name="a", model=llm, tools=[pay])) as watched:
        watched.debugger.breakpoints.add(when="before tool")
        hold = await watched.next_hold()
        assert isinstance(hold.call, ToolCall)
        hold.call.fail("no")
    invocation_id = watched.seen[0].invocation_id
    edits = watched.interception.unmarked_edits
    (event,) = await watched.runner.cancel_open_calls(**IDS, invocation_id=invocation_id, edits=edits)
    assert event.custom_metadata is not None
    assert event.custom_metadata["inspector_edited"]["calls"][hold.call.call_id]["failure"] == "no"


async def test_editing_a_missing_session_raises() -> None:
    runner = runner_for(Emit(name="emit", lines=[]))
    runner.auto_create_session = False
    with pytest.raises(Exception, match="Session not found"):
        await runner.edit_state(**IDS, changes={"x": 1})


def print_job() -> dict[str, Any]:
    """Start printing."""
    return {"status": "pending", "ticket": "T-1"}


def printing(service: BaseSessionService, *, resumable: bool) -> Any:
    agent = LlmAgent(
        name="printer", model=ScriptedLlm(replies=[{"calls": [["print_job", {}]]}, "printed"]), tools=[LongRunningFunctionTool(print_job)]
    )
    return runner_for(agent, service, resumable=resumable)


def answer_to(call_id: str, response: dict[str, Any]) -> types.Content:
    return types.Content(
        role="user", parts=[types.Part(function_response=types.FunctionResponse(id=call_id, name="print_job", response=response))]
    )


async def call_of(runner: Any) -> str:
    return next(call.id for event in (await stored(runner)).events for call in event.get_function_calls() if call.id)


@pytest.mark.parametrize("resumable", [True, False])
async def test_progress_leaves_a_long_running_call_open_until_it_is_answered(service: BaseSessionService, resumable: bool) -> None:
    runner = printing(service, resumable=resumable)
    await run(runner)
    call_id = await call_of(runner)
    before = (await stored(runner)).events
    (waiting,) = invocations(before)[0].pending
    assert (waiting.kind, waiting.call_id, waiting.so_far) == ("long_running", call_id, {"status": "pending", "ticket": "T-1"})
    for done in (0.4, 0.9):
        event = await runner.report_progress(**IDS, call_id=call_id, response={"status": "pending", "done": done})
        assert (event.author, event.invocation_id, kind_of(event)) == ("printer", before[0].invocation_id, "tool result")
        assert event.custom_metadata == {"inspector_progress": [call_id]}
    (waiting,) = invocations((await stored(runner)).events)[0].pending
    assert (waiting.call_id, waiting.so_far) == (call_id, {"status": "pending", "done": 0.9})
    assert len((await stored(runner)).events) == len(before) + 2, "no agent ran"

    said_now = [event async for event in runner.run_async(**IDS, new_message=answer_to(call_id, {"status": "done", "pages": 3}))]
    assert texts(said_now) == ["printed"]
    session = await stored(runner)
    assert [entry.status for entry in invocations(session.events)] == (["finished"] if resumable else ["finished", "finished"])
    seen = Conversation("printer", None).contents(session.events[:-1])
    responses = [part.function_response.response for content in seen for part in content.parts or [] if part.function_response]
    assert responses == [{"status": "done", "pages": 3}], "the model sees the answer instead of the reports"
    with pytest.raises(ProgressError, match="already been answered"):
        await runner.report_progress(**IDS, call_id=call_id, response={})


async def test_a_model_called_meanwhile_sees_the_newest_progress(service: BaseSessionService) -> None:
    runner = printing(service, resumable=False)
    await run(runner)
    await runner.report_progress(**IDS, call_id=await call_of(runner), response={"done": 0.4})
    seen = Conversation("printer", None).contents((await stored(runner)).events)
    assert [part.function_response.response for content in seen for part in content.parts or [] if part.function_response] == [
        {"done": 0.4}
    ]


async def test_a_paused_invocation_with_progress_is_not_resumed_without_an_answer(service: BaseSessionService) -> None:
    runner = printing(service, resumable=True)
    await run(runner)
    invocation = (await stored(runner)).events[0].invocation_id
    await runner.report_progress(**IDS, call_id=await call_of(runner), response={"done": 0.4})
    assert await run(runner, None, invocation_id=invocation) == []
    assert invocations((await stored(runner)).events)[0].status == "paused"


async def test_progress_of_other_than_open_long_running_calls_is_rejected(service: BaseSessionService) -> None:
    def quick() -> dict[str, Any]:
        """Be quick."""
        return {}

    agent = LlmAgent(name="agent", model=ScriptedLlm(replies=[{"calls": [["quick", {}]]}, "done"]), tools=[quick])
    runner = runner_for(agent, service)
    await run(runner)
    count = len((await stored(runner)).events)
    with pytest.raises(ProgressError, match="quick is not a long-running call"):
        await runner.report_progress(**IDS, call_id=await call_of(runner), response={})
    with pytest.raises(ProgressError, match="has the id unknown"):
        await runner.report_progress(**IDS, call_id="unknown", response={})
    assert len((await stored(runner)).events) == count
