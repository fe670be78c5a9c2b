"""The benchmarks still run. Their figures are not tested."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.end2end.processes import ROOT
from tests.interop.google_adk import adk_python


def test_the_benchmarks_run_small() -> None:
    command = [sys.executable, "-m", "bench", "--scale", "0.02", "--rounds", "1", "--starts", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert (done.returncode, done.stderr) == (0, "")
    assert "database: turn, fresh session, ms" in done.stdout


def test_the_storage_benchmark_runs_small() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "INSPECTOR_ADK_PYTHON"}
    command = [sys.executable, "-m", "bench.storage", "--scale", "0.01", "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "database: appends/s, FULL" in done.stdout


def test_the_browsing_benchmark_runs_small() -> None:
    command = [sys.executable, "-m", "bench.browse", "--sessions", "20", "--gigabytes", "0"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert (done.returncode, done.stderr) == (0, "")
    assert "| the list filtered |" in done.stdout


def test_the_window_benchmarks_run_small() -> None:
    for module, *arguments, expected in (
        ("bench.stream", "--events", "3000", "--seconds", "1", "--starts", "1", "limit: bare table, each 100 ms: loop gap p99, ms"),
        ("bench.timeline", "--spans", "2000", "| a frame of zooming |"),
        ("bench.tail_rate", "--events", "1000", "--stored", "1000", "limit: events/s"),
        ("bench.memory", "--events", "2000", "--pieces", "2000", "2,000 streamed, MB at every tenth"),
    ):
        done = subprocess.run([sys.executable, "-m", module, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=280)
        assert done.returncode == 0, done.stderr[-4000:]
        assert expected in done.stdout


def test_the_engine_benchmark_runs_small() -> None:
    command = [sys.executable, "-m", "bench.engines", "--scale", "0.02", "--rounds", "1", "--adk", adk_python()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280)
    assert (done.returncode, done.stderr) == (0, "")
    assert "| a hook, nothing holds |" in done.stdout


def test_the_recorder_benchmark_runs_small() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "INSPECTOR_ADK_PYTHON"}
    command = [sys.executable, "-m", "bench.recorder", "--scale", "0.01", "--rounds", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr[-4000:]
    assert "| database: process |" in done.stdout


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
