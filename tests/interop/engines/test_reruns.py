"""Runs that are repeated with recorded answers, on all engines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from google.genai import types

from runtime.debugger.breakpoints import Breakpoints
from runtime.debugger.debugger import Debugger
from runtime.debugger.hold import Hold
from runtime.events.event import Event
from runtime.forks.recorded_answers import RecordedAnswers
from runtime.forks.recording import Recording, recording_until
from runtime.sessions.session_key import SessionKey
from tests.interop.engines.conftest import Started
from tests.interop.engines.driving import drive, places, response, script, summary

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def stored(started: Started, key: SessionKey) -> tuple[dict[str, Any], list[Event]]:
    found = await started.engine.session(key)
    assert found is not None
    return found


async def repeat(
    started: Started, recording: Recording, breakpoints: Breakpoints | None = None
) -> tuple[SessionKey, RecordedAnswers, list[Hold]]:
    """Run again in an empty session: the fork before a session's first message."""
    key = await started.engine.new_session("u")
    holds: list[Hold] = []

    def at_hold(hold: Hold) -> None:
        holds.append(hold)
        debugger.resume()

    debugger = Debugger(breakpoints=breakpoints)
    started.engine.attach(debugger)
    rerun = started.engine.rerun(key, recording)
    await drive(started.engine, key, None, debugger, at_hold, run=rerun.events())
    return key, rerun.answers, holds


async def test_a_run_is_repeated_from_its_recording(shared: Started, tmp_path: Path) -> None:
    file = tmp_path / "notes"
    key = await shared.engine.new_session("u")
    message = script(
        ["call", "weather", {"city": "Bern"}, "call", "note", {"path": str(file), "text": "one"}], ["stream", "It is ", "blue."]
    )
    await drive(shared.engine, key, message)
    state, events = await stored(shared, key)
    breakpoints = Breakpoints()
    breakpoints.add(when="before tool")
    fork, answers, holds = await repeat(shared, recording_until(events, events[-1].id), breakpoints)
    again_state, again = await stored(shared, fork)
    assert file.read_text() == "one\n", "the tool was not called again"
    assert (answers.model_calls, answers.tool_calls, answers.divergences) == (2, 2, [])
    assert holds == []
    assert summary(again) == summary(events)
    assert again_state == state == {"city": "Bern"}
    replayed = [(event.custom_metadata or {}).get("inspector_replayed") for event in again if event.content]
    assert replayed == [None, *(event.id for event in events[1:] if event.content)]


async def test_a_changed_result_is_answered_live_from_there_on(shared: Started, tmp_path: Path) -> None:
    file = tmp_path / "notes"
    key = await shared.engine.new_session("u")
    note = ["call", "note", {"path": str(file), "text": "one"}]
    await drive(shared.engine, key, script(["call", "weather", {"city": "Bern"}], note, ["done"]))
    _, events = await stored(shared, key)
    (result,) = [event for event in events if any(one.name == "weather" for one in event.get_function_responses())]
    call = result.get_function_responses()[0]
    changed = types.Part(function_response=types.FunctionResponse(id=call.id, name="weather", response={"sky": "grey"}))
    recording = recording_until(events, result.id).with_override(types.Content(role="user", parts=[changed]))
    breakpoints = Breakpoints()
    breakpoints.add(when="before tool")
    fork, answers, holds = await repeat(shared, recording, breakpoints)
    _, again = await stored(shared, fork)
    assert summary(again)[1:] == ["call weather", "result {'sky': 'grey'}", "call note", "result {'written': 'one'}", "text done"]
    assert file.read_text() == "one\none\n", "what was not recorded is called"
    assert places(holds) == ["steps before tool"]
    assert (answers.model_calls, answers.tool_calls) == (1, 1)
    (edited,) = [event for event in again if "inspector_edited" in (event.custom_metadata or {})]
    assert edited.get_function_responses()[0].response == {"sky": "grey"}


async def test_a_changed_answer_of_the_model_is_repeated_and_its_calls_are_made(shared: Started, tmp_path: Path) -> None:
    key = await shared.engine.new_session("u")
    await drive(shared.engine, key, script(["What?"]))
    _, events = await stored(shared, key)
    (answer,) = [event for event in events if event.author == "steps" and event.content]
    calls = types.Part(function_call=types.FunctionCall(name="note", args={"path": str(tmp_path / "notes"), "text": "two"}))
    recording = recording_until(events, answer.id).with_override(types.Content(role="model", parts=[calls]))
    fork, answers, _ = await repeat(shared, recording)
    _, again = await stored(shared, fork)
    assert summary(again)[1:] == ["call note", "result {'written': 'two'}", "text Nothing more to say."]
    assert (tmp_path / "notes").read_text() == "two\n"
    assert answers.divergences == []


async def test_a_recorded_confirmation_is_given_again(shared: Started) -> None:
    key = await shared.engine.new_session("u")
    events = await drive(shared.engine, key, script(["call", "delete", {"name": "x"}], ["deleted"], ["really"]))
    (asked,) = [call for event in events for call in event.get_function_calls() if call.name == "adk_request_confirmation"]
    given = response(asked.id, "adk_request_confirmation", {"confirmed": True})
    await drive(shared.engine, key, given, invocation_id=events[0].invocation_id)
    _, events = await stored(shared, key)
    assert {event.invocation_id for event in events} == {events[0].invocation_id}
    fork, answers, _ = await repeat(shared, recording_until(events, events[-1].id))
    _, again = await stored(shared, fork)
    assert "result {'deleted': 'x'}" in summary(again)
    assert (len(again), answers.divergences) == (len(events), [])


async def test_a_run_that_diverges_says_where_and_continues_live(shared: Started) -> None:
    key = await shared.engine.new_session("u")
    await drive(shared.engine, key, script(["call", "weather", {"city": "Bern"}], ["done"]))
    _, events = await stored(shared, key)
    recording = recording_until(events, events[-1].id)
    without_result = [event for event in recording.answers if not event.get_function_responses()]
    recording = Recording(recording.invocation_id, recording.messages, tuple(without_result))
    fork, answers, _ = await repeat(shared, recording)
    assert [*map(str, answers.divergences)] == [
        "weather was called, but no result was recorded for this call; from there on the run is live."
    ]
    assert summary((await stored(shared, fork))[1])[1:] == ["call weather", "result {'sky': 'blue over Bern'}", "text done"]
