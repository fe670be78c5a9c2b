"""Recordings of real runs, read while and after they are written, damaged or not."""

from __future__ import annotations

import sqlite3
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime.agents import LlmAgent
from runtime.agents.run_config import RunConfig, StreamingMode
from runtime.errors.storage_error import StorageError
from runtime.events import Event
from runtime.models.llm_request import LlmRequest
from runtime.models.scripted_llm import ScriptedLlm
from runtime.plugins.base_plugin import BasePlugin
from runtime.sessions.session_key import SessionKey
from runtime.storage.reading.reader import StoredDatabase
from runtime.storage.recordings.recorded_call import RecordedModelRequest
from runtime.storage.recordings.recording import Recording, recording_beside
from tests.recorder import load_recorder
from tests.seeds.running import run, runner_for

recorder = load_recorder()
KEY = SessionKey("app", "u", "s")


def look(place: str) -> dict[str, str]:
    """Look at a place."""
    if place == "nowhere":
        raise LookupError("no such place")
    return {"found": place}


def agent(*replies: Any) -> LlmAgent:
    return LlmAgent(name="seer", instruction="Look around.", model=ScriptedLlm(replies=list(replies)), tools=[look])


async def record(file: Path, *replies: Any, turns: int = 1, **more: Any) -> list[Event]:
    plugin = recorder.RecorderPlugin(file)
    runner = runner_for(agent(*replies), plugins=[plugin])
    try:
        events = [event for turn in range(turns) for event in await run(runner, f"turn {turn}", **more)]
    finally:
        await plugin.close()
    assert plugin.recording.problem is None
    return events


def texts(request: RecordedModelRequest) -> list[str]:
    return [part["text"] for content in request.contents for part in content["parts"] if "text" in part]


async def test_each_answer_has_its_request_and_times(tmp_path: Path) -> None:
    file = tmp_path / "run.rec.db"
    events = await record(file, {"calls": [("look", {"place": "north"})]}, "Trees.", turns=2)
    recording = Recording(file)
    calls = recording.model_calls(KEY)
    assert [call.event_id for call in calls] == [event.id for event in events if not event.get_function_responses()]
    assert {(call.agent, call.model, call.invocation_id in {event.invocation_id for event in events}) for call in calls} == {
        ("seer", "scripted", True)
    }
    for call in calls:
        assert call.first is not None and call.ended is not None and 0 <= call.first <= call.ended < 60
        assert call.answered["usage_metadata"]["total_token_count"] > 0
    last = recording.request(calls[-1].number)
    assert texts(last)[0] == "turn 0" and texts(last)[-1] == "turn 1"
    assert "Look around." in last.config["system_instruction"]
    assert [declaration["name"] for tool in last.config["tools"] for declaration in tool["function_declarations"]] == ["look"]
    assert last.answer == {"role": "model", "parts": [{"text": "Trees."}]}
    assert recording.call_of_event(events[-1].id) == calls[-1]
    assert recording.call_of_event("another") is None
    (tool,) = recording.tool_calls(KEY)
    assert (tool.tool, tool.error, tool.call_id) == ("look", None, events[0].get_function_calls()[0].id)
    assert recording.model_calls(SessionKey("app", "u", "other")) == []
    recording.close()


async def test_errors_are_recorded(tmp_path: Path) -> None:
    file = tmp_path / "run.rec.db"
    with pytest.raises(LookupError):
        await record(file, {"calls": [("look", {"place": "nowhere"})]})
    with pytest.raises(ValueError, match="overloaded"):
        await record(file, ValueError("overloaded"))
    recording = Recording(file)
    assert [call.error for call in recording.model_calls()] == [None, "ValueError: overloaded"]
    assert [call.error for call in recording.tool_calls()] == ["LookupError: no such place"]


async def test_pieces_of_a_streamed_answer_have_times(tmp_path: Path) -> None:
    file = tmp_path / "run.rec.db"
    await record(file, {"chunks": ["a", "b", "c"]}, run_config=RunConfig(streaming_mode=StreamingMode.SSE))
    (call,) = Recording(file).model_calls()
    assert len(call.chunks) == 3 and list(call.chunks) == sorted(call.chunks)
    assert call.first is not None and call.first == pytest.approx(call.chunks[0], abs=1e-3)


async def test_a_recording_can_be_read_while_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "run.rec.db"
    await record(file, "one")
    recording = Recording(file)
    assert len(recording.model_calls()) == 1
    await record(file, "two")
    assert [texts(recording.request(call.number)) for call in recording.model_calls()] == [["turn 0"], ["turn 0"]]


async def test_a_long_session_grows_linearly(tmp_path: Path) -> None:
    sizes = []
    for turns in (40, 80):
        file = tmp_path / f"{turns}.rec.db"
        events = await record(file, "word " * 100, turns=turns)
        sizes.append(file.stat().st_size)
    assert sizes[1] < 2.2 * sizes[0]
    # google-adk's columns around an event's JSON are not counted.
    assert sizes[1] < 1.3 * sum(len(event.model_dump_json(exclude_none=True)) + len("turn 40") for event in events) + 40_000


async def test_a_long_session_with_tools_and_a_changing_instruction_grows_less_than_its_events(tmp_path: Path) -> None:
    file = tmp_path / "run.rec.db"
    plugin = recorder.RecorderPlugin(file)
    seer = LlmAgent(
        name="seer", instruction="Look around.\n\nTurn {turn}.\n\nBe kind.", model=ScriptedLlm(replies=["Trees."]), tools=[look]
    )
    runner = runner_for(seer, plugins=[plugin])
    events = [event for turn in range(60) for event in await run(runner, f"turn {turn}", state_delta={"turn": turn})]
    await plugin.close()
    recording = Recording(file)
    last = recording.request(recording.model_calls()[-1].number)
    recording.close()
    assert "Turn 59." in last.config["system_instruction"] and "Be kind." in last.config["system_instruction"]
    assert [tool["function_declarations"][0]["name"] for tool in last.config["tools"]] == ["look"]
    assert last.agent_texts["instruction"] == "Look around.\n\nTurn {turn}.\n\nBe kind."
    stored = sqlite3.connect(file)
    (text,) = stored.execute("SELECT sum(length(json)) FROM inspector_parts").fetchone()
    stored.close()
    assert text < 60 * 300  # each turn has its messages and one paragraph of its own
    users = 60 * len(events[0].model_dump_json(exclude_none=True))
    assert file.stat().st_size < 1.3 * (users + sum(len(event.model_dump_json(exclude_none=True)) for event in events)) + 40_000


class Censor(BasePlugin):
    """Changes what models are asked, in place."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: LlmRequest) -> None:
        for content in llm_request.contents:
            for part in content.parts or ():
                if part.text:
                    part.text = part.text.replace("turn", f"{len(llm_request.contents)} turn")


async def test_what_another_plugin_changed_is_recorded_as_it_was_sent(tmp_path: Path) -> None:
    plugin = recorder.RecorderPlugin(tmp_path / "run.rec.db")
    runner = runner_for(agent("one"), plugins=[plugin, Censor("censor")])
    for turn in range(3):
        await run(runner, f"turn {turn}")
    await plugin.close()
    recording = Recording(tmp_path / "run.rec.db")
    said = [texts(recording.request(call.number)) for call in recording.model_calls()]
    recording.close()
    assert said == [["1 turn 0"], ["3 turn 0", "one", "3 turn 1"], ["5 turn 0", "one", "5 turn 1", "one", "5 turn 2"]]


async def test_a_recording_of_format_1_is_read_and_continued(tmp_path: Path) -> None:
    file = tmp_path / "run.rec.db"
    await record(file, "one")
    old = sqlite3.connect(file)
    old.execute("INSERT INTO inspector_parts VALUES (1000, ?)", ('{"system_instruction":"Old."}',))
    old.execute("UPDATE inspector_model_calls SET config = 1000")
    old.execute("UPDATE inspector_recording SET value = '1' WHERE key = 'format'")
    old.commit()
    old.close()
    await record(file, "two")
    recording = Recording(file)
    first, second = (recording.request(call.number).config["system_instruction"] for call in recording.model_calls())
    recording.close()
    assert first == "Old." and second.startswith("Look around.")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(st.integers(0, 5), max_size=8), min_size=1, max_size=8))
def test_every_request_is_read_as_it_was_made(conversations: list[list[int]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        writer = recorder.Recording(Path(folder) / "run.rec.db")
        for number, words in enumerate(conversations):
            request = LlmRequest(model="m", contents=[types.UserContent(parts=[types.Part(text=f"word {word}")]) for word in words])
            agent = SimpleNamespace(name="seer" if number % 3 else "other")
            call = recorder.ModelCall(tuple(KEY), "i", None, agent, request)
            call.read_request()
            writer.add_model_call(call)
        writer.close()
        recording = Recording(Path(folder) / "run.rec.db")
        found = [texts(recording.request(call.number)) for call in recording.model_calls()]
        recording.close()
    assert found == [[f"word {word}" for word in words] for words in conversations]


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        ("DELETE FROM inspector_parts WHERE id = 1", "part 1 is missing"),
        ("UPDATE inspector_model_calls SET base = 99 WHERE id = 2", "continues no earlier request"),
        ("UPDATE inspector_model_calls SET base = 2 WHERE id = 2", "continues no earlier request"),
        ("UPDATE inspector_model_calls SET kept = 1000000000 WHERE id = 2", "continues more than there is"),
        ("UPDATE inspector_model_calls SET kept = 'x' WHERE id = 2", "is no number"),
        ("UPDATE inspector_model_calls SET contents = '[\"a\"]' WHERE id = 2", "list of numbers"),
        ("UPDATE inspector_model_calls SET contents = '[[[' WHERE id = 2", "is damaged"),
        ("DELETE FROM inspector_model_calls WHERE id = 1", "which it continues, is missing"),
        ("UPDATE inspector_model_calls SET started = 'x', first = 'y', chunks = '{', answered = '7', ended = 9e999 WHERE id = 2", None),
    ],
)
async def test_a_damaged_recording_is_a_clear_error(tmp_path: Path, damage: str, reason: str | None) -> None:
    file = tmp_path / "run.rec.db"
    await record(file, "one", turns=2)
    connection = sqlite3.connect(file)
    connection.execute(damage)
    connection.commit()
    connection.close()
    recording = Recording(file)
    recording.model_calls()
    if reason is None:
        assert texts(recording.request(2)) == ["turn 0", "one", "turn 1"]
    else:
        with pytest.raises(StorageError, match=reason):
            recording.request(2)
    recording.close()


def test_another_file_is_no_recording(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE sessions (id)").connection.close()
    with pytest.raises(StorageError, match="is no recording"):
        Recording(tmp_path / "other.db")
    with pytest.raises(StorageError, match="There is no file"):
        Recording(tmp_path / "none.db")


async def test_a_recording_is_no_session_database(tmp_path: Path) -> None:
    await record(tmp_path / "run.rec.db", "one")
    with pytest.raises(StorageError, match=r"a recording of model requests\. Open the database beside it"):
        StoredDatabase.open(str(tmp_path / "run.rec.db"))


def test_the_recording_of_a_database_is_beside_it() -> None:
    assert recording_beside(Path("a/sessions.db")) == Path("a/sessions.rec.db")
    assert recording_beside(Path("sessions")) == Path("sessions.rec.db")


INNER = "INSERT INTO inspector_inner_events VALUES (NULL, 'app', 'u', 's', ?, ?, ?, ?, ?)"
ODD_INNER = [
    ("e", "[", "a", None, "{}"),
    ("e", '{"no": "list"}', "b", None, "{}"),
    (7, "[1, null]", 8, 999_999, "[1, 2]"),
    ("e", '["c"]', "d", "x", '{"content": {"parts": 5}, "timestamp": "never"}'),
    ("e", '["c"]', "f", None, "[" * 5_000),
    ("e", '["c"]', "g", None, '{"usage_metadata": {"prompt_token_count": -1e400}}'),
]


async def test_damaged_inner_events_are_read_as_far_as_they_can_be(tmp_path: Path) -> None:
    file = tmp_path / "run.rec.db"
    await record(file, "Trees.")
    with sqlite3.connect(file) as connection:
        connection.executemany(INNER, ODD_INNER)
    connection.close()
    recording = Recording(file)
    found = recording.inner_events(KEY)
    recording.close()
    assert [one.event.id for one in found if one.event is not None] == ["a", "b", "8", "d", "f", "g"]
    assert [one.call_ids for one in found] == [(), (), ("1", None), ("c",), ("c",), ("c",)]


async def test_a_recording_of_an_older_recorder_has_no_inner_events(tmp_path: Path) -> None:
    file = tmp_path / "run.rec.db"
    await record(file, "Trees.")
    with sqlite3.connect(file) as connection:
        connection.execute("DROP TABLE inspector_inner_events")
        connection.execute("DELETE FROM inspector_recording WHERE key = 'inner_since'")
    connection.close()
    recording = Recording(file)
    assert (recording.inner_events(KEY), recording.inner_since()) == ([], None)
    recording.close()
