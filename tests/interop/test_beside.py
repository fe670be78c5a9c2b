"""Programs that run equally on google-adk 2.13 and on the embedded runtime."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.interop.google_adk import adk_python

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).with_name("beside")


def results_of(program: str) -> tuple[Any, Any]:
    """Return the results of a program on google-adk and on the embedded runtime."""
    module = f"tests.interop.beside.{program}"
    theirs = _result([adk_python(), "-W", "ignore", "-m", module])
    return theirs, _result([sys.executable, "-W", "ignore", str(FOLDER / "as_runtime.py"), module])


def _result(command: list[str]) -> Any:
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=ROOT, capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr[-4000:]
    (result,) = [line for line in done.stdout.splitlines() if line.startswith("RESULT")]
    return json.loads(result.removeprefix("RESULT"))


@pytest.mark.rule("R4")
def test_a_failed_call_cancels_the_others_and_keeps_what_returned() -> None:
    theirs, ours = results_of("failing_calls")
    assert ours == theirs
    assert [len(one["events"]) for one in ours] == [3, 3, 2, 2]
    assert ["plugin", "patient", "CancelledError"] in ours[0]["told"]
