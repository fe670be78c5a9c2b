"""`run` and `resume` record their model requests beside the database, as the window does."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from google.genai import types

from inspector_app.cli import main
from inspector_app.documents.sources import MemorySource
from inspector_app.engines.agent_loader import load_agent
from inspector_app.support.preferences import Preferences
from runtime.storage.recordings.recorded_call import RecordedModelCall
from runtime.storage.recordings.recording import Recording
from tests.agent_folders import write_agent
from tests.end2end.processes import ORDERS
from tests.recorder import FILE

pytestmark = pytest.mark.usefixtures("prepared_pythons", "scripted")
ORDER = ("--message", "40 boxes of A4 paper", "--session", "s1", "--json")


def recorded(file: Path) -> list[RecordedModelCall]:
    with closing(Recording(file)) as recording:
        return recording.model_calls()


@pytest.mark.parametrize("engine", ["embedded", "embedded-process"])
def test_run_and_resume_are_recorded(engine: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database, file = tmp_path / "orders.db", tmp_path / "orders.rec.db"
    assert main(["run", ORDERS, "--db", str(database), "--engine", engine, *ORDER]) == 3
    before = recorded(file)
    assert before and {call.key.session_id for call in before} == {"s1"}
    assert main(["resume", ORDERS, "--db", str(database), "--engine", engine, "--response", '{"approved": true}', "--json"]) == 0
    after = recorded(file)
    assert after[: len(before)] == before and len(after) > len(before)
    assert all(call.event_id and call.first is not None for call in after)
    capsys.readouterr()
    assert main(["costs", str(database), "--by", "model"]) == 0
    assert "scripted" in capsys.readouterr().out


def test_no_record_writes_no_recording(tmp_path: Path) -> None:
    assert main(["run", ORDERS, "--db", str(tmp_path / "orders.db"), "--no-record", *ORDER]) == 3
    assert not list(tmp_path.glob("*.rec.db*"))


def test_what_was_turned_off_in_the_window_is_off_here(tmp_path: Path) -> None:
    preferences = Preferences()
    preferences.records_requests = False
    try:
        assert main(["run", ORDERS, "--db", str(tmp_path / "orders.db"), *ORDER]) == 3
    finally:
        preferences.records_requests = True
    assert not list(tmp_path.glob("*.rec.db*"))


def test_a_run_in_memory_is_not_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["run", ORDERS, *ORDER]) == 3
    assert not list(tmp_path.iterdir())


OWN_RECORDER = """
import importlib.util, sys
from runtime.agents import LlmAgent
from runtime.apps import App
from runtime.models.scripted_llm import ScriptedLlm
spec = importlib.util.spec_from_file_location("own_recorder", {plugin!r})
module = sys.modules["own_recorder"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
root_agent = LlmAgent(name="seer", model=ScriptedLlm(replies=["Trees."]))
app = App(name="own", root_agent=root_agent, plugins=[module.RecorderPlugin({file!r})])
"""


@pytest.mark.parametrize("engine", ["embedded", "embedded-process"])
def test_an_app_with_a_recorder_of_its_own_keeps_it(engine: str, tmp_path: Path) -> None:
    agent = write_agent(tmp_path / "own", OWN_RECORDER.format(plugin=str(FILE), file=str(tmp_path / "own.rec.db")))
    command = ["run", agent, "--message", "look", "--db", str(tmp_path / "all.db"), "--engine", engine, "--json"]
    assert main(command) == 0
    assert len(recorded(tmp_path / "own.rec.db")) == 1
    assert not (tmp_path / "all.rec.db").exists()


async def test_the_window_keeps_it_too(tmp_path: Path) -> None:
    agent = write_agent(tmp_path / "own", OWN_RECORDER.format(plugin=str(FILE), file=str(tmp_path / "own.rec.db")))
    engine = await load_agent(agent).open_engine(MemorySource(), lambda event, temp: None, recording=tmp_path / "all.rec.db")
    key = await engine.new_session("u")
    assert [event async for event in engine.run(key, types.UserContent("look"))]
    await engine.close()
