"""Model calls of agents in a process of their own are recorded there."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector_app.engines.child_process import ChildError
from runtime.storage.recordings.recording import Recording
from tests.interop.engines.conftest import AGENTS, Start
from tests.interop.engines.driving import drive, text


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
