"""A run repeated from its recording up to one of its events, and live from there on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from dataclasses import replace
from itertools import groupby
from typing import Any

import pytest
from google.genai import types

from runtime.agents import BaseAgent, CallbackContext, LlmAgent, ParallelAgent, SequentialAgent, ToolContext
from runtime.events import Event
from runtime.events.marks import EDITED, REPLAYED, REQUEST_CALLS, is_inner_progress, is_progress
from runtime.forks.fork import Cut, fork_into
from runtime.forks.recorded_answers import RecordedAnswers
from runtime.forks.recording import RecordingError, is_agent_output, overridable_part, recording_until
from runtime.forks.rerun import Rerun
from runtime.history.in_memory import history_in_memory
from runtime.models.llm_request import LlmRequest
from runtime.models.llm_response import LlmResponse
from runtime.models.scripted_llm import ScriptedLlm, last_message_text
from runtime.sessions import InMemorySessionService
from runtime.sessions.session import SessionKey
from runtime.tools import AgentTool, FunctionTool, LongRunningFunctionTool
from tests.agent_specs import build_agent, message, shown
from tests.fixture_paths import fixtures_dir
from tests.seeds.running import run, runner_for, texts

KEY = SessionKey("app", "u", "s")
TREES = json.loads((fixtures_dir() / "open" / "prefixes-1.39.1.json").read_text("utf-8"))
Made = Counter[str]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Made:
    """Counts the model calls and tool runs that are actually made."""
    counts: Made = Counter()
    generate, run_tool = ScriptedLlm.generate_content_async, FunctionTool.run_async

    async def generate_content_async(self: ScriptedLlm, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        counts["model"] += 1
        async for response in generate(self, llm_request, stream):
            yield response

    async def run_async(self: FunctionTool, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        counts[self.name] += 1
        return await run_tool(self, args=args, tool_context=tool_context)

    monkeypatch.setattr(ScriptedLlm, "generate_content_async", generate_content_async)
    monkeypatch.setattr(FunctionTool, "run_async", run_async)
    return counts


class Session:
    """One session of an agent that is built again for every run."""

    def __init__(self, make: Callable[[], BaseAgent], *, resumable: bool = True) -> None:
        self.make = make
        self.service = InMemorySessionService()
        self.resumable = resumable

    async def run(self, text: str = "go") -> list[Event]:
        await run(runner_for(self.make(), self.service, resumable=self.resumable), text)
        return self.events(KEY)

    async def answer(self, call_id: str, name: str, response: dict[str, Any]) -> list[Event]:
        part = types.Part(function_response=types.FunctionResponse(id=call_id, name=name, response=response))
        runner = runner_for(self.make(), self.service, resumable=self.resumable)
        async for _ in runner.run_async(user_id="u", session_id="s", new_message=types.Content(role="user", parts=[part])):
            pass
        return self.events(KEY)

    def events(self, key: SessionKey) -> list[Event]:
        return list(history_in_memory(self.service, key).events)

    async def again(
        self, until: Event, content: types.Content | None = None, *, kept: Callable[[Event], bool] | None = None
    ) -> tuple[Session, list[Event], RecordedAnswers]:
        past = history_in_memory(self.service, KEY)
        recording = recording_until(past.events, until.id)
        recording = recording.with_override(content) if content else recording
        recording = replace(recording, answers=tuple(filter(kept, recording.answers)))
        cut = Cut(before=recording.first_event_id)
        # In another database, so that app: and user: keys start with their old values.
        forked = Session(self.make, resumable=self.resumable)
        fork = await fork_into(forked.service, past, KEY, self.service.created(KEY), cut, same_place=False, database="memory")
        rerun = Rerun(runner_for(self.make(), forked.service, resumable=self.resumable), fork.key, recording)
        async for _ in rerun.events():
            pass
        return forked, forked.events(fork.key), rerun.answers


def by_branch(events: list[Event]) -> list[dict[str, Any]]:
    """Return the events of each branch in order: the interleaving of branches and the order of parallel tools are random."""
    rows = sorted(map(shown, events), key=lambda row: ("branch" not in row and row.get("end_of_agent", False), row.get("branch", "")))
    sorted_rows: list[dict[str, Any]] = []
    for is_result, group in groupby(rows, key=lambda row: "responses" in row):
        together = list(group)
        sorted_rows += sorted(together, key=str) if is_result else together
    return sorted_rows


@pytest.mark.parametrize("resumable", [True, False], ids=["resumable", "plain"])
@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree["name"])
async def test_only_calls_after_the_event_are_made(tree: dict[str, Any], resumable: bool, made: Made) -> None:
    session = Session(lambda: build_agent(tree["agent"]), resumable=resumable)
    whole = await session.run(tree["message"])
    for index, event in enumerate(whole):
        made.clear()
        _, again, replay = await session.again(event)
        assert replay.divergences == []
        assert by_branch(again) == by_branch(whole)
        later = whole[index + 1 :]
        assert made["model"] == sum(is_agent_output(said) and _by_llm(tree, said) for said in later)
        tools = Counter(response.name for done in later for response in done.get_function_responses())
        assert Counter({name: count for name, count in made.items() if name != "model"}) == tools
        recorded = [said for said in whole[: index + 1] if overridable_part(said) and _by_llm(tree, said)]
        assert {mark for done in again if (mark := (done.custom_metadata or {}).get(REPLAYED))} == {said.id for said in recorded}


def _by_llm(tree: dict[str, Any], event: Event) -> bool:
    return isinstance(build_agent(tree["agent"]).find_agent(event.author), LlmAgent)


def transfer(amount: int) -> dict[str, int]:
    """Sends money."""
    return {"sent": amount}


def silent() -> None:
    """Starts a job."""


def noting(number: int, tool_context: ToolContext) -> dict[str, int]:
    """Notes a number."""
    tool_context.state["noted"] = number
    return {"noted": number}


def caller(*replies: Any, tools: list[Any], **more: Any) -> LlmAgent:
    return LlmAgent(name="agent", model=ScriptedLlm(replies=list(replies)), tools=tools, **more)


async def test_a_recorded_confirmation_is_given_again(made: Made) -> None:
    tool = FunctionTool(transfer, require_confirmation=True)
    session = Session(lambda: caller({"calls": [["transfer", {"amount": 7}]]}, "done", tools=[tool]))
    asked = await session.run()
    (request,) = [call for event in asked for call in event.get_function_calls() if call.name in REQUEST_CALLS]
    whole = await session.answer(request.id or "", request.name or "", {"confirmed": True})
    made.clear()
    _, again, replay = await session.again(whole[-1])
    assert by_branch(again) == by_branch(whole)
    assert (made, replay.divergences, replay.model_calls, replay.tool_calls) == (Counter(), [], 2, 2)
    made.clear()
    _, again, _ = await session.again(asked[-1])
    assert by_branch(again) == by_branch(asked) and not made


async def test_a_confirmation_inside_an_agent_is_given_again(made: Made) -> None:
    tool = FunctionTool(transfer, require_confirmation=True)

    def make() -> LlmAgent:
        inner = LlmAgent(name="bank", model=ScriptedLlm(replies=[{"calls": [["transfer", {"amount": 7}]]}, "sent"]), tools=[tool])
        return caller({"calls": [["bank", {"request": "send 7"}]]}, "done", tools=[AgentTool(inner)])

    session = Session(make)
    asked = await session.run()
    (request,) = [call for event in asked for call in event.get_function_calls() if call.name in REQUEST_CALLS]
    whole = await session.answer(request.id or "", request.name or "", {"confirmed": True})
    made.clear()
    _, again, replay = await session.again(whole[-1])
    assert by_branch(again) == by_branch([event for event in whole if not is_inner_progress(event)])
    assert (made, replay.divergences, replay.model_calls, replay.tool_calls) == (Counter(), [], 2, 2)
    made.clear()
    _, again, _ = await session.again(asked[-1])
    assert by_branch(again) == by_branch(asked) and not made


async def test_a_tool_that_returned_nothing_does_not_run_again(made: Made) -> None:
    session = Session(lambda: caller({"calls": [["silent", {}]]}, "done", tools=[LongRunningFunctionTool(silent)]))
    asked = await session.run()
    (call,) = [call for event in asked for call in event.get_function_calls()]
    whole = await session.answer(call.id or "", "silent", {"ready": True})
    made.clear()
    _, again, replay = await session.again(whole[-1])
    assert by_branch(again) == by_branch(whole)
    assert (made, replay.divergences) == (Counter(), [])


async def test_reported_progress_is_not_part_of_the_recording(made: Made) -> None:
    session = Session(lambda: caller({"calls": [["silent", {}]]}, "done", tools=[LongRunningFunctionTool(silent)]))
    (call,) = [call for event in await session.run() for call in event.get_function_calls()]
    runner = runner_for(session.make(), session.service, resumable=True)
    await runner.report_progress(user_id="u", session_id="s", call_id=call.id or "", response={"percent": 50})
    whole = await session.answer(call.id or "", "silent", {"ready": True})
    made.clear()
    _, again, replay = await session.again(whole[-1])
    assert by_branch(again) == by_branch([event for event in whole if not is_progress(event)])
    assert (made, replay.divergences) == (Counter(), [])


async def test_callback_changes_are_part_of_the_recorded_answer(made: Made) -> None:
    def after_tool(tool: Any, args: Any, tool_context: ToolContext, tool_response: dict[str, Any]) -> dict[str, Any]:
        tool_context.state["seen"] = tool_context.state.get("seen", 0) + 1
        return {**tool_response, "noted": tool_response["noted"] + 1}

    def after_model(callback_context: CallbackContext, llm_response: LlmResponse) -> LlmResponse:
        callback_context.state["answers"] = callback_context.state.get("answers", 0) + 1
        assert llm_response.content and llm_response.content.parts
        if llm_response.content.parts[0].text:
            llm_response.content.parts[0].text += "!"
        return llm_response

    callbacks = {"after_tool_callback": after_tool, "after_model_callback": after_model, "output_key": "said"}
    session = Session(lambda: caller({"calls": [["noting", {"number": 1}]]}, "done", tools=[noting], **callbacks))
    whole = await session.run()
    for event in whole:
        _, again, _ = await session.again(event)
        assert by_branch(again) == by_branch(whole)
        assert texts(again)[-1] == "done!"


async def test_a_recorded_answer_in_an_output_schema_ends_the_turn(made: Made) -> None:
    answer = {"calls": [["set_model_response", {"response": [1, 2]}]]}
    session = Session(lambda: caller(answer, "never said", tools=[noting], output_schema=list[int], output_key="out"))
    whole = await session.run()
    assert texts(whole)[-1] == "[1, 2]"
    made.clear()
    for event in whole[1:]:
        _, again, replay = await session.again(event)
        assert by_branch(again) == by_branch(whole) and replay.divergences == []
    assert made == Counter()


async def test_an_altered_result_is_given(made: Made) -> None:
    session = Session(
        lambda: caller({"calls": [["noting", {"number": 1}]]}, lambda request: f"so {last_message_text(request)}", tools=[noting])
    )
    whole = await session.run()
    result = next(event for event in whole if event.get_function_responses())
    assert result.content
    content = result.content.model_copy(deep=True)
    assert content.parts and content.parts[0].function_response
    content.parts[0].function_response.response = {"noted": 2}
    made.clear()
    _, again, replay = await session.again(result, content)
    assert texts(again)[-1] == 'so noting {"noted": 2}'
    assert made == {"model": 1} and replay.divergences == []
    changed = next(event for event in again if event.get_function_responses())
    call_id = changed.get_function_responses()[0].id
    assert (changed.custom_metadata or {})[EDITED] == {"calls": {call_id: {"tool": "noting", "result": {"noted": 2}}}}
    assert changed.actions.state_delta == {"noted": 1}
    assert whole == session.events(KEY)


async def test_an_altered_answer_calls_its_tools(made: Made) -> None:
    session = Session(lambda: caller({"calls": [["noting", {"number": 1}]]}, "done", tools=[noting]))
    whole = await session.run()
    said = whole[1]
    part = types.Part(function_call=types.FunctionCall(name="noting", args={"number": 5}))
    made.clear()
    _, again, _ = await session.again(said, types.Content(role="model", parts=[part]))
    assert made == {"noting": 1, "model": 1}
    assert again[1].custom_metadata and again[1].custom_metadata[EDITED] == {"model": {"answer": True}}
    assert again[2].actions.state_delta == {"noted": 5}


async def test_a_changed_agent_diverges_and_this_is_reported(made: Made) -> None:
    agents = iter([caller({"calls": [["noting", {"number": 1}]]}, "done", tools=[noting]), caller("new", tools=[])])
    session = Session(lambda: next(agents))
    session.make = lambda: SequentialAgent(name="root", sub_agents=[next(agents)])
    whole = await session.run()

    def first(callback_context: CallbackContext) -> types.Content:
        return types.Content(role="model", parts=[types.Part(text="I do not call models.")])

    session.make = lambda: SequentialAgent(name="root", sub_agents=[caller("new", tools=[], before_agent_callback=first)])
    made.clear()
    _, again, replay = await session.again(whole[-1])
    assert texts(again)[-1] == "I do not call models."
    assert [*map(str, replay.divergences)] == ["agent committed something else (answer) than was recorded; from there on the run is live."]
    assert not made


async def test_an_additional_model_call_makes_the_rest_live(made: Made) -> None:
    def tree(more: list[str]) -> BaseAgent:
        writer = LlmAgent(name="writer", model=ScriptedLlm(replies=["text"]))
        extra = [LlmAgent(name=name, model=ScriptedLlm(replies=["extra"])) for name in more]
        return SequentialAgent(name="root", sub_agents=[writer, *extra, LlmAgent(name="critic", model=ScriptedLlm(replies=["good"]))])

    session = Session(lambda: tree([]))
    whole = await session.run()
    session.make = lambda: tree(["editor"])
    made.clear()
    _, again, replay = await session.again(whole[-1])
    assert texts(again) == ["go", "text", "extra", "good"]
    assert made == {"model": 2} and len(replay.divergences) == 1 and "editor called its model" in replay.divergences[0].what


def right() -> LlmAgent:
    """An agent that calls its model twice."""
    return LlmAgent(name="right", model=ScriptedLlm(replies=[{"calls": [["noting", {"number": 1}]]}, "r"]), tools=[noting])


async def test_a_diverging_branch_does_not_affect_its_siblings(made: Made) -> None:
    def tree(extra: bool) -> BaseAgent:
        left = LlmAgent(name="left", model=ScriptedLlm(replies=["l"]))
        more = LlmAgent(name="more", model=ScriptedLlm(replies=["m"]))
        one: BaseAgent = SequentialAgent(name="one", sub_agents=[more, left] if extra else [left])
        both = ParallelAgent(name="both", sub_agents=[one, right()])
        return SequentialAgent(name="root", sub_agents=[both, LlmAgent(name="last", model=ScriptedLlm(replies=["end"]))])

    session = Session(lambda: tree(False))
    whole = await session.run()
    session.make = lambda: tree(True)
    made.clear()
    _, again, replay = await session.again(whole[-1])
    assert sorted(texts(again)) == ["end", "go", "l", "m", "r"]
    assert made == {"model": 3} and len(replay.divergences) == 1  # all except the right agent's
    assert (replay.model_calls, replay.tool_calls) == (2, 1)


async def test_an_agent_that_runs_as_a_tool_is_not_part_of_the_recording(made: Made) -> None:
    def tree() -> BaseAgent:
        inner = LlmAgent(name="right", model=ScriptedLlm(replies=["42"]), description="counts")
        replies = [{"calls": [["right", {"request": "how many"}]]}, "l"]
        left = LlmAgent(name="left", model=ScriptedLlm(replies=replies), tools=[AgentTool(inner)])
        return ParallelAgent(name="both", sub_agents=[left, right()])

    session = Session(tree)
    whole = await session.run()
    made.clear()
    # As if the left agent's tool had still been running when the right agent was done.
    _, again, replay = await session.again(whole[-1], kept=lambda event: event.author == "right" or bool(event.get_function_calls()))
    assert by_branch(again) == by_branch(whole)
    assert made == {"model": 2} and replay.divergences == []  # the inner agent's call, and the left agent's second one


async def test_an_agent_that_ran_as_a_tool_is_answered_by_its_result(made: Made) -> None:
    def make() -> BaseAgent:
        inner = LlmAgent(name="inner", model=ScriptedLlm(replies=["42"]), description="counts")
        return caller({"calls": [["inner", {"request": "how many"}]]}, "done", tools=[AgentTool(inner)])

    session = Session(make)
    whole = await session.run()
    assert made["model"] == 3
    made.clear()
    _, again, _ = await session.again(whole[-1])
    assert by_branch(again) == by_branch(whole) and not made
    _, again, _ = await session.again(whole[1])  # only the call: the events inside it are not stored
    assert by_branch(again) == by_branch(whole) and made == {"model": 2}


async def test_invalid_recordings_and_alterations_raise() -> None:
    session = Session(lambda: caller({"calls": [["noting", {"number": 1}]]}, "done", tools=[noting], output_key="user:said"))
    whole = await session.run()
    await runner_for(session.make(), session.service).edit_state(user_id="u", session_id="s", changes={"k": 1})
    with pytest.raises(RecordingError, match="did not begin with a message"):
        recording_until(session.events(KEY), session.events(KEY)[-1].id)
    with pytest.raises(RecordingError, match="cannot be changed"):
        recording_until(whole, whole[0].id).with_override(message("x"))
    with pytest.raises(RecordingError, match="must answer the same calls"):
        recording_until(whole, whole[2].id).with_override(message("x"))
    assert recording_until(whole, whole[-1].id).notes == ["Running again writes keys that other sessions share: user:said."]
    assert recording_until(whole, whole[1].id).notes == []
