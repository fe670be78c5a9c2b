"""Agents as tools are recorded: their events and tokens, by the call that started them."""

from __future__ import annotations

import contextlib
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from inspector_app.engines.recorder_file import recorder_plugin
from runtime.events.event import Event
from runtime.sessions.recorded_facts import RecordedInnerEvent
from runtime.sessions.session_key import SessionKey
from runtime.storage.recordings.recording import Recording
from tests.interop.engines.conftest import AGENTS, ENGINES, IN_PROCESS, PYTHONS, start, started_in_process
from tests.interop.engines.driving import drive, script

NEST = AGENTS / "nest"
WEATHER = [["weather", {"city": "Oslo"}]]
DEEP = json.dumps([WEATHER, "Deep is done."])
MIDDLE = json.dumps([[["deep", {"request": DEEP}]], "Middle is done."])
Messages = Sequence[Sequence[Any]]


def charged() -> Counter[str]:
    """Return what each model has charged."""
    found: Counter[str] = Counter()
    for line in (NEST / "charged.jsonl").read_text().splitlines():
        model, prompt, answer = json.loads(line)
        found[model] += prompt + answer
    return found


def reported(events: Sequence[Event]) -> Counter[str]:
    """Return the tokens that events report, by the model of their author."""
    found: Counter[str] = Counter()
    for event in events:
        if event.usage_metadata is not None:
            found[f"model-of-{event.author}"] += event.usage_metadata.total_token_count or 0
    return found


async def run_all(engine: str, file: Path, messages: Messages) -> tuple[SessionKey, list[Event], list[RecordedInnerEvent]]:
    """Run messages in one session; return its key, its events, and the recorded ones of agents as tools."""
    (NEST / "charged.jsonl").write_text("")

    async def run(opened: Any) -> SessionKey:
        key: SessionKey = await opened.new_session("u")
        for message in messages:
            with contextlib.suppress(Exception):
                await drive(opened, key, script(*message))
        return key

    if engine == IN_PROCESS:
        async with started_in_process(NEST, recording=file) as started:
            key = await run(started.engine)
            recorder_plugin(file).recording.wait()  # type: ignore[attr-defined]
    else:
        PYTHONS[engine]()
        started = await start(engine, NEST, recording=file)
        key = await run(started.engine)
        await started.engine.close()
    with closing(Recording(file)) as recording:
        return key, [event for event, _ in started.committed], recording.inner_events(key)


@pytest.mark.parametrize("engine", ENGINES)
async def test_inner_events_are_recorded_by_their_calls(engine: str, tmp_path: Path) -> None:
    file = tmp_path / "all.rec.db"
    calls = [["middle", {"request": MIDDLE}], ["middle", {"request": MIDDLE}], ["ask_deep", {"request": DEEP}]]
    failing = json.dumps([WEATHER, {"fail": "unplugged"}])
    messages: list[list[Any]] = [[calls, [["plain", {"request": "x"}]], "Done."], [[["middle", {"request": failing}]], "After."]]
    _, events, inner = await run_all(engine, file, messages)
    found = [one.event for one in inner if one.event is not None]
    assert len(found) == len(inner) >= 2 * (2 + 3) + 3 + 2
    assert reported([*events, *found]) == charged()
    outer = {call.id: (event.invocation_id, call.name) for event in events for call in event.get_function_calls()}
    for one in inner:
        assert one.event is not None
        invocation, tool = outer[one.call_ids[0]]
        assert one.invocation_id == invocation
        assert (tool, len(one.call_ids), one.event.author) in {
            ("middle", 1, "middle"), ("middle", 2, "deep"), ("ask_deep", 1, "deep")
        }  # fmt: skip
    assert b"horse-battery" not in file.read_bytes() and b"not for the disk" not in file.read_bytes()
    assert any(event.actions.state_delta == {"city": "Oslo"} for event in found)
    with closing(Recording(file)) as recording:
        asked = {event.id for event in found if event.usage_metadata is not None}
        exchanges = [recording.exchange(event_id) for event_id in asked]
        assert all(one is not None and one.call.model == f"model-of-{one.call.agent}" for one in exchanges)
        assert all(call.ended is not None for call in recording.tool_calls() if call.tool == "middle" and call.error is None)


@pytest.mark.parametrize("engine", ENGINES)
async def test_what_the_recorder_could_not_see_is_noted(engine: str, tmp_path: Path) -> None:
    _, events, inner = await run_all(engine, tmp_path / "all.rec.db", [[[["hidden", {"request": DEEP}]], "Done."]])
    seen = [one.event for one in inner if one.event is not None]
    if engine in ("embedded", IN_PROCESS):
        assert reported([*events, *seen]) == charged()
    else:
        (one,) = inner
        (call,) = [call for event in events for call in event.get_function_calls()]
        assert (one.event, one.call_ids, one.invocation_id) == (None, (call.id,), events[-1].invocation_id)


@pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine not in ("1.39", "1.25")])
async def test_an_agent_that_runs_inline_is_counted_once(engine: str, tmp_path: Path) -> None:
    _, events, inner = await run_all(engine, tmp_path / "all.rec.db", [[[["inline", {"request": DEEP}]], "Done."]])
    assert reported([*events, *(one.event for one in inner if one.event is not None)]) == charged()
