"""Programs that run equally on google-adk 2.13 and on the embedded runtime."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.interop.google_adk import adk_python

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).with_name("beside")


def results_of(program: str) -> tuple[Any, Any]:
    """Return the results of a program on google-adk and on the embedded runtime."""
    return result_on("google-adk", program), result_on("runtime", program)


def result_on(engine: str, program: str, *arguments: str) -> Any:
    """Return the result of a program on `google-adk` or on the embedded `runtime`."""
    start = (
        [adk_python(), "-W", "ignore", "-m"] if engine == "google-adk" else [sys.executable, "-W", "ignore", str(FOLDER / "as_runtime.py")]
    )
    command = [*start, f"tests.interop.beside.{program}", *arguments]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=ROOT, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr[-4000:]
    (result,) = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    return json.loads(result.removeprefix("RESULT"))


def without(value: Any, *keys: str) -> Any:
    """Return a JSON value with other words in place of all values of some keys: they are our own."""
    if isinstance(value, dict):
        return {name: "…" if name in keys else without(item, *keys) for name, item in value.items()}
    return [without(item, *keys) for item in value] if isinstance(value, list) else value


@pytest.mark.rule("R4")
def test_a_failed_call_cancels_the_others_and_keeps_what_returned() -> None:
    theirs, ours = results_of("failing_calls")
    assert ours == theirs
    assert [len(one["events"]) for one in ours] == [3, 3, 2, 2]
    assert ["plugin", "patient", "CancelledError"] in ours[0]["told"]


def test_a_failed_model_tries_again() -> None:
    theirs, ours = (without(without(found, "reflection_guidance"), "error_details") for found in results_of("retrying_models"))
    for found in (theirs, ours):
        for case in found:
            case["raised"] = [error.split(":")[0].replace("PluginError", "RuntimeError") for error in case["raised"]]
    assert ours == theirs
    assert [len(case["requests"]) for case in ours] == [2, 4, 2, 2, 2, 1, 1]


@pytest.mark.parametrize("writer", ["google-adk", "runtime"])
@pytest.mark.parametrize("reader", ["google-adk", "runtime"])
def test_a_signed_call_runs_on_both_engines(writer: str, reader: str, tmp_path: Path) -> None:
    file = tmp_path / "signed.db"
    result_on(writer, "signed_calls", str(file), "ask")
    assert result_on(reader, "signed_calls", str(file), "approve") == [[1.0, {"name": "Ä", "at": [1, None]}]]


@pytest.mark.parametrize("engine", ["google-adk", "runtime"])
def test_a_changed_or_copied_call_is_refused(engine: str, tmp_path: Path) -> None:
    file = tmp_path / "signed.db"
    result_on("runtime", "signed_calls", str(file), "ask")
    refused = {"google-adk": "RuntimeError from ToolCallIntegrityError", "runtime": "PluginError from ToolCallIntegrityError"}[engine]
    assert result_on(engine, "signed_calls", str(file), "restore") == refused
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("UPDATE events SET event_data = replace(event_data, '\"amount\":1.0', '\"amount\":9.0')")
    assert result_on(engine, "signed_calls", str(file), "approve") == refused


def test_skills_of_a_registry_and_in_an_environment() -> None:
    theirs, ours = (without(found, "detail", "description", "error") for found in results_of("skills"))
    assert ours["tools"] == theirs["tools"]
    assert ours["declared"] == theirs["declared"]
    assert ours == theirs


@cache
def settings() -> tuple[Any, Any]:
    return results_of("settings")


@pytest.mark.parametrize(
    "topic",
    ["schemas", "chosen", "aborted by the caller", "aborted inside", "thoughts", "classified", "templates", "skipped"],
)
def test_settings_of_google_adk_2_do_the_same(topic: str) -> None:
    theirs, ours = settings()
    if theirs[topic] is None or ours[topic] is None:
        pytest.skip("Jinja2 is not installed beside google-adk and here")
    assert ours[topic] == theirs[topic]
