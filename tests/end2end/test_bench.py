"""The benchmarks still run; what they measure is no test."""

from __future__ import annotations

import subprocess
import sys

from tests.end2end.processes import ROOT


def test_the_benchmarks_run_small() -> None:
    command = [sys.executable, "-m", "bench", "--scale", "0.02", "--rounds", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert "one durable event, SQLite file" in done.stdout
