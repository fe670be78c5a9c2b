"""The command `eval`: the scores of `adk eval`, on other engines too, and what a failed case leaves behind."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from inspector_app.cli import main
from runtime.errors.missing_package_error import install_command
from runtime.storage.reading.reader import StoredDatabase

pytestmark = pytest.mark.usefixtures("prepared_pythons")

FOLDER = Path(__file__).parents[3] / "data" / "evals"
SET = FOLDER / "clerk.evalset.json"
ADK_SCORES: dict[str, Any] = json.loads((FOLDER / "adk_scores.json").read_text("utf-8"))


def evaluated(capsys: pytest.CaptureFixture[str], *words: str | Path, eval_set: str | Path = SET) -> dict[str, Any]:
    status = main(["eval", str(FOLDER / "clerk"), str(eval_set), "--json", *map(str, words)])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert status == (1 if found["failed"] else 0)
    return found


@pytest.mark.parametrize("engine", ["embedded", "embedded-process"])
@pytest.mark.parametrize("config", ["default", "lenient", "any_order"])
def test_ten_cases_have_the_scores_of_adk_eval(config: str, engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The numbers of google-adk are recorded; `tests/interop/test_eval.py` computes them again."""
    words = () if config == "default" else ("--config", FOLDER / f"{config}.json")
    found = evaluated(capsys, *words, "--engine", engine)
    scores = {
        case["id"]: {**{name: score["score"] for name, score in case["metrics"].items()}, "status": case["status"]}
        for case in found["cases"]
    }
    assert scores == ADK_SCORES[config]
    assert len(scores) == 10


def test_a_failed_case_is_stored_beside_what_was_expected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "results.db"
    (case,) = evaluated(capsys, "--engine", "embedded", "--db", file, eval_set=f"{SET}:wrong args")["cases"]
    session = case["session"]["id"]
    with StoredDatabase.open(str(file)) as database:
        keys = {summary.key.session_id: summary.key for summary in database.sessions()}
        expected = database.events(keys[f"{session}-expected"])
        assert database.history(keys[session]).state_at(-1).session == {"plan": "gold"}
    assert [call.args for event in expected for call in event.get_function_calls()] == [{"item": "ink"}]
    assert main(["compare", str(file), "--session", session, "--session", f"{session}-expected"]) == 1
    assert '"ink"' in capsys.readouterr().out


def test_a_case_that_passes_exits_with_0_and_names_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", str(FOLDER / "clerk"), f"{SET}:greets,price", "--engine", "embedded"]) == 0
    assert "2 cases of 2 passed." in capsys.readouterr().out


def test_a_judged_metric_is_not_evaluated_on_another_engine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.json").write_text('{"criteria": {"final_response_match_v2": {"threshold": 0.5}, "tool_trajectory_avg_score": 1}}')
    (case,) = evaluated(capsys, "--engine", "embedded", "--config", tmp_path / "c.json", eval_set=f"{SET}:greets")["cases"]
    judged = case["metrics"]["final_response_match_v2"]
    assert (judged["status"], judged["score"], case["status"]) == ("not evaluated", None, "passed")
    assert "needs google-adk" in judged["note"]


def test_an_agent_that_fails_fails_its_case_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = json.loads(SET.read_text("utf-8"))
    data["eval_cases"] = data["eval_cases"][:2]
    data["eval_cases"][0]["conversation"][0]["user_content"]["parts"][0]["text"] = "unknown word"
    (tmp_path / "a.evalset.json").write_text(json.dumps(data))
    failed, passed = evaluated(capsys, "--engine", "embedded", eval_set=tmp_path / "a.evalset.json")["cases"]
    assert (failed["status"], failed["metrics"], passed["status"]) == ("failed", {}, "passed")
    assert "KeyError" in failed["error"]


def test_a_session_that_was_resumed_by_an_answer_is_a_case_that_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    orders, database, cases = (
        str(FOLDER.parents[2] / "resources" / "samples" / "orders"),
        str(tmp_path / "o.db"),
        tmp_path / "o.evalset.json",
    )
    engine = ("--engine", "embedded")
    assert main(["run", orders, "--db", database, "--message", "40 boxes of A4 paper", *engine]) == 3
    assert main(["resume", orders, "--db", database, "--response", '{"status": "approved"}', *engine]) == 0
    assert main(["export", database, str(cases)]) == 0
    capsys.readouterr()
    assert main(["eval", orders, str(cases), "--json", *engine]) == 0
    (case,) = json.loads(capsys.readouterr().out)["cases"]
    assert [turn["actual"]["response"]["parts"][0]["text"].split()[0] for turn in case["turns"]] == ["That", "Done:"]

    data = json.loads(cases.read_text("utf-8"))
    data["eval_cases"][0]["conversation"].pop(0)
    cases.write_text(json.dumps(data), "utf-8")
    assert main(["eval", orders, str(cases), *engine]) == 1
    assert "Turn 1 answers ask_for_approval, but no call of it waits for an answer." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ("[", "is not JSON"),
        ("{}", "it needs an object of `criteria`"),
        ('{"criteria": {"response_match_score": "high"}}', "must be a threshold"),
        ('{"criteria": {"tool_trajectory_avg_score": {}}}', "needs a `threshold`"),
        ('{"criteria": {"tool_trajectory_avg_score": {"threshold": 1, "match_type": "roughly"}}}', "'roughly' is no match type"),
    ],
)
def test_a_wrong_config_is_refused(config: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.json").write_text(config)
    assert main(["eval", str(FOLDER / "clerk"), str(SET), "--config", str(tmp_path / "c.json")]) == 1
    assert sentence in capsys.readouterr().err


def test_an_unknown_case_or_file_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", str(FOLDER / "clerk"), f"{SET}:nothing"]) == 1
    assert "has no case 'nothing'. It has: greets, price" in capsys.readouterr().err
    (tmp_path / "a.json").write_text("{}")
    assert main(["eval", str(FOLDER / "clerk"), str(tmp_path / "a.json")]) == 1
    assert "is no eval set: it needs a list of `eval_cases`" in capsys.readouterr().err
    assert main(["eval", str(FOLDER / "clerk"), str(tmp_path / "missing.json")]) == 1
    assert "There is no file" in capsys.readouterr().err


@pytest.fixture
def no_rouge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rouge_score", None)  # Python then finds no such package


@pytest.mark.usefixtures("no_rouge")
def test_without_a_package_the_other_scores_are_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["eval", str(FOLDER / "clerk"), str(SET), "--engine", "embedded", "--json"]
    assert main(words) == 1, "an eval that left something out has not passed"
    told = capsys.readouterr()
    lacks = f"needs the package rouge_score: {install_command(extra='eval')}"
    assert told.err.startswith(f"agent-inspector: response_match_score is not evaluated: it {lacks}\n")
    for case in json.loads(told.out)["cases"]:
        scores = case["metrics"]
        assert scores["tool_trajectory_avg_score"]["score"] == ADK_SCORES["default"][case["id"]]["tool_trajectory_avg_score"]
        assert (scores["response_match_score"]["status"], scores["response_match_score"]["note"]) == ("not evaluated", lacks)
    assert main([*words, "--config", str(trajectory_only(tmp_path))]) == 1, "some cases fail"
    assert "rouge_score" not in capsys.readouterr().err
    assert main([*words[:2], f"{SET}:greets", *words[3:], "--config", str(trajectory_only(tmp_path))]) == 0


def trajectory_only(folder: Path) -> Path:
    file = folder / "trajectory.json"
    file.write_text('{"criteria": {"tool_trajectory_avg_score": 1}}')
    return file


@pytest.mark.usefixtures("no_rouge")
@pytest.mark.parametrize(
    "criteria",
    [
        {"response_match_score": 0.5},
        {"final_response_match_v2": {"threshold": 0.5}},
        {"response_match_score": 0.5, "hallucinations_v1": {"threshold": 0.5}},
        {"my_own_metric": 1},
    ],
)
def test_no_model_is_asked_when_nothing_can_be_measured(
    criteria: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.json").write_text(json.dumps({"criteria": criteria}))
    database = tmp_path / "results.db"
    words = ["eval", str(FOLDER / "clerk"), str(SET), "--engine", "embedded", "--config", str(tmp_path / "c.json")]
    assert main([*words, "--db", str(database)]) == 1
    told = capsys.readouterr().err
    assert "No case was run, as nothing can be measured" in told and all(metric in told for metric in criteria)
    if database.exists():
        with StoredDatabase.open(str(database)) as stored:
            assert stored.sessions() == []
