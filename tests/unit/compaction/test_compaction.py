"""Summaries of old events in requests to models; the session keeps all events."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from google.genai import types

from runtime.agents import LlmAgent, SequentialAgent
from runtime.apps import App, EventsCompactionConfig, ResumabilityConfig
from runtime.apps.base_events_summarizer import BaseEventsSummarizer, summary_event
from runtime.apps.llm_event_summarizer import LlmEventSummarizer
from runtime.apps.summary import events_to_sum_up
from runtime.events import Event
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
    assert events_to_sum_up(config, events, resumable=False) == events
    assert events_to_sum_up(config, events[:1], resumable=False) == []


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


async def test_paused_invocations_are_not_summarised() -> None:
    def start() -> dict[str, str]:
        """Start."""
        return {"status": "pending"}

    rules = [Rule(when="^go", reply=Reply(calls=[("start", {})])), Rule(reply="x")]
    agent = LlmAgent(name="agent", model=ScriptedLlm(rules=rules), tools=[LongRunningFunctionTool(start)])
    runner = runner_with(agent, resumable=True, compaction_interval=1, overlap_size=0)
    await run(runner, "hello")
    (call,) = (await run(runner, "go"))[0].get_function_calls()
    await run(runner, "meanwhile")
    assert await summaries(runner) == ["<hello x>"]
    part = types.Part(function_response=types.FunctionResponse(id=call.id, name="start", response={"ok": True}))
    answer = types.Content(role="user", parts=[part])
    _ = [event async for event in runner.run_async(user_id="u", session_id="s", new_message=answer)]
    assert len(await summaries(runner)) == 2


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
