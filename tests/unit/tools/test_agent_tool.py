"""Agents as tools."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.genai import types
from pydantic import BaseModel, Field

from runtime.agents import BaseAgent, CallbackContext, InvocationContext, LlmAgent, RunConfig, SequentialAgent
from runtime.agents.invocation_context import LlmCallsLimitExceededError
from runtime.agents.run_config import StreamingMode
from runtime.artifacts import InMemoryArtifactService
from runtime.events import Event, EventActions
from runtime.models.llm_response import LlmResponse
from runtime.models.scripted_llm import Reply, ScriptedLlm
from runtime.plugins import BasePlugin
from runtime.sessions import InMemorySessionService, Session
from runtime.tools import AgentTool, ToolContext
from tests.seeds.running import Scripted, run, runner_for, scripted, stored, texts

ASK = Reply(calls=[("helper", {"request": "help me"})])


def caller(helper: BaseAgent, *replies: Any, **more: Any) -> LlmAgent:
    return LlmAgent(name="caller", model=ScriptedLlm(replies=[*replies] or [ASK, "done"]), tools=[AgentTool(helper, **more)])


def saying(text: str, **fields: Any) -> LlmAgent:
    return LlmAgent(name="helper", model=ScriptedLlm(replies=[text]), **fields)


def response(events: list[Event]) -> Event:
    (found,) = [event for event in events if event.get_function_responses()]
    return found


class Watcher(BasePlugin):
    """Records inner and outer events."""

    def __init__(self) -> None:
        super().__init__("watcher")
        self.inner: list[tuple[tuple[str | None, ...], Event]] = []
        self.outer: list[Event] = []

    async def on_inner_event_callback(
        self, *, invocation_context: InvocationContext, event: Event, call_ids: tuple[str | None, ...]
    ) -> None:
        assert invocation_context.session.id == "s"
        self.inner.append((call_ids, event))

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> None:
        self.outer.append(event)


async def test_the_answer_is_the_calls_result_and_inner_events_are_not_stored() -> None:
    runner = runner_for(caller(saying("sure")))
    events = await run(runner)
    assert response(events).get_function_responses()[0].response == {"result": "sure"}
    assert [event.author for event in (await stored(runner)).events] == ["user", "caller", "caller", "caller"]


async def test_the_request_is_the_agents_user_message() -> None:
    seen = []

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        seen.append((ctx.user_content, ctx.invocation_id, ctx.app_name, ctx.user_id))
        yield Event(author="helper", content=types.Content(role="model", parts=[types.Part(text="x")]))

    events = await run(runner_for(caller(scripted(body, "helper"))))
    assert seen == [(types.Content(role="user", parts=[types.Part(text="help me")]), events[0].invocation_id, "app", "u")]


async def test_state_is_passed_in_and_returned_in_the_responses_delta() -> None:
    seen: dict[str, Any] = {}

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        seen.update(ctx.session.state)
        delta = {"a": 2, "user:b": 3, "app:c": 4}
        yield Event(author="helper", actions=EventActions(state_delta=delta))
        seen["committed"] = ctx.session.state["a"]

    def prepare(callback_context: CallbackContext) -> None:
        callback_context.state["a"] = 1

    agent = caller(scripted(body, "helper"))
    agent.before_agent_callback = prepare
    runner = runner_for(agent)
    events = await run(runner)
    assert seen["a"] == 1 and seen["committed"] == 2
    assert response(events).actions.state_delta == {"a": 2, "user:b": 3, "app:c": 4}
    assert (await stored(runner)).state == {"a": 2, "user:b": 3, "app:c": 4}


@pytest.mark.parametrize("key", ["temp:x", "temp:user:x", "temp:"])
@pytest.mark.parametrize("streaming", [False, True])
async def test_temporary_state_is_shared_in_neither_direction(key: str, streaming: bool) -> None:
    seen: dict[str, Any] = {}

    def begin(callback_context: CallbackContext) -> None:
        seen["inner sees"] = callback_context.state.get(key)
        callback_context.state[key] = "inner"

    def note(tool_context: ToolContext) -> str:
        seen["inner keeps"] = tool_context.state.get(key)
        return "noted"

    helper = LlmAgent(name="helper", model=ScriptedLlm(replies=[Reply(calls=[("note", {})]), "sure"]), tools=[note])
    helper.before_agent_callback = begin
    agent = caller(helper)
    agent.before_agent_callback = lambda callback_context: callback_context.state.update({key: "outer"})
    agent.after_agent_callback = lambda callback_context: seen.update(outer=callback_context.state.get(key))
    runner = runner_for(agent)
    await run(runner, run_config=RunConfig(streaming_mode=StreamingMode.SSE if streaming else StreamingMode.NONE))
    assert seen == {"inner sees": None, "inner keeps": "inner", "outer": "outer"}
    assert key not in (await stored(runner)).state


async def test_artifacts_are_the_callers() -> None:
    async def save(callback_context: CallbackContext) -> None:
        assert await callback_context.load_artifact("old") == types.Part(text="old")
        await callback_context.save_artifact("new", types.Part(text="new"), {"k": 1})
        assert await callback_context.list_artifacts() == ["new", "old"]

    artifacts = InMemoryArtifactService()
    names = {"app_name": "app", "user_id": "u", "session_id": "s"}
    await artifacts.save_artifact(**names, filename="old", artifact=types.Part(text="old"))
    events = await run(runner_for(caller(saying("sure", before_agent_callback=save)), artifact_service=artifacts))
    assert response(events).actions.artifact_delta == {"new": 0}
    version = await artifacts.get_artifact_version(**names, filename="new")
    assert version is not None and version.custom_metadata == {"k": 1}


@pytest.mark.rule("R11")
@pytest.mark.parametrize("include_plugins", [True, False])
async def test_plugins_see_inner_events_at_every_depth(include_plugins: bool) -> None:
    inner = LlmAgent(name="inner", model=ScriptedLlm(replies=["deep"]))
    tool = AgentTool(inner, include_plugins=include_plugins)
    helper = LlmAgent(name="helper", model=ScriptedLlm(replies=[Reply(calls=[("inner", {"request": "?"})]), "up"]), tools=[tool])
    watcher = Watcher()
    events = await run(runner_for(caller(helper, include_plugins=include_plugins), plugins=[watcher]))
    call_id = events[0].get_function_calls()[0].id
    assert [event.author for _, event in watcher.inner] == ["helper", "inner", "helper", "helper"]
    assert [ids[0] for ids, _ in watcher.inner] == [call_id] * 4
    inner_call = watcher.inner[0][1].get_function_calls()[0].id
    assert [ids[1:] for ids, _ in watcher.inner] == [(), (inner_call,), (), ()]
    assert {event.invocation_id for _, event in watcher.inner} == {events[0].invocation_id}
    assert [event.author for event in watcher.outer] == (
        ["caller", "helper", "inner", "helper", "helper", "caller", "caller"] if include_plugins else ["caller"] * 3
    )


async def test_a_plugin_can_hold_the_inner_agent() -> None:
    held, continue_run = asyncio.Event(), asyncio.Event()
    moved = []

    class Holding(BasePlugin):
        async def on_inner_event_callback(self, **_: Any) -> None:
            held.set()
            await continue_run.wait()

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        yield Event(author="helper", content=types.Content(role="model", parts=[types.Part(text="x")]))
        moved.append(True)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(run(runner_for(caller(scripted(body, "helper")), plugins=[Holding("holding")])))
        await held.wait()
        assert moved == []
        continue_run.set()
    assert moved == [True] and texts(task.result()) == ["done"]


async def test_plugins_receive_partial_events_and_the_complete_answer_is_returned() -> None:
    watcher = Watcher()
    config = RunConfig(streaming_mode=StreamingMode.SSE)
    events = await run(runner_for(caller(saying("one two")), plugins=[watcher]), run_config=config)
    assert [(event.partial, texts([event])) for _, event in watcher.inner] == [(True, ["one"]), (True, [" two"]), (False, ["one two"])]
    assert response(events).get_function_responses()[0].response == {"result": "one two"}


async def test_model_calls_are_counted_together() -> None:
    with pytest.raises(LlmCallsLimitExceededError):
        await run(runner_for(caller(saying("sure"))), run_config=RunConfig(max_llm_calls=2))
    assert texts(await run(runner_for(caller(saying("sure"))), run_config=RunConfig(max_llm_calls=3))) == ["done"]


@pytest.mark.rule("R11")
async def test_skip_summarization_ends_the_turn() -> None:
    events = await run(runner_for(caller(saying("sure"), skip_summarization=True)))
    assert events[-1] is response(events) and events[-1].actions.skip_summarization and events[-1].is_final_response()


@pytest.mark.rule("R11")
async def test_an_answer_that_is_not_summarized_is_shown_as_a_text_too() -> None:
    priced = LlmAgent(name="helper", model=ScriptedLlm(replies=['{"cents": 300}']), output_schema=Bill)
    refusing = LlmAgent(name="helper", model=ScriptedLlm(replies=["never"]), input_schema=Order)
    shown = []
    for helper, skips in ((saying("sure"), True), (priced, True), (saying(""), True), (refusing, True), (saying("sure"), False)):
        content = response(await run(runner_for(caller(helper, skip_summarization=skips)))).content
        assert content is not None and content.parts is not None and content.parts[0].function_response
        shown.append([part.text for part in content.parts[1:]])
    assert shown == [["sure"], ['{"cents": 300}'], [], [], []]


class Order(BaseModel):
    item: str = Field(description="what to buy")
    count: int = 1


class Bill(BaseModel):
    cents: int
    note: str | None = None


async def test_schemas_apply_to_arguments_and_answer() -> None:
    seen = []

    def answer(request: Any) -> str:
        seen.append(request.contents[-1].parts[0].text)
        return '{"cents": 300}'

    helper = LlmAgent(name="helper", model=ScriptedLlm(replies=[answer]), input_schema=Order, output_schema=Bill)
    declaration = AgentTool(helper)._get_declaration()
    assert declaration is not None and declaration.parameters is not None
    assert declaration.parameters.required == ["item"]
    assert declaration.parameters.properties["item"].description == "what to buy"
    assert declaration.parameters.properties["count"].type == types.Type.INTEGER
    events = await run(runner_for(caller(helper, Reply(calls=[("helper", {"item": "paper"})]), "done")))
    assert seen == ['{"item":"paper","count":1}']
    assert response(events).get_function_responses()[0].response == {"cents": 300}


async def test_a_workflow_has_the_schemas_of_its_first_and_last_agent() -> None:
    first = LlmAgent(name="first", model=ScriptedLlm(replies=["x"]), input_schema=Order)
    last = LlmAgent(name="last", model=ScriptedLlm(replies=['{"cents": 1}']), output_schema=Bill)
    helper = SequentialAgent(name="helper", sub_agents=[first, last])
    events = await run(runner_for(caller(helper, Reply(calls=[("helper", {"item": "paper"})]), "done")))
    assert response(events).get_function_responses()[0].response == {"cents": 1}


@pytest.mark.parametrize(("args", "problem"), [({}, "item: Field required"), ({"item": "x", "count": "many"}, "count")])
async def test_invalid_arguments_are_reported_to_the_model(args: dict[str, Any], problem: str) -> None:
    events = await run(runner_for(caller(saying("x", input_schema=Order), Reply(calls=[("helper", args)]), "done")))
    assert problem in response(events).get_function_responses()[0].response["error"]


async def test_a_missing_request_is_reported_to_the_model() -> None:
    events = await run(runner_for(caller(saying("x"), Reply(calls=[("helper", {})]), "done")))
    assert "`request` is missing" in response(events).get_function_responses()[0].response["error"]


async def test_thoughts_are_left_out_and_model_errors_are_returned() -> None:
    thinking = LlmAgent(name="helper", model=ScriptedLlm(replies=[Reply(text="sure", thought="hm")]))
    assert response(await run(runner_for(caller(thinking)))).get_function_responses()[0].response == {"result": "sure"}
    failing = LlmAgent(name="helper", model=ScriptedLlm(replies=[Reply(error=("SAFETY", "no"))]))
    answer = response(await run(runner_for(caller(failing)))).get_function_responses()[0].response
    assert answer == {"error": "helper failed with SAFETY: no"}


async def test_the_agents_error_reaches_the_callers_error_callback() -> None:
    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        raise ValueError("broken")
        yield

    with pytest.raises(ValueError, match="broken"):
        await run(runner_for(caller(scripted(body, "helper"))))
    agent = caller(scripted(body, "helper"))
    agent.on_tool_error_callback = lambda tool, args, tool_context, error: {"told": str(error)}
    assert response(await run(runner_for(agent))).get_function_responses()[0].response == {"told": "broken"}


async def test_stopping_the_run_stops_the_agent_inside_the_call() -> None:
    started, ended = asyncio.Event(), []

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        try:
            started.set()
            await asyncio.Event().wait()
            yield Event(author="helper")
        finally:
            ended.append(True)

    async def consume() -> None:
        await run(runner_for(caller(scripted(body, "helper"))))

    async with asyncio.TaskGroup() as group:
        task = group.create_task(consume())
        await started.wait()
        task.cancel()
    assert task.cancelled() and ended == [True]


async def test_an_agent_can_be_called_concurrently() -> None:
    helper = Scripted(name="helper", body=_echo)
    calls = Reply(calls=[("helper", {"request": "1"}), ("helper", {"request": "2"})])
    events = await run(runner_for(caller(helper, calls, "done")))
    assert [one.response for one in response(events).get_function_responses()] == [{"result": "1"}, {"result": "2"}]


async def _echo(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
    assert ctx.user_content is not None
    yield Event(author="helper", content=types.Content(role="model", parts=ctx.user_content.parts))


async def test_a_resumed_call_runs_the_agent_again_only_without_a_committed_result() -> None:
    runs = []

    async def body(agent: BaseAgent, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        runs.append(ctx.invocation_id)
        yield Event(author="helper", content=types.Content(role="model", parts=[types.Part(text="x")]))

    fail = [True]

    def other(tool_context: ToolContext) -> str:
        if fail:
            fail.clear()
            raise RuntimeError("crash")
        return "fine"

    model = ScriptedLlm(replies=[Reply(calls=[("helper", {"request": "1"}), ("other", {})]), "done"])

    async def slow(tool_context: ToolContext) -> str:
        return other(tool_context)

    slow.__name__ = "other"
    agent = LlmAgent(name="caller", model=model, tools=[AgentTool(scripted(body, "helper")), slow])
    runner = runner_for(agent, resumable=True)
    with pytest.raises(RuntimeError, match="crash"):
        await run(runner)
    invocation_id = (await stored(runner)).events[0].invocation_id
    committed = [one.name for event in (await stored(runner)).events for one in event.get_function_responses()]
    events = await run(runner, None, invocation_id=invocation_id)
    assert texts(events) == ["done"]
    assert len(runs) == (1 if "helper" in committed else 2) and set(runs) == {invocation_id}


async def test_inner_calls_keep_their_ids_when_the_tool_runs_again_after_a_crash() -> None:
    ids: list[tuple[str, str | None]] = []
    crashes = {"second"}

    async def pay(what: str, tool_context: ToolContext) -> str:
        ids.append((what, tool_context.function_call_id))
        if what in crashes:
            crashes.discard(what)
            raise RuntimeError("gone")
        return "paid"

    calls = [
        Reply(calls=[("pay", {"what": "first"})]),
        Reply(calls=[("pay", {"what": "first"})]),
        Reply(calls=[("pay", {"what": "second"})]),
    ]
    helper = LlmAgent(name="helper", model=ScriptedLlm(replies=[*calls, "sure"]), tools=[pay])
    runner = runner_for(caller(helper), resumable=True)
    with pytest.raises(RuntimeError, match="gone"):
        await run(runner)
    invocation_id = (await stored(runner)).events[0].invocation_id
    await run(runner, None, invocation_id=invocation_id)
    assert ids[:3] == ids[3:], "idempotency keys stay the same"
    assert len(set(ids)) == 3, "repeated calls have different keys"


async def test_it_runs_in_a_context_that_was_built_directly() -> None:
    ctx = InvocationContext(
        invocation_id="i",
        agent=BaseAgent(name="caller"),
        session=Session(id="s", app_name="app", user_id="u"),
        session_service=InMemorySessionService(),
    )
    answer = await AgentTool(saying("sure")).run_async(args={"request": "help me"}, tool_context=ToolContext(ctx, function_call_id="c"))
    assert answer == "sure"


@pytest.mark.parametrize("hands_on", [False, True])
async def test_the_sources_of_an_agents_answer_can_become_the_callers(hands_on: bool) -> None:
    sources = types.GroundingMetadata(web_search_queries=["tea"])

    def found(callback_context: CallbackContext, llm_response: LlmResponse) -> LlmResponse:
        return llm_response.model_copy(update={"grounding_metadata": sources})

    helper = saying("sure", after_model_callback=found)
    runner = runner_for(caller(helper, propagate_grounding_metadata=hands_on))
    call, _, answer = await run(runner)
    assert call.grounding_metadata is None
    assert answer.grounding_metadata == (sources if hands_on else None)
    assert (await stored(runner)).events[-1].grounding_metadata == answer.grounding_metadata
    (next_call,) = await run(runner_for(caller(helper, "no call", propagate_grounding_metadata=hands_on)))
    assert next_call.grounding_metadata is None


async def test_the_agents_checkpoints_are_not_reported() -> None:
    steps = [LlmAgent(name=name, model=ScriptedLlm(replies=[name])) for name in ("first", "second")]
    helper = SequentialAgent(name="helper", sub_agents=steps)
    watcher = Watcher()
    await run(runner_for(caller(helper), resumable=True, plugins=[watcher]))
    assert texts([event for _, event in watcher.inner]) == ["first", "second"]
    assert all(event.content for _, event in watcher.inner)
    assert all(event.content for event in watcher.outer if event.author in ("first", "second", "helper"))
