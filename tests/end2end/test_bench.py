"""The benchmarks still run. Their figures are not tested."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end2end.processes import ROOT
from tests.sweep import count

# Module, arguments that make it small, what it prints. mypy checks the others in each run; `make soak` starts them too.
BENCHMARKS = [
    ("bench.browse", "--sessions 20 --gigabytes 0", "| the list filtered |"),
    ("bench.timeline", "--spans 2000", "| a frame of zooming |"),
    ("bench", "--scale 0.02 --rounds 1 --starts 1", "database: turn, fresh session, ms"),
    ("bench.storage", "--scale 0.01 --rounds 1", "database: appends/s, FULL"),
    ("bench.recorder", "--scale 0.01 --rounds 1", "| database: process |"),
    ("bench.engines", "--scale 0.02 --rounds 1", "| a hook, nothing holds |"),
    ("bench.stream", "--events 3000 --seconds 1 --starts 1", "limit: bare table, each 100 ms: loop gap p99, ms"),
    ("bench.tail_rate", "--events 1000 --stored 1000", "limit: events/s"),
    ("bench.live_child", "--events 1000 --stored 1000", "limit: events/s"),
    ("bench.memory", "--events 2000 --pieces 2000", "2,000 streamed, MB at every tenth"),
]
ALONE = ("bench.storage", "bench.recorder")  # without google-adk, of which these measure much


@pytest.mark.sweep
@pytest.mark.parametrize(("module", "arguments", "expected"), BENCHMARKS[: count(quick=2, full=len(BENCHMARKS))])
def test_a_benchmark_runs_small(module: str, arguments: str, expected: str) -> None:
    environment = {name: value for name, value in os.environ.items() if module not in ALONE or name != "INSPECTOR_ADK_PYTHON"}
    command = [sys.executable, "-m", module, *arguments.split()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, env=environment)
    assert done.returncode == 0, done.stderr[-4000:]
    assert expected in done.stdout


def test_the_table_of_speed_and_its_curves_are_made(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "bench.speed",
        "--rows",
        "`sessions`",
        "--events",
        "20",
        "200",
        "--rounds",
        "1",
        "--curves",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    (row,) = (line for line in done.stdout.splitlines() if line.startswith("| `sessions`, CPU s | 2.5 |"))
    assert float(row.split("|")[3]) > 0
    assert "<polyline" in (tmp_path / "sessions-cpu-s.svg").read_text()
