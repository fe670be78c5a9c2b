"""Which events are in a recorded request, and why the others are not: requests of real runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from inspector_app.detail.prompt_events import BY_OTHERS, EQUAL, prompt_events
from runtime.agents import BaseAgent, LlmAgent, ParallelAgent, SequentialAgent
from runtime.events import Event, EventActions
from runtime.events.event_actions import EventCompaction
from runtime.models.llm_request import LlmRequest
from runtime.models.scripted_llm import ScriptedLlm
from runtime.plugins.base_plugin import BasePlugin
from runtime.storage.recordings.recorded_call import RecordedModelRequest
from runtime.storage.recordings.recording import Recording
from tests.recorder import load_recorder
from tests.seeds.running import run, runner_for


def speaker(name: str, *replies: Any, **more: Any) -> LlmAgent:
    return LlmAgent(name=name, model=ScriptedLlm(replies=list(replies) or [f"{name} speaks."]), **more)


async def reasons_of_last(
    root: BaseAgent, folder: Path, *texts: str, plugins: Sequence[BasePlugin] = (), between: Sequence[Event] = ()
) -> list[tuple[str, str]]:
    """Run messages; return author and reason of each event before the last answer."""
    recorder = load_recorder().RecorderPlugin(folder / "run.rec.db")
    runner = runner_for(root, plugins=[recorder, *plugins])
    for number, text in enumerate(texts):
        await run(runner, text)
        if number == 0:
            session = await runner.session_service.get_session(app_name="app", user_id="u", session_id="s")
            for event in between:
                await runner.session_service.append_event(session, event)
    await recorder.close()
    session = await runner.session_service.get_session(app_name="app", user_id="u", session_id="s")
    events = list(session.events)
    recording = Recording(folder / "run.rec.db")
    index = next(place for place in range(len(events) - 1, -1, -1) if recording.call_of_event(events[place].id))
    call = recording.call_of_event(events[index].id)
    assert call is not None
    found = prompt_events(events, index, recording.request(call.number))
    recording.close()
    return [(entry.event.author, entry.reason) for entry in found]


async def test_all_events_of_a_plain_conversation_are_in(tmp_path: Path) -> None:
    assert await reasons_of_last(speaker("one"), tmp_path, "a", "b") == [("user", ""), ("one", ""), ("user", "")]


async def test_another_agents_words_are_in_as_context(tmp_path: Path) -> None:
    both = SequentialAgent(name="both", sub_agents=[speaker("one"), speaker("two")])
    assert await reasons_of_last(both, tmp_path, "a") == [("user", ""), ("one", "")]


async def test_events_of_another_branch_are_out(tmp_path: Path) -> None:
    pairs = [SequentialAgent(name=f"pair_{name}", sub_agents=[speaker(f"{name}_1"), speaker(f"{name}_2")]) for name in ("a", "b")]
    found = await reasons_of_last(ParallelAgent(name="both", sub_agents=pairs), tmp_path, "go")
    other = [reason for author, reason in found if author in ("a_1", "a_2", "b_1", "b_2") and reason]
    assert other and all(reason.startswith("it is on another branch, both.pair_") for reason in other)
    assert found[0] == ("user", "")


async def test_include_contents_none_is_the_reason(tmp_path: Path) -> None:
    found = await reasons_of_last(speaker("one", include_contents="none"), tmp_path, "a", "b")
    none = "include_contents is none: only the present turn is sent"
    assert found == [("user", none), ("one", none), ("user", "")]


async def test_a_summary_replaces_events(tmp_path: Path) -> None:
    content = types.Content(role="model", parts=[types.Part(text="They said a.")])
    compaction = EventCompaction(start_timestamp=0, end_timestamp=9e9, compacted_content=content)
    summary = Event(author="user", invocation_id="i", actions=EventActions(compaction=compaction))
    found = await reasons_of_last(speaker("one"), tmp_path, "a", "b", between=[summary])
    assert found == [("user", "a summary replaces it"), ("one", "a summary replaces it"), ("user", ""), ("user", "")]


class Forgetful(BasePlugin):
    """Leaves the first content out."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: LlmRequest) -> None:
        if len(llm_request.contents) > 1:
            del llm_request.contents[0]


async def test_what_a_plugin_left_out_is_named(tmp_path: Path) -> None:
    found = await reasons_of_last(speaker("one"), tmp_path, "a", "b", plugins=[Forgetful("forgetful")])
    assert found == [("user", BY_OTHERS), ("one", ""), ("user", "")]


def test_secrets_that_were_replaced_are_recognised() -> None:
    call = types.FunctionCall(name="f", args={"k": "v"})
    said = [
        Event(author="user", content=types.Content(role="user", parts=[types.Part(text="password: horse-7 and more")])),
        Event(author="one", content=types.Content(role="model", parts=[types.Part(function_call=call)])),
        Event(author="one", content=types.Content(role="model", parts=[types.Part(text="Done.")])),
    ]
    contents = (
        {"role": "user", "parts": [{"text": "password: (redacted) and more"}]},
        {"role": "model", "parts": [{"function_call": {"name": "f", "args": {"k": "(redacted)"}}}]},
    )
    found = prompt_events(said, 2, RecordedModelRequest("m", {}, contents, None))
    assert [entry.reason for entry in found] == ["", ""]


def said_by(author: str, *parts: types.Part) -> Event:
    return Event(author=author, content=types.Content(role="model", parts=list(parts)))


BEGIN, END = "<<<BEGIN_QUOTED_AGENT_CONTENT>>>", "<<<END_QUOTED_AGENT_CONTENT>>>"
SEEN = types.Part.from_function_response(name="look", response={"seen": None})
SEEN.function_response.id = "call"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("part", "told"),
    [
        (types.Part(text="a: b\n"), f"[other] said:\n{BEGIN}\na: b\n\n{END}"),
        (types.Part(text=f"x {END} y"), f"[other] said:\n{BEGIN}\nx <<<ELIDED_MARKER>>> y\n{END}"),
        (types.Part(text="hm", thought=True), f"[other] thought:\n{BEGIN}\nhm\n{END}"),
        (types.Part(text="hm", thought=True), "[other] thought: hm"),
        (
            types.Part.from_function_call(name="f", args={"b": 1, "a": None}),
            f"[other] called tool `f` with parameters:\n{BEGIN}\n{{'a': None, 'b': 1}}\n{END}",
        ),
        (types.Part.from_function_call(name="f", args={"b": 1}), "[other] called tool `f` with parameters: {'b': 1}"),
        (types.Part.from_function_call(name="f", args={"b": 1}), '[other] called tool `f` with {"b": 1}'),
        (types.Part.from_function_call(name="f", args={"at": "2026-01-01"}), "[other] called tool `f` with parameters: {'at': <object>}"),
        (SEEN, f"[other] `look` tool returned result:\n{BEGIN}\n{{'seen': None}}\n{END}"),
        (SEEN, '[other] got from tool `look`: {"seen": null}'),
    ],
)
def test_what_another_agent_did_is_in_as_each_runtime_tells_it(part: types.Part, told: str) -> None:
    contents = ({"role": "user", "parts": [{"text": "For context:"}, {"text": told}]},)
    events = [said_by("third", part), said_by("other", part), said_by("one", types.Part(text="Done."))]
    found = prompt_events(events, 2, RecordedModelRequest("m", {}, contents, None))
    assert [bool(entry.reason) for entry in found] == [True, False]


def test_of_equal_events_the_oldest_is_out_and_this_is_called_unknown() -> None:
    events = [said_by("user", types.Part(text="yes")), said_by("user", types.Part(text="yes")), said_by("one")]
    contents = ({"role": "user", "parts": [{"text": "yes"}]},)
    assert [entry.reason for entry in prompt_events(events, 2, RecordedModelRequest("m", {}, contents, None))] == [EQUAL, ""]


def test_a_later_response_replaces_the_interim_one() -> None:
    parts = [types.Part.from_function_response(name="order", response={"status": status}) for status in ("sent", "there")]
    for part in parts:
        part.function_response.id = "call"  # type: ignore[union-attr]
    events = [said_by("one", parts[0]), said_by("user", parts[1]), said_by("one")]
    contents = ({"role": "user", "parts": [{"function_response": {"name": "order", "response": {"status": "there"}}}]},)
    found = prompt_events(events, 2, RecordedModelRequest("m", {}, contents, None))
    assert [entry.reason for entry in found] == ["a later response to its call replaces it", ""]


def test_code_files_and_transcripts_are_found() -> None:
    code = types.Part(executable_code=types.ExecutableCode(code="1 + 1", language=types.Language.PYTHON))
    picture = types.Part(inline_data=types.Blob(mime_type="image/png", data=b"abc"))
    spoken = Event(author="one", output_transcription=types.Transcription(text="Hello."))
    events = [said_by("one", code), said_by("user", picture), spoken, Event(author="one"), said_by("one")]
    contents = (
        {"role": "model", "parts": [{"executable_code": {"code": "1 + 1", "language": "PYTHON"}}]},
        {"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": "(3 bytes)"}}]},
        {"role": "model", "parts": [{"text": "Hello."}]},
    )
    found = prompt_events(events, 4, RecordedModelRequest("m", {}, contents, None))
    assert [entry.reason for entry in found] == ["", "", "", "it has no content"]


def test_damaged_contents_are_no_error() -> None:
    said = [Event(author="user", content=types.Content(role="user", parts=[types.Part(text="a")])), Event(author="one")]
    contents: tuple[Any, ...] = (7, None, {"parts": 3}, {"parts": [None, {"text": 5}, {"function_call": []}]})
    assert [entry.reason for entry in prompt_events(said, 1, RecordedModelRequest("m", {}, contents, None))] == [BY_OTHERS]


def test_an_event_of_which_only_a_thought_is_in_the_request_says_so() -> None:
    thought, call = types.Part(text="Look first.", thought=True), types.Part(function_call=types.FunctionCall(id="1", name="look", args={}))
    events = [said_by("one", thought, call), said_by("one", types.Part(text="Done."))]
    contents = ({"role": "model", "parts": [{"text": "Look first.", "thought": True}]},)
    [found] = prompt_events(events, 1, RecordedModelRequest("m", {}, contents, None))
    assert (found.reason, found.partly) == ("", "its call has no response yet")


def test_parts_without_content_are_not_missed() -> None:
    events = [said_by("one", types.Part(text="Yes."), types.Part(text=" "), types.Part(thought_signature=b"1"))]
    contents = ({"role": "model", "parts": [{"text": "Yes."}]},)
    [found] = prompt_events([*events, *events], 1, RecordedModelRequest("m", {}, contents, None))
    assert (found.reason, found.partly) == ("", "")


def test_another_agents_thought_does_not_take_the_place_of_an_equal_own_one() -> None:
    thought = types.Part(text="Look first.", thought=True)
    events = [said_by("one", thought), said_by("two", thought, types.Part(text="Hi.")), said_by("one", types.Part(text="Done."))]
    contents = (
        {"role": "model", "parts": [{"text": "Look first.", "thought": True}]},
        {"role": "user", "parts": [{"text": "[two] said: Hi."}]},
    )
    own, others = prompt_events(events, 2, RecordedModelRequest("m", {}, contents, None))
    assert (own.reason, own.partly, others.reason, others.partly) == ("", "", "", "thoughts of other agents are not sent")


def test_of_equal_calls_the_one_without_a_response_is_left_out() -> None:
    thought = types.Part(text="Look first.", thought=True)
    first, again = (types.Part(function_call=types.FunctionCall(id=number, name="look", args={})) for number in "12")
    response = types.Part(function_response=types.FunctionResponse(id="1", name="look", response={}))
    events = [
        said_by("one", thought, first),
        said_by("one", response),
        said_by("one", thought, again),
        said_by("one", types.Part(text="Done.")),
    ]
    contents = (
        {"parts": [{"text": "Look first.", "thought": True}, {"function_call": {"name": "look"}}]},
        {"parts": [{"function_response": {"name": "look"}}]},
        {"parts": [{"text": "Look first.", "thought": True}]},
    )
    found = prompt_events(events, 3, RecordedModelRequest("m", {}, contents, None))
    assert [entry.partly for entry in found] == ["", "", "its call has no response yet"]


LOOK, CONFIRM = (types.FunctionCall(id=name, name=name, args={}) for name in ("look", "adk_request_confirmation"))
SEEN_LATER = types.Part(function_response=types.FunctionResponse(id="look", name="look", response={}))
SAID_YES = types.Part(function_response=types.FunctionResponse(id=CONFIRM.id, name=CONFIRM.name, response={"confirmed": True}))
MEANWHILE = types.Part(text="Meanwhile.")


@pytest.mark.parametrize(
    ("events", "places", "reason"),
    [
        ([said_by("two", types.Part(text="Hm.", thought=True))], (0,), "thoughts of other agents are not sent"),
        ([said_by("one", types.Part(function_call=LOOK))], (0,), "its call has no response yet"),
        (
            [said_by("one", types.Part(function_call=CONFIRM)), said_by("user", SAID_YES)],
            (0, 1),
            "requests to a person are never sent to models",
        ),
        (
            [said_by("one", types.Part(function_call=LOOK)), said_by("one", MEANWHILE), said_by("user", SEEN_LATER)],
            (1,),
            "it is between a call and its late response",
        ),
        (
            [
                Event(author="user", invocation_id="1", content=types.Content(role="user", parts=[MEANWHILE])),
                Event(author="user", invocation_id="2", actions=EventActions(rewind_before_invocation_id="1")),
            ],
            (0,),
            "a rewind took it back",
        ),
        ([Event(author="user", invocation_id="2", actions=EventActions(rewind_before_invocation_id="1"))], (0,), "it is a rewind"),
        ([Event(author="one", output_transcription=types.Transcription(text="Hello."))], (0,), BY_OTHERS),
    ],
)
def test_what_a_runtime_itself_leaves_out_has_its_reason(events: list[Event], places: Sequence[int], reason: str) -> None:
    told = [part.model_dump(exclude_none=True) for part in (types.Part(function_call=LOOK), SEEN_LATER)]
    contents = tuple({"role": "user", "parts": [part]} for part in told) if len(events) == 3 else ()
    found = prompt_events([*events, said_by("one", types.Part(text="Done."))], len(events), RecordedModelRequest("m", {}, contents, None))
    assert [entry.reason for entry in found if entry.index in places] == [reason] * len(places)
