"""`run --repeat`: the runs of one message side by side, grouped by what they did."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector_app.cli import main
from runtime.storage.reading.reader import StoredDatabase

AGENT = """
import itertools

from runtime.agents import LlmAgent
from runtime.models.scripted_llm import ScriptedLlm

turns = itertools.count()


def look(word: str) -> str:
    \"\"\"Look a word up.\"\"\"
    return word


def answer(request):
    if request.contents[-1].role == "user" and request.contents[-1].parts[0].text:
        number = next(turns)
        if number == 3:
            raise RuntimeError("the model is down")
        return {"calls": [["look", {"word": "a"}]]} if number % 2 else "straight"
    return "looked up"


root_agent = LlmAgent(name="dice", model=ScriptedLlm(rules=[{"reply": answer}]), tools=[look])
"""


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    (tmp_path / "dice").mkdir()
    (tmp_path / "dice" / "agent.py").write_text(AGENT, "utf-8")
    return tmp_path / "dice"


def test_the_runs_are_grouped_by_path(agent: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "runs.db"
    words = ["run", str(agent), "--message", "hi", "--repeat", "4", "--db", str(file), "--session", "r", "--json"]
    assert main(words) == 1  # one run failed
    straight, looked = json.loads(capsys.readouterr().out)["paths"]
    assert (straight["path"], looked["path"]) == ([], ["look"])
    assert [run["session_id"] for run in straight["runs"]] == ["r-1", "r-3", "r-4"]
    assert [run["status"] for run in straight["runs"]] == ["finished", "finished", "failed"]
    assert "the model is down" in straight["runs"][2]["error"]
    assert [run["answer"] for run in looked["runs"]] == ["looked up"]
    assert all(run["seconds"] > 0 and run["output_tokens"] > 0 for run in looked["runs"])


def test_each_run_has_a_session_that_can_be_compared(agent: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "runs.db"
    assert main(["run", str(agent), "--message", "hi", "--repeat", "3", "--db", str(file), "--session", "r"]) == 0
    told = capsys.readouterr().out
    assert "no tools (2×)" in told and "look (1×)" in told and "3 runs took 2 paths." in told
    assert "--session r-1 --session r-2" in told
    with StoredDatabase.open(str(file)) as database:
        assert sorted(summary.key.session_id for summary in database.sessions()) == ["r-1", "r-2", "r-3"]


def test_wrong_use_is_refused(agent: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(agent), "--message", "hi", "--repeat", "0"]) == 2
    assert main(["run", str(agent), "--message", "hi", "--repeat", "2", "--streaming"]) == 2
    assert "--repeat N needs --message" in capsys.readouterr().err
