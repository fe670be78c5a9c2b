"""Model calls of agents in a process of their own are recorded there."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path

import pytest

from inspector_app.engines.child_calls import AgentCodeError
from inspector_app.engines.child_process import ChildError
from inspector_app.engines.recorder_file import recorder_plugin
from runtime.debugger.breakpoints import Breakpoints
from runtime.debugger.debugger import Debugger
from runtime.debugger.hold import Hold
from runtime.storage.recordings.recording import Recording
from tests.interop.engines.conftest import AGENTS, ENGINES, IN_PROCESS, PYTHONS, Start, start, started_in_process
from tests.interop.engines.driving import drive, script, text


async def test_a_child_records_its_model_calls(version: str, start_engine: Start, tmp_path: Path) -> None:
    file = tmp_path / "sessions.rec.db"
    started = await start_engine(version, AGENTS / "steps", recording=file)
    events = [event for _ in range(2) for event in await drive(started.engine, await started.engine.new_session("u"), text("go"))]
    await started.engine.close()
    recording = Recording(file)
    calls = recording.model_calls()
    assert calls and {call.event_id for call in calls} <= {event.id for event in events}
    assert all(call.first is not None and call.ended is not None for call in calls)
    assert all(recording.request(call.number).contents for call in calls)
    assert {call.tool for call in recording.tool_calls()} == {call.name for event in events for call in event.get_function_calls()}
    recording.close()


async def test_a_child_asks_a_model_again(version: str, start_engine: Start) -> None:
    started = await start_engine(version, AGENTS / "steps")
    message = {"role": "user", "parts": [{"text": '[["Once more."]]'}]}
    answer = await started.engine.ask_model("steps", {"model": "scripted", "contents": [message], "config": {"temperature": 0.5}})
    assert answer["content"] == {"role": "model", "parts": [{"text": "Once more."}]}
    with pytest.raises(ChildError, match="has no 'clerk'"):
        await started.engine.ask_model("clerk", {"contents": [message]})
    with pytest.raises(ChildError, match="unplugged"):
        await started.engine.ask_model("steps", {"contents": [{"role": "user", "parts": [{"text": '[["fail", "unplugged"]]'}]}]})
    await started.engine.close()


HELD = 0.2  # seconds, at each hold


@pytest.mark.parametrize("engine", ENGINES)
async def test_time_at_a_hold_is_no_work_of_the_tool_or_model(engine: str, tmp_path: Path) -> None:
    file = tmp_path / "sessions.rec.db"
    inner = json.dumps([["call", "weather", {"city": "Oslo"}], ["inside"]])
    message = script(["call", "helper", {"request": inner}], ["call", "broken", {"number": 1}], ["done"])
    places: set[str] = set()

    async def at_hold(hold: Hold) -> None:
        places.add("inner" if hold.inner else hold.place)
        await asyncio.sleep(HELD)
        debugger.step_into()

    breakpoints = Breakpoints()
    for when in ("before model", "before tool", "error", "event"):
        breakpoints.add(when=when)  # type: ignore[arg-type]
    debugger = Debugger(breakpoints=breakpoints)
    if engine == IN_PROCESS:
        async with started_in_process(AGENTS / "steps", recording=file) as started:
            with contextlib.suppress(ValueError):
                await drive(started.engine, await started.engine.new_session("u"), message, debugger, at_hold)
            recorder_plugin(file).recording.wait()  # type: ignore[attr-defined]
    else:
        PYTHONS[engine]()
        child = await start(engine, AGENTS / "steps", recording=file)
        with contextlib.suppress(AgentCodeError):
            await drive(child.engine, await child.engine.new_session("u"), message, debugger, at_hold)
        await child.engine.close()
    assert {"before model", "before tool", "error", "inner"} <= places
    recording = Recording(file)
    tools, models = recording.tool_calls(), recording.model_calls()
    recording.close()
    assert {call.tool for call in tools} == {"helper", "weather", "broken"}
    assert [call for call in (*tools, *models) if call.ended is not None and call.ended >= HELD] == []
