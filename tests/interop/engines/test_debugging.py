"""The debugger on all engines: hold, step, break, edit, answer, stop."""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from pathlib import Path

import pytest
from google.genai import types

from inspector_app.engines.child_calls import AgentCodeError
from runtime.debugger.breakpoints import Breakpoints
from runtime.debugger.calls import CallEditError, ModelCall, ToolCall
from runtime.debugger.debugger import Debugger
from runtime.debugger.hold import Hold, Report
from tests.interop.engines.conftest import EMBEDDED, IN_PROCESS, Started
from tests.interop.engines.driving import drive, places, response, script, summary

pytestmark = pytest.mark.asyncio(loop_scope="module")

WEATHER = script(["call", "weather", {"city": "Bern"}], ["stream", "It is ", "blue."])


def only_in_a_child(shared: Started) -> None:
    if shared.version == IN_PROCESS:
        pytest.skip("in this process, others capture the output: tests/unit/inspector_app/engines")


async def test_a_run_commits_its_events_and_yields_them(shared: Started) -> None:
    shared.committed.clear()
    key = await shared.engine.new_session("u", {"given": 1})
    events = await drive(shared.engine, key, WEATHER)
    assert summary(events) == ["call weather", "result {'sky': 'blue over Bern'}", "text It is blue."]
    committed = [event for event, _ in shared.committed if event.content]
    assert [event.id for event in committed[1:]] == [event.id for event in events if event.content]
    assert committed[0].author == "user"
    stored = await shared.engine.session(key)
    assert stored is not None
    state, history = stored
    assert state == {"given": 1, "city": "Bern"}
    assert [event.id for event in history] == [event.id for event, _ in shared.committed]


async def test_temp_keys_are_reported_and_not_stored(shared: Started) -> None:
    shared.committed.clear()
    key = await shared.engine.new_session("u")
    await drive(shared.engine, key, WEATHER)
    assert [temp for _, temp in shared.committed if temp] == [{"temp:key": "not stored"}]
    assert not any("temp:key" in event.actions.state_delta for event, _ in shared.committed)


async def test_what_the_agent_prints_arrives_with_its_stream(shared: Started) -> None:
    only_in_a_child(shared)
    shared.output.clear()
    key = await shared.engine.new_session("u")
    await drive(shared.engine, key, WEATHER)
    assert ("stdout", "looking up Bern") in shared.output


async def test_partial_events_arrive_and_commit_nothing(shared: Started) -> None:
    key = await shared.engine.new_session("u")
    shared.committed.clear()
    partials = []
    async for event in shared.engine.run(key, WEATHER):
        if event.partial:
            partials.append(event.content.parts[0].text)  # type: ignore[union-attr, index]
    assert partials == ["It is ", "blue."]
    assert not any(event.partial for event, _ in shared.committed)


@pytest.mark.rule("N3")
async def test_held_at_an_event_it_is_committed_and_nothing_after_it_has_happened(shared: Started, tmp_path: Path) -> None:
    file = tmp_path / "notes"
    key = await shared.engine.new_session("u")
    holds: list[Hold] = []

    async def at_hold(hold: Hold) -> None:
        holds.append(hold)
        for _ in range(5):  # round trips in which the agent could move on
            stored = await shared.engine.session(key)
        assert stored is not None
        assert hold.event is not None and stored[1][-1].id == hold.event.id
        assert file.exists() == (len(holds) > 1)
        debugger.step()

    debugger = Debugger(paused=True)
    message = script(["call", "note", {"path": str(file), "text": "one"}], ["done"])
    events = await drive(shared.engine, key, message, debugger, at_hold)
    assert [hold.event for hold in holds] == events


def parallel_notes(folder: Path, count: int) -> types.Content:
    """Return a message that makes the model call `note` several times at once, each with a file of its own."""
    calls = [part for number in range(count) for part in ("call", "note", {"path": str(folder / str(number)), "text": "x"})]
    return script(calls, ["done"])


def names_in(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


@pytest.mark.parametrize("command", ["step_into", "step_over", "step"])
async def test_step_into_holds_each_of_several_parallel_calls_before_it_runs(shared: Started, tmp_path: Path, command: str) -> None:
    key = await shared.engine.new_session("u")
    held: list[str] = []

    def at_hold(hold: Hold) -> None:
        if isinstance(hold.call, ToolCall):
            file = Path(hold.call.args["path"])
            assert not file.exists()
            held.append(file.name)
            getattr(debugger, command)()
        elif len(held) < 3:
            debugger.step_into()
        else:
            debugger.resume()

    debugger = Debugger(paused=True)
    events = await drive(shared.engine, key, parallel_notes(tmp_path, 3), debugger, at_hold)
    assert sorted(held) == ["0", "1", "2"]
    assert names_in(tmp_path) == ["0", "1", "2"]
    assert summary(events)[-1] == "text done"


async def test_resume_releases_the_parallel_calls_but_those_at_a_breakpoint(shared: Started, tmp_path: Path) -> None:
    key = await shared.engine.new_session("u")
    held: list[str] = []

    def at_hold(hold: Hold) -> None:
        if isinstance(hold.call, ToolCall):
            held.append(hold.call.name)
        if held:
            debugger.resume()
        else:
            debugger.step_into()

    notes = [["call", "note", {"path": str(tmp_path / name), "text": "x"}] for name in ("0", "1")]
    breakpoints = Breakpoints()
    breakpoints.add(when="before tool", tool="weather")
    debugger = Debugger(paused=True, breakpoints=breakpoints)
    message = script([*notes[0], "call", "weather", {"city": "Bern"}, *notes[1]], ["done"])
    await drive(shared.engine, key, message, debugger, at_hold)
    assert held == ["note", "weather"]
    assert names_in(tmp_path) == ["0", "1"]


async def test_a_call_that_is_given_its_result_leaves_those_beside_it_theirs(shared: Started, tmp_path: Path) -> None:
    key = await shared.engine.new_session("u")
    held: list[str] = []

    def at_hold(hold: Hold) -> None:
        if isinstance(hold.call, ToolCall):
            held.append(Path(hold.call.args["path"]).name)
            if held[-1] == "1":
                hold.call.give_result({"given": 1})
        if len(held) == 3:
            debugger.resume()
        else:
            debugger.step_into()

    debugger = Debugger(paused=True)
    events = await drive(shared.engine, key, parallel_notes(tmp_path, 3), debugger, at_hold)
    assert sorted(held) == ["0", "1", "2"]
    assert names_in(tmp_path) == ["0", "2"]
    assert "result {'given': 1}" in summary(events)


async def test_step_into_stops_at_each_call(shared: Started) -> None:
    key = await shared.engine.new_session("u")
    holds: list[Hold] = []

    def at_hold(hold: Hold) -> None:
        holds.append(hold)
        debugger.step_into()

    debugger = Debugger(paused=True)
    await drive(shared.engine, key, WEATHER, debugger, at_hold)
    assert places(holds)[:3] == ["steps event", "steps before tool", "steps before model"]
    call = holds[1].call
    assert isinstance(call, ToolCall) and (call.name, call.args) == ("weather", {"city": "Bern"})


async def test_step_over_and_out_pass_an_agent_that_runs_as_a_tool(shared: Started) -> None:
    key = await shared.engine.new_session("u")
    inner = '[["call", "weather", {"city": "Bern"}], ["It is blue."]]'
    message = script(["call", "helper", {"request": inner}], ["done"])
    seen: list[tuple[str, tuple[str | None, ...]]] = []

    def debug(steps: list[str]) -> tuple[Debugger, list[Hold]]:
        holds: list[Hold] = []
        seen.clear()
        debugger = Debugger(paused=True, on_inner_event=lambda event, ids: None if event.partial else seen.append((event.author, ids)))

        def at_hold(hold: Hold) -> None:
            holds.append(hold)
            getattr(debugger, steps[min(len(holds), len(steps)) - 1])()

        debugger.at = at_hold  # type: ignore[attr-defined]
        return debugger, holds

    debugger, holds = debug(["step_over"])
    await drive(shared.engine, key, message, debugger, debugger.at)  # type: ignore[attr-defined]
    assert {hold.agent for hold in holds} == {"steps"}
    call_id = holds[0].event.get_function_calls()[0].id  # type: ignore[union-attr]
    assert seen == [("helper", (call_id,))] * 3

    debugger, holds = debug(["step_into", "step_into", "step_into", "step_out", "step_over"])
    await drive(shared.engine, key, message, debugger, debugger.at)  # type: ignore[attr-defined]
    assert places(holds)[:4] == ["steps event", "steps before tool", "helper agent start", "helper before model"]
    assert places(holds)[4:6] == ["helper agent end", "steps event"]


async def test_edited_arguments_reach_the_tool_and_are_recorded(shared: Started) -> None:
    key = await shared.engine.new_session("u")

    def at_hold(hold: Hold) -> None:
        assert isinstance(hold.call, ToolCall)
        with pytest.raises(CallEditError, match="city"):
            hold.call.edit_args({"city": 3})
        hold.call.edit_args({"city": "Genf"})
        debugger.resume()

    breakpoints = Breakpoints()
    breakpoints.add('call.weather.args.city == "Bern"', when="before tool", tool="weather")
    debugger = Debugger(breakpoints=breakpoints)
    events = await drive(shared.engine, key, WEATHER, debugger, at_hold)
    assert "result {'sky': 'blue over Genf'}" in summary(events)
    stored = await shared.engine.session(key)
    assert stored is not None
    (edited,) = [event for event in stored[1] if event.custom_metadata and "inspector_edited" in event.custom_metadata]
    (call,) = edited.custom_metadata["inspector_edited"]["calls"].values()  # type: ignore[index]
    assert call == {"tool": "weather", "arguments": {"before": {"city": "Bern"}, "after": {"city": "Genf"}}}


async def test_a_given_result_replaces_the_tool(shared: Started, tmp_path: Path) -> None:
    file = tmp_path / "notes"
    key = await shared.engine.new_session("u")

    def at_hold(hold: Hold) -> None:
        assert isinstance(hold.call, ToolCall)
        hold.call.give_result({"written": "nothing"})
        debugger.resume()

    breakpoints = Breakpoints()
    breakpoints.add(when="before tool")
    debugger = Debugger(breakpoints=breakpoints)
    events = await drive(shared.engine, key, script(["call", "note", {"path": str(file), "text": "x"}], ["done"]), debugger, at_hold)
    assert "result {'written': 'nothing'}" in summary(events)
    assert not file.exists()


async def test_a_raised_error_is_the_tools_failure_and_can_be_answered(shared: Started) -> None:
    key = await shared.engine.new_session("u")
    holds: list[Hold] = []

    def at_hold(hold: Hold) -> None:
        holds.append(hold)
        assert isinstance(hold.call, ToolCall)
        if hold.place == "before tool":
            hold.call.fail("made to fail")
        else:
            hold.call.give_result({"instead": "an answer"})
        debugger.resume()

    breakpoints = Breakpoints()
    breakpoints.add(when="before tool")
    breakpoints.add(when="error")
    debugger = Debugger(breakpoints=breakpoints)
    events = await drive(shared.engine, key, WEATHER, debugger, at_hold)
    assert places(holds) == ["steps before tool", "steps error"]
    assert str(holds[1].error) == "made to fail"
    assert "result {'instead': 'an answer'}" in summary(events)
    assert "result {'sky': 'blue over Bern'}" in summary(await drive(shared.engine, key, WEATHER)), "later calls run"


async def test_a_tools_exception_ends_the_run_with_its_place_in_the_agents_code(shared: Started) -> None:
    key = await shared.engine.new_session("u")
    holds: list[Hold] = []

    def at_hold(hold: Hold) -> None:
        holds.append(hold)
        debugger.resume()

    breakpoints = Breakpoints()
    breakpoints.add(when="error")
    debugger = Debugger(breakpoints=breakpoints)
    with pytest.raises((AgentCodeError, ValueError), match="no 7 here") as caught:
        await drive(shared.engine, key, script(["call", "broken", {"number": 7}]), debugger, at_hold)
    assert type(caught.value).__name__ == "ValueError"
    if isinstance(caught.value, AgentCodeError):
        assert caught.value.file is not None and caught.value.file.endswith("steps/agent.py")
        assert 'raise ValueError(f"no {number} here")' in (caught.value.traceback or "")
    assert [hold.error is not None for hold in holds].count(True) == 1, "held where it happened, and not at the end of the run again"
    assert places(holds)[0] == "steps error"  # google-adk 2.x then commits an event with the error, and the breakpoint is met there too


async def test_a_models_exception_can_be_answered(shared: Started) -> None:
    key = await shared.engine.new_session("u")

    def at_hold(hold: Hold) -> None:
        assert isinstance(hold.call, ModelCall) and hold.text.startswith("steps failed: ConnectionError: no network")
        hold.call.answer("A person answers.")
        debugger.resume()

    breakpoints = Breakpoints()
    breakpoints.add(when="error")
    debugger = Debugger(breakpoints=breakpoints)
    events = await drive(shared.engine, key, script(["fail", "no network"]), debugger, at_hold)
    assert summary(events) == ["text A person answers."]


async def test_an_edited_request_reaches_the_model_and_an_answer_replaces_it(shared: Started) -> None:
    key = await shared.engine.new_session("u")
    numbers: list[int] = []

    def at_hold(hold: Hold) -> None:
        assert isinstance(hold.call, ModelCall)
        numbers.append(1)
        if len(numbers) == 1:
            request = hold.call.json()
            request["contents"][-1]["parts"][0]["text"] = '[["call", "weather", {"city": "Chur"}], ["never said"]]'
            request["config"]["temperature"] = 0.25
            hold.call.edit_request(request)
        else:
            hold.call.answer("Instead.")
        debugger.resume()

    breakpoints = Breakpoints()
    breakpoints.add(when="before model")
    debugger = Debugger(breakpoints=breakpoints)
    events = await drive(shared.engine, key, script(["first"]), debugger, at_hold)
    assert summary(events) == ["call weather", "result {'sky': 'blue over Chur'}", "text Instead."]
    first, last = [(event.custom_metadata or {}).get("inspector_edited", {}) for event in [one for one in events if one.content][::2]]
    assert {change["path"] for change in first["model"]["request"]} == {"contents[0]", "config.temperature"}
    assert last == {"model": {"answer": True}}


async def test_conditions_read_the_state_before_an_event_and_before_a_call(shared: Started) -> None:
    key = await shared.engine.new_session("u", {"city": "Basel"})
    holds: list[Hold] = []

    def at_hold(hold: Hold) -> None:
        holds.append(hold)
        debugger.resume()

    breakpoints = Breakpoints()
    breakpoints.add('state["city"] changed')
    breakpoints.add('state["city"] == "Basel"', when="before tool")
    debugger = Debugger(breakpoints=breakpoints)
    await drive(shared.engine, key, WEATHER, debugger, at_hold)
    assert places(holds) == ["steps before tool", "steps event"]
    assert holds[1].event is not None and holds[1].event.actions.state_delta["city"] == "Bern"


async def test_the_request_of_each_model_event_is_reported(shared: Started) -> None:
    key = await shared.engine.new_session("u")
    shared.requests.clear()
    events = await drive(shared.engine, key, WEATHER)
    with_request = [event.id for event in events if event.id in shared.requests]
    assert with_request == [events[0].id, events[2].id]
    request = shared.requests[events[2].id]
    assert request.contents[-1].parts[0].function_response.response == {"sky": "blue over Bern"}
    assert "weather" in str(request.config.tools)


async def test_stop_runs_the_agents_finally_and_leaves_the_engine_usable(shared: Started, tmp_path: Path) -> None:
    file = tmp_path / "notes"
    key = await shared.engine.new_session("u")
    debugger = Debugger()
    shared.engine.attach(debugger)
    stream = debugger.run(shared.engine.run(key, script(["call", "slow", {"path": str(file)}])))
    async for event in stream:
        if event.get_function_calls():
            break
    waiting = asyncio.ensure_future(anext(stream, None))
    while not file.exists():
        await asyncio.wait({waiting}, timeout=0.01)
    debugger.stop()
    assert await waiting is None
    assert file.read_text().split("\n")[:2] == ["began", "cleaned up"]
    stored = await shared.engine.session(key)
    assert stored is not None
    (cancelled,) = await shared.engine.cancel_open_calls(key, stored[1][-1].invocation_id, {})
    assert cancelled.get_function_responses()[0].name == "slow"
    assert summary(await drive(shared.engine, key, script(["still here"]))) == ["text still here"]


async def test_a_run_that_is_stopped_at_once_ends_at_once(shared: Started) -> None:
    key = await shared.engine.new_session("u")
    for turns in range(12):
        debugger = Debugger()
        shared.engine.attach(debugger)
        async with aclosing(debugger.run(shared.engine.run(key, WEATHER))) as events:  # on a slow machine, an event comes before the stop
            first = asyncio.ensure_future(anext(events, None))
            for _ in range(turns):
                await asyncio.sleep(0)
            debugger.stop()
            async with asyncio.timeout(3):  # less than the grace before a kill
                await first
    if shared.version != IN_PROCESS:
        assert shared.engine.child.ended is None
    assert summary(await drive(shared.engine, await shared.engine.new_session("u"), script(["still here"]))) == ["text still here"]


async def test_stop_while_held_before_a_tool_does_not_call_it(shared: Started, tmp_path: Path) -> None:
    file = tmp_path / "notes"
    key = await shared.engine.new_session("u")
    breakpoints = Breakpoints()
    breakpoints.add(when="before tool")
    debugger = Debugger(breakpoints=breakpoints)
    message = script(["call", "note", {"path": str(file), "text": "x"}], ["done"])
    events = await drive(shared.engine, key, message, debugger, lambda hold: debugger.stop())
    assert summary(events) == ["call note"]
    assert not file.exists()


async def test_an_invocation_that_was_stopped_is_resumed_and_repeats_no_tool(shared: Started, tmp_path: Path) -> None:
    file = tmp_path / "notes"
    key = await shared.engine.new_session("u")

    def at_hold(hold: Hold) -> None:
        if hold.event is not None and hold.event.get_function_responses():
            debugger.stop()
        else:
            debugger.step()

    debugger = Debugger(paused=True)
    message = script(["call", "note", {"path": str(file), "text": "one"}], ["done"])
    events = await drive(shared.engine, key, message, debugger, at_hold)
    resumed = await drive(shared.engine, key, None, invocation_id=events[0].invocation_id)
    assert summary(events + resumed) == ["call note", "result {'written': 'one'}", "text done"]
    assert file.read_text() == "one\n"


async def test_pause_takes_effect_while_the_agent_runs(shared: Started, tmp_path: Path) -> None:
    key = await shared.engine.new_session("u")
    debugger = Debugger()
    debugger.pause()
    holds: list[Hold] = []

    def at_hold(hold: Hold) -> None:
        holds.append(hold)
        debugger.resume()

    await drive(shared.engine, key, WEATHER, debugger, at_hold)
    assert len(holds) == 1


async def test_a_manual_edit_of_the_state_is_a_committed_event_that_can_be_undone(shared: Started) -> None:
    key = await shared.engine.new_session("u", {"colour": "red"})
    edit = await shared.engine.edit_state(key, {"colour": "blue"})
    stored = await shared.engine.session(key)
    assert stored is not None and stored[0] == {"colour": "blue"}
    await shared.engine.undo_state_edit(key, edit.id)
    stored = await shared.engine.session(key)
    assert stored is not None and stored[0] == {"colour": "red"}


async def test_a_manual_edit_while_held_is_seen_by_the_agent(shared: Started) -> None:
    key = await shared.engine.new_session("u", {"colour": "red"})

    async def at_hold(hold: Hold) -> None:
        await shared.engine.edit_state(key, {"colour": "blue"})
        debugger.resume()

    told: list[Report] = []
    debugger = Debugger(paused=True, on_report=told.append)
    events = await drive(shared.engine, key, WEATHER, debugger, at_hold)
    assert summary(events)[-1] == "text It is blue."
    stored = await shared.engine.session(key)
    assert stored is not None and stored[0]["colour"] == "blue"
    assert told == []


async def test_a_long_running_call_is_answered_later(shared: Started) -> None:
    key = await shared.engine.new_session("u")
    events = await drive(shared.engine, key, script(["call", "order", {"item": "tea"}], ["ordered"], ["arrived"]))
    call = events[0].get_function_calls()[0]
    assert events[0].long_running_tool_ids == {call.id}
    progress = await shared.engine.report_progress(key, str(call.id), {"status": "pending", "done": 0.5})
    assert progress.get_function_responses()[0].id == call.id
    answered = await drive(shared.engine, key, response(call.id, "order", {"status": "done"}))
    assert answered[-1].content is not None or answered[-1].actions.end_of_agent


async def test_a_tool_that_needs_a_confirmation_runs_after_it(shared: Started) -> None:
    key = await shared.engine.new_session("u")
    events = await drive(shared.engine, key, script(["call", "delete", {"name": "x"}], ["deleted"], ["really"]))
    (asked,) = [call for event in events for call in event.get_function_calls() if call.name == "adk_request_confirmation"]
    answered = await drive(shared.engine, key, response(asked.id, "adk_request_confirmation", {"confirmed": True}))
    assert "result {'deleted': 'x'}" in summary(answered)


async def test_a_rewind_takes_an_invocation_back(shared: Started) -> None:
    assert shared.engine.why_not("rewind") is None
    key = await shared.engine.new_session("u")
    await drive(shared.engine, key, script(["first"]))
    events = await drive(shared.engine, key, WEATHER)
    await shared.engine.rewind(key, events[0].invocation_id)
    stored = await shared.engine.session(key)
    assert stored is not None
    assert stored[1][-1].actions.rewind_before_invocation_id == events[0].invocation_id
    assert stored[0].get("city") is None


@pytest.mark.rule("N5")
async def test_what_the_engine_says_of_itself(shared: Started) -> None:
    only_in_a_child(shared)
    engine = shared.engine
    adk = f"google-adk {engine.child.hello['adk']}"
    assert engine.title == ("embedded runtime, own process" if shared.version == EMBEDDED else adk)
    assert adk.startswith(f"google-adk {shared.version}") or shared.version == EMBEDDED
    assert (engine.agent.app_name, engine.agent.resumable) == ("steps_app", True)
    assert engine.agent.root["name"] == "steps" and "weather" in engine.agent.root["tools"]
    assert engine.why_not("resume") is None
    assert engine.why_not("rerun") is None


async def test_output_is_attributed_to_the_call_during_which_it_was_written(shared: Started) -> None:
    only_in_a_child(shared)
    shared.committed.clear()
    shared.written.clear()
    both = script(["call", "weather", {"city": "Bern"}, "call", "weather", {"city": "Rom"}], ["done"])
    await drive(shared.engine, await shared.engine.new_session("u"), both)
    calls = {call.id: (call.args or {})["city"] for event, _ in shared.committed for call in event.get_function_calls()}
    written = [line for line in shared.written if line.text.startswith("looking up")]
    found = sorted((calls[line.source.call_id], line.text) for line in written if line.source and line.source.call_id)
    assert found == [("Bern", "looking up Bern"), ("Rom", "looking up Rom")]
    assert {str(line.source) for line in written} == {"weather"}


async def test_the_traceback_of_a_tool_names_its_call_and_begins_in_the_agents_code(shared: Started) -> None:
    only_in_a_child(shared)
    shared.committed.clear()
    shared.written.clear()
    with pytest.raises(AgentCodeError):
        await drive(shared.engine, await shared.engine.new_session("u"), script(["call", "broken", {"number": 3}], ["done"]))
    (call,) = [call for event, _ in shared.committed for call in event.get_function_calls()]
    (shown,) = [line for line in shared.written if line.stream == "traceback"]
    assert shown.source is not None and (shown.source.call_id, shown.source.tool) == (call.id, "broken")
    frames = [line for line in shown.text.splitlines() if line.startswith("  File ")]
    assert "steps/agent.py" in frames[0]
    assert shown.text.endswith("ValueError: no 3 here")
    await drive(shared.engine, await shared.engine.new_session("u"), WEATHER)
    assert [line.text for line in shared.written if line.stream == "stdout"] == ["looking up Bern"], "the failed call writes no more"


async def test_output_of_an_agent_in_a_tool_belongs_to_that_call(shared: Started) -> None:
    only_in_a_child(shared)
    shared.committed.clear()
    shared.written.clear()
    inner = json.dumps([["call", "weather", {"city": "Bern"}], ["done"]])
    await drive(shared.engine, await shared.engine.new_session("u"), script(["call", "helper", {"request": inner}], ["done"]))
    (call,) = [call for event, _ in shared.committed for call in event.get_function_calls()]
    (line,) = [line for line in shared.written if line.text == "looking up Bern"]
    assert line.source is not None and (line.source.call_id, line.source.tool) == (call.id, "helper")
