"""`run --replay`: a stored session runs again without its model, and says where it is no longer as recorded."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from inspector_app.cli import main
from runtime.storage.reading.reader import StoredDatabase

CLERK = Path(__file__).parents[3] / "data" / "evals" / "clerk"


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    return Path(shutil.copytree(CLERK, tmp_path / "clerk"))


@pytest.fixture
def recorded(agent: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    file = tmp_path / "a.db"
    for message in ("Tell me the price", "Order chain"):
        words = ["run", str(agent), "--engine", "embedded", "--message", message, "--db", str(file), "--session", "s1"]
        assert main([*words, "--state", '{"plan": "gold"}']) == 0
    capsys.readouterr()
    return file


def replayed(
    capsys: pytest.CaptureFixture[str], agent: Path, recorded: Path, *words: str
) -> tuple[int, list[dict[str, Any]], dict[str, Any]]:
    status = main(["run", str(agent), "--engine", "embedded", "--replay", str(recorded), "--json", *words])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    replay = next(line["replay"] for line in lines if "replay" in line)
    return status, [line for line in lines if "author" in line], replay


def break_the_model(agent: Path) -> None:
    code = (agent / "agent.py").read_text("utf-8")
    (agent / "agent.py").write_text(code.replace("ANSWERS[turn", "{}[turn"), "utf-8")  # a call raises KeyError


def change(agent: Path, old: str, new: str) -> None:
    code = (agent / "agent.py").read_text("utf-8")
    assert old in code
    (agent / "agent.py").write_text(code.replace(old, new), "utf-8")


@pytest.mark.parametrize("tools", [(), ("--run-tools",)])
def test_a_session_runs_again_without_its_model(
    tools: tuple[str, ...], agent: Path, recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    break_the_model(agent)
    new = tmp_path / "new.db"
    status, events, replay = replayed(capsys, agent, recorded, "--db", str(new), "--session", "again", *tools)
    assert (status, replay["model_calls"], replay["divergences"]) == (0, 5, [])
    assert replay["tool_calls"] == (0 if tools else 3)
    assert [event["content"]["parts"][-1].get("text") for event in events][-1] == "I have ordered 3 cartridges of ink."
    assert main(["compare", str(recorded), str(new), "--session", "s1", "--session", "again"]) == 0
    with StoredDatabase.open(str(new)) as database:
        assert database.state(database.sessions()[0].key) == {"plan": "gold"}


def test_it_says_at_which_call_it_no_longer_matches(agent: Path, recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    break_the_model(agent)
    change(agent, '"price": 3.2', '"price": 4.2')
    status, events, replay = replayed(capsys, agent, recorded, "--run-tools")
    assert status == 1
    assert replay["model_calls"] == 1
    assert replay["divergences"][0].startswith("clerk committed another result price than was recorded: {'item': 'paper', 'price': 4.2}")
    assert events[-1]["error_message"].startswith("No longer as recorded at model call 2: clerk committed another result price")


def test_it_continues_with_the_model_if_told_to(agent: Path, recorded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(agent, '"price": 3.2', '"price": 4.2')
    change(agent, "cost 128 euros", "cost 168 euros")
    status, events, replay = replayed(capsys, agent, recorded, "--run-tools", "--go-on")
    texts = [part["text"] for event in events for part in event["content"]["parts"] if "text" in part]
    assert texts == ["Forty boxes of paper cost 168 euros.", "I have ordered 3 cartridges of ink."]
    assert (status, replay["model_calls"], len(replay["divergences"])) == (1, 4, 1)


def test_wrong_use_is_refused(agent: Path, recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(agent)]) == 2
    assert main(["run", str(agent), "--message", "hi", "--replay", str(recorded)]) == 2
    assert main(["run", str(agent), "--message", "hi", "--go-on"]) == 2
    assert "Give either --message or --replay." in capsys.readouterr().err
    assert main(["run", str(agent), "--replay", str(tmp_path / "missing.db")]) == 1
    assert main(["run", str(agent), "--replay", str(recorded), "--replay-session", "other"]) == 1
    assert "There is no session 'other'" in capsys.readouterr().err
