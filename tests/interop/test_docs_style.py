"""Agents written as in google-adk's 1.x docs behave the same on our runtime with only their imports changed.

The scenarios in `docs_style` are written for `google.adk`. Each is run by the real google-adk and, with `google.adk` replaced by `runtime`,
by us. Yielded events, stored sessions and model requests must be the same.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.interop.google_adk import adk_1_python

SCENARIOS = Path(__file__).parent / "docs_style"
ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(name for path in SCENARIOS.glob("*.py") for name in re.findall(r"@scenario\nasync def (\w+)", path.read_text("utf-8")))

# Texts for models that we word differently, and names that contain an id.
WORDING = [
    (r"called tool `(\w+)` with .*", r"called \1"),
    (r"(`(\w+)` tool returned result: .*|got from tool `(\w+)`: .*)", r"result of \2\3"),
    (r"Artifact note.txt is:|The file 'note.txt':", "the file"),
    (r"(?s).*mandatory (?:input parameters|arguments) .*", "arguments are missing"),
    (r"artifact_e-[\w-]+_(\d)", r"artifact_ID_\1"),
    (r"(?s)artifact contents temporarily .*|The files are shown once.*", "shown once"),
]

# Scenario → reason why it may differ.
DIFFERENCES = {
    "a_planner": "the mark that begins the final answer is not part of the thought before it (as in 2.13)",
    "an_agent_as_a_tool_skips_the_summary": "the answer is a text of the event too (as in 2.13)",
}


@pytest.fixture(scope="module")
def google_adks() -> dict[str, Any]:
    return _results(adk_1_python(), SCENARIOS, {})


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("docs_style")
    for path in SCENARIOS.glob("*.py"):
        (folder / path.name).write_text(path.read_text("utf-8").replace("google.adk", "runtime"), "utf-8")
    return _results(sys.executable, folder, {"PYTHONPATH": str(ROOT)})


def test_scenarios_are_found() -> None:
    assert len(NAMES) > 50


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_has_the_same_result_on_both_runtimes(name: str, google_adks: dict[str, Any], ours: dict[str, Any]) -> None:
    for result in (google_adks[name]["result"], ours[name]["result"]):
        assert not (isinstance(result, dict) and "failed" in result), result
    same = ours[name] == google_adks[name]
    assert same is (name not in DIFFERENCES), f"ours: {ours[name]}\ngoogle-adk's: {google_adks[name]}"


def _results(python: str, folder: Path, more: dict[str, str]) -> dict[str, Any]:
    environment = {**os.environ, **more}
    done = subprocess.run([python, "-W", "ignore", "main.py"], cwd=folder, env=environment, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr[-4000:]
    (result,) = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    return {name: _reworded(found) for name, found in json.loads(result.removeprefix("RESULT")).items()}


def _reworded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _reworded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_reworded(item) for item in value]
    for pattern, instead in WORDING if isinstance(value, str) else ():
        value = re.sub(pattern, instead, value)
    return value
