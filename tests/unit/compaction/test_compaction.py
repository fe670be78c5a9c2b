"""Summaries of old events in requests to models; the session keeps all events."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.agents import LlmAgent, SequentialAgent
from runtime.apps import App, EventsCompactionConfig, ResumabilityConfig
from runtime.apps.base_events_summarizer import BaseEventsSummarizer, summary_event
from runtime.apps.llm_event_summarizer import LlmEventSummarizer
from runtime.apps.summary import events_to_sum_up
from runtime.events import Event
from runtime.events.event_actions import EventActions, EventCompaction
from runtime.flows.contents import Conversation
from runtime.flows.summaries import with_summaries
from runtime.models.llm_request import LlmRequest
from runtime.models.scripted_llm import Reply, Rule, ScriptedLlm, last_message_text
from runtime.runners import Runner
from runtime.sessions import InMemorySessionService
from runtime.storage.reading.reader import StoredDatabase
from runtime.tools import LongRunningFunctionTool
from tests.fixture_paths import copy_of
from tests.seeds.running import run, stored


class Joining(BaseEventsSummarizer):
    """Summarises by joining the texts."""

    async def maybe_summarize_events(self, *, events: list[Event]) -> Event | None:
        contents = [event.actions.compaction.compacted_content if event.actions.compaction else event.content for event in events]
        texts = [part.text for content in contents for part in (content.parts if content else None) or [] if part.text]
        return summary_event(events, types.Content(parts=[types.Part(text="<" + " ".join(texts) + ">")]))


def runner_with(agent: Any, *, resumable: bool = False, **config: Any) -> Runner:
    config.setdefault("summarizer", Joining())
    app = App(
        name="app",
        root_agent=agent,
        events_compaction_config=EventsCompactionConfig(**config),
        resumability_config=ResumabilityConfig(is_resumable=resumable),
    )
    return Runner(app=app, session_service=InMemorySessionService(), auto_create_session=True)


def answering(seen: list[list[str]], **usage: Any) -> LlmAgent:
    """Return an agent that answers "1" to "q1" and records the texts sent to its model."""

    def answer(request: LlmRequest) -> Reply:
        seen.append([part.text for content in request.contents for part in content.parts or [] if part.text])
        return Reply(text=last_message_text(request)[1:], **usage)

    return LlmAgent(name="agent", model=ScriptedLlm(replies=[answer]))


async def summaries(runner: Runner) -> list[str]:
    spans = [event.actions.compaction for event in (await stored(runner)).events if event.actions.compaction]
    return [span.compacted_content.parts[0].text or "" for span in spans if span.compacted_content.parts]


async def test_a_sliding_window_of_invocations() -> None:
    """A summary every two invocations, with an overlap of one, as in google-adk's database `adk2.13.0-v1-compaction.db`."""
    seen: list[list[str]] = []
    runner = runner_with(answering(seen), compaction_interval=2, overlap_size=1)
    for number in range(5):
        await run(runner, f"q{number}")
    assert await summaries(runner) == ["<q0 0 q1 1>", "<q1 1 q2 2 q3 3>"]
    told = "A summary of what was said before:"
    assert seen[2] == [told, "<q0 0 q1 1>", "q2"]
    assert seen[3] == [told, "<q0 0 q1 1>", "q2", "2", "q3"]
    assert seen[4] == [told, "<q0 0 q1 1>", told, "<q1 1 q2 2 q3 3>", "q4"]


async def test_the_event_has_google_adks_format_and_nothing_is_deleted() -> None:
    runner = runner_with(answering([]), compaction_interval=2, overlap_size=0)
    yielded = [event for number in range(2) for event in await run(runner, f"q{number}")]
    events = (await stored(runner)).events
    summary = events[-1]
    assert len(events) == 5 and summary.id not in [event.id for event in yielded]
    assert (
        summary.author == "user" and summary.content is None and summary.invocation_id not in {event.invocation_id for event in events[:-1]}
    )
    span = summary.actions.compaction
    assert span is not None and (span.start_timestamp, span.end_timestamp) == (events[0].timestamp, events[3].timestamp)
    assert span.compacted_content.role == "model"


def test_summaries_in_google_adks_database_are_read(tmp_path: Any) -> None:
    with StoredDatabase.open(str(copy_of("open/adk2.13.0-v1-compaction.db", tmp_path))) as database:
        events = database.events(database.sessions()[0].key)
    shown = [part.text for event in with_summaries(events) for part in (event.content.parts if event.content else None) or []]
    told = ["A summary of what was said before:", "summary of the talk so far"]
    assert shown == [*told, *told, "question 4", "answer 2"]


async def test_a_summary_covered_by_another_one_is_not_sent() -> None:
    runner = runner_with(answering([]), compaction_interval=1, overlap_size=9)
    for number in range(3):
        await run(runner, f"q{number}")
    shown = with_summaries((await stored(runner)).events)
    assert [event.content.parts[1].text for event in shown if event.content and event.content.parts] == ["<q0 0 q1 1 q2 2>"]


async def test_long_prompts_are_summarised_except_for_the_newest_events() -> None:
    seen: list[list[str]] = []
    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=100)
    runner = runner_with(answering(seen, usage=usage), token_threshold=100, event_retention_size=1)
    for number in range(3):
        await run(runner, f"q{number}")
    assert await summaries(runner) == ["<q0>", "<<q0> 0 q1>", "<<<q0> 0 q1> 1 q2>"]
    assert seen[2] == ["A summary of what was said before:", "<<q0> 0 q1>", "1", "q2"]


async def test_short_prompts_are_not_summarised() -> None:
    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=99)
    runner = runner_with(answering([], usage=usage), token_threshold=100, event_retention_size=0)
    await run(runner, "q0")
    assert await summaries(runner) == []


def test_a_prompt_without_a_count_is_estimated_at_four_characters_a_token() -> None:
    config = EventsCompactionConfig(token_threshold=3, event_retention_size=0)
    events = [Event(author=author, invocation_id="i", content=types.UserContent(6 * "x")) for author in ("user", "agent")]
    assert events_to_sum_up(config, events) == events
    assert events_to_sum_up(config, events[:1]) == []


async def test_calls_are_not_separated_from_their_responses() -> None:
    def look() -> str:
        """Look."""
        return "seen"

    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=100)
    model = ScriptedLlm(replies=[Reply(calls=[("look", {})], usage=usage), Reply(text="a", usage=usage)])
    runner = runner_with(LlmAgent(name="agent", model=model, tools=[look]), token_threshold=1, event_retention_size=2)
    await run(runner, "q")
    events = (await stored(runner)).events
    span = events[-1].actions.compaction
    assert span is not None and span.end_timestamp == events[0].timestamp and events[1].get_function_calls()


def start() -> dict[str, str]:
    """Start."""
    return {"status": "pending"}


def begin() -> None:
    """Begin, without a first result."""


def fail() -> str:
    """Fail."""
    raise RuntimeError("broken")


def working(asked: list[LlmRequest]) -> LlmAgent:
    """Return an agent whose model calls the tool that the message names, and notes its requests."""

    def answer(request: LlmRequest) -> Reply:
        asked.append(request)
        told = last_message_text(request)
        if told == "break":
            raise RuntimeError("503")
        return Reply(calls=[(told, {})]) if told in ("start", "begin", "fail") else Reply(text="x")

    tools = [LongRunningFunctionTool(start), LongRunningFunctionTool(begin), fail]
    return LlmAgent(name="agent", model=ScriptedLlm(rules=[Rule(reply=answer)]), tools=tools)


def told(request: LlmRequest) -> list[str]:
    """Return a request's texts, and the names of its calls and results."""
    parts = [part for content in request.contents for part in content.parts or ()]
    named = [(part.function_call or part.function_response, part) for part in parts]
    return [f"{function.name}{'(' if part.function_call else ')'}" if function else part.text or "" for function, part in named]


async def answer(runner: Runner, call: types.FunctionCall) -> None:
    response = types.FunctionResponse(id=call.id, name=call.name, response={"ok": True})
    message = types.Content(role="user", parts=[types.Part(function_response=response)])
    _ = [event async for event in runner.run_async(user_id="u", session_id="s", new_message=message)]


@pytest.mark.parametrize("resumable", [False, True])
@pytest.mark.parametrize("failing", ["break", "fail"])
@pytest.mark.parametrize("before", [[], ["a", "b", "c"]])
async def test_a_failed_run_does_not_stop_later_summaries(resumable: bool, failing: str, before: list[str]) -> None:
    asked: list[LlmRequest] = []
    runner = runner_with(working(asked), resumable=resumable, compaction_interval=2, overlap_size=0)
    for text in before:
        await run(runner, text)
    with pytest.raises(RuntimeError):
        await run(runner, failing)
    for text in "defghijk":
        await run(runner, text)
    assert len(await summaries(runner)) == 4 + len(before) // 2
    assert len(told(asked[-1])) <= 2 * 6 + 3  # two parts for each summary, and a turn


async def test_a_long_running_call_without_a_result_is_not_summarised_and_no_summary_repeats_another() -> None:
    asked: list[LlmRequest] = []
    runner = runner_with(working(asked), resumable=True, compaction_interval=1, overlap_size=0)
    for text in ("a text that is long enough", "begin", "c", "d", "e"):
        await run(runner, text)
    assert await summaries(runner) == ["<a text that is long enough x>"]
    assert told(asked[-1])[2:] == ["begin", "begin(", "c", "x", "d", "x", "e"]


@pytest.mark.parametrize("resumable", [False, True])
async def test_a_call_that_was_summarised_precedes_its_later_result(resumable: bool) -> None:
    asked: list[LlmRequest] = []
    runner = runner_with(working(asked), resumable=resumable, compaction_interval=2, overlap_size=0)
    (call,) = (await run(runner, "start"))[0].get_function_calls()
    for text in ("a longer text", "another long text", "and one more"):
        await run(runner, text)
    assert len(await summaries(runner)) == 2
    assert "start(" not in told(asked[-1])
    await answer(runner, call)
    assert told(asked[-1])[-2:] == ["start(", "start)"]
    assert asked[-1].contents[-1].parts[0].function_response.response == {"ok": True}  # type: ignore[union-attr, index]
    await run(runner, "next")
    assert told(asked[-1])[-4:] == ["start(", "start)", "x", "next"]


async def test_a_resumed_invocation_sees_its_own_events_beside_their_summary() -> None:
    asked: list[LlmRequest] = []
    runner = runner_with(working(asked), resumable=True, compaction_interval=2, overlap_size=0)
    with pytest.raises(RuntimeError):
        await run(runner, "fail")
    failed = (await stored(runner)).events[0].invocation_id
    for text in ("a longer text", "another long text", "and one more"):
        await run(runner, text)
    assert "fail" not in told(asked[-1])
    with pytest.raises(RuntimeError, match="broken"):
        _ = [event async for event in runner.run_async(user_id="u", session_id="s", invocation_id=failed)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{__name__}.fail.__code__", (lambda: "mended").__code__)
        _ = [event async for event in runner.run_async(user_id="u", session_id="s", invocation_id=failed)]
    assert "fail" in told(asked[-1])
    assert told(asked[-1])[-2:] == ["fail(", "fail)"]


@given(st.data())
@settings(max_examples=60)
def test_models_get_no_result_without_its_call(data: st.DataObject) -> None:
    """Any summaries of any session: a request is the same however the session grew, and each result follows its call."""
    events: list[Event] = []
    calls: list[str] = []
    for number in range(data.draw(st.integers(1, 12))):
        kind = data.draw(st.sampled_from(["text", "calls", "result", "result", "summary"]))
        parts: list[types.Part] = []
        actions = EventActions()
        author = "agent"
        if kind == "calls":
            new = [f"{number}-{index}" for index in range(data.draw(st.integers(1, 2)))]
            calls += new
            parts = [types.Part(function_call=types.FunctionCall(id=one, name="t", args={})) for one in new]
        elif kind == "result" and calls:
            one = data.draw(st.sampled_from(calls))
            author = data.draw(st.sampled_from(["agent", "user"]))
            parts = [types.Part(function_response=types.FunctionResponse(id=one, name="t", response={"at": number}))]
        elif kind == "summary" and events:
            times = sorted(data.draw(st.tuples(*[st.integers(0, number - 1)] * 2)))
            said = types.Content(role="model", parts=[types.Part(text="s")])
            actions.compaction = EventCompaction(start_timestamp=times[0], end_timestamp=times[1], compacted_content=said)
        else:
            author, parts = data.draw(st.sampled_from(["agent", "user", "other"])), [types.Part(text="t")]
        content = types.Content(role="user" if author == "user" else "model", parts=parts) if parts else None
        events.append(Event(author=author, invocation_id=f"i{number // 3}", timestamp=number, content=content, actions=actions))
    resumed = data.draw(st.sampled_from([None, "i0", "i1"]))
    growing = Conversation("agent", None, invocation_id=resumed)
    for length in range(1, len(events) + 1):
        contents = growing.contents(events[:length])
        assert contents == Conversation("agent", None, invocation_id=resumed).contents(events[:length])
        open_calls: list[str | None] = []
        for content in contents:
            for part in content.parts or ():
                if part.function_response:
                    assert part.function_response.id in open_calls
            open_calls = [part.function_call.id for part in content.parts or () if part.function_call]


async def test_a_rewind_also_removes_summaries() -> None:
    seen: list[list[str]] = []
    runner = runner_with(answering(seen), compaction_interval=2, overlap_size=0)
    for number in range(2):
        await run(runner, f"q{number}")
    second = (await stored(runner)).events[2].invocation_id
    await runner.rewind_async(user_id="u", session_id="s", rewind_before_invocation_id=second)
    await run(runner, "q2")
    assert seen[-1] == ["q0", "0", "q2"]


async def test_a_failing_summarizer_is_logged_and_the_run_succeeds(caplog: pytest.LogCaptureFixture) -> None:
    runner = runner_with(
        answering([]),
        summarizer=LlmEventSummarizer(ScriptedLlm(replies=[Reply(error=("SAFETY", "no"))])),
        compaction_interval=1,
        overlap_size=0,
    )
    with caplog.at_level(logging.ERROR):
        assert len(await run(runner, "q0")) == 1
    assert "could not be summarised" in caplog.text and "SAFETY" in caplog.text


async def test_the_trees_first_model_summarises_by_default() -> None:
    rules = [
        Rule(when="Sum up", reply=lambda request: "sum of: " + last_message_text(request).split("\n\n")[1]),
        Rule(reply=Reply(text="x", thought="hm")),
    ]
    root = SequentialAgent(name="root", sub_agents=[LlmAgent(name="agent", model=ScriptedLlm(rules=rules))])
    runner = runner_with(root, summarizer=None, compaction_interval=1, overlap_size=0)
    await run(runner, "q0")
    assert await summaries(runner) == ["sum of: user: q0\nagent thinks: hm\nagent: x"]


@pytest.mark.rule("R11")
@pytest.mark.parametrize(
    ("config", "problem"),
    [({}, "Give compaction_interval"), ({"compaction_interval": 1}, "belong together"), ({"token_threshold": 1}, "only token_threshold")],
)
def test_an_incomplete_configuration_is_rejected(config: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        EventsCompactionConfig(**config)


async def test_a_summary_tells_what_it_cost() -> None:
    model = ScriptedLlm(replies=[Reply(text="In short.", usage=types.GenerateContentResponseUsageMetadata(total_token_count=7))])
    summary = await LlmEventSummarizer(model).maybe_summarize_events(events=[Event(author="user", message="Hi.")])
    assert summary and summary.usage_metadata and summary.usage_metadata.total_token_count == 7


async def test_the_prompt_says_what_a_summary_keeps() -> None:
    prompts: list[str] = []

    def answer(request: LlmRequest) -> str:
        prompts.append(last_message_text(request))
        return "In short."

    await LlmEventSummarizer(ScriptedLlm(replies=[answer])).maybe_summarize_events(events=[Event(author="user", message="Hi.")])
    for point in (
        "language that the user",
        "what the user wants",
        "decided",
        "found out",
        "still open",
        "tools that were called",
        "earlier summary",
    ):
        assert point in prompts[0]
