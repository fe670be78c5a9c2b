"""`eval` on google-adk, and google-adk's own eval of the same cases."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from inspector_app.cli import main
from tests.interop.google_adk import adk_python
from tests.unit.inspector_app.commands.test_eval import ADK_SCORES, FOLDER, SET


def test_the_scores_on_google_adk_are_those_of_adk_eval(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", str(FOLDER / "clerk"), str(SET), "--json", "--engine", "adk", "--python", adk_python()]) == 1
    cases = json.loads(capsys.readouterr().out)["cases"]
    scores = {case["id"]: {**{name: one["score"] for name, one in case["metrics"].items()}, "status": case["status"]} for case in cases}
    assert scores == ADK_SCORES["default"]


def test_google_adk_is_asked_for_the_metrics_that_only_it_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.json").write_text('{"criteria": {"final_response_match_v2": {"threshold": 0.5}}}')
    words = ["eval", str(FOLDER / "clerk"), f"{SET}:greets", "--json", "--engine", "adk", "--python", adk_python()]
    assert main([*words, "--config", str(tmp_path / "c.json")]) == 1
    (case,) = json.loads(capsys.readouterr().out)["cases"]
    judged = case["metrics"]["final_response_match_v2"]
    assert judged["score"] is None  # there is no key for the judging model
    assert "google-adk" in judged["note"]


@pytest.mark.parametrize("config", ["default", "lenient", "any_order"])
def test_the_recorded_scores_are_those_of_google_adks_own_eval(config: str) -> None:
    python = os.environ.get("INSPECTOR_ADK_EVAL_PYTHON")
    if not python:
        pytest.skip("google-adk[eval] is not installed: set INSPECTOR_ADK_EVAL_PYTHON to a Python that has it")
    words = [] if config == "default" else [str(FOLDER / f"{config}.json")]
    script = Path(__file__).with_name("adk_eval.py")
    done = subprocess.run([python, str(script), str(FOLDER / "clerk"), str(SET), *words], capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert found == ADK_SCORES[config]
