"""Runs the same work by both runtimes in turn, and prints medians and ratios beside the goals.

`python -m bench [--scale 1.0] [--rounds N] [--adk PYTHON]`; without a Python that has google-adk only ours is measured.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# figure of runtime_work.py → what it is, and the ratio that numbers.md sets as the goal
FIGURES = {
    "event_us_2000": ("one of 2,000 events in memory, built and committed, µs", 6),
    "event_us_200": ("one of 200 events in memory, built and committed, µs", None),
    "partial_us": ("one partial event, built and passed on, µs", None),
    "durable_us": ("one durable event, SQLite file, µs", 12),
    "turn_ms_fresh": ("model → tool → model, fresh session, ms", 10),
    "turn_ms_after_100": ("the same after 100 turns, ms", None),
    "turn_ms_after_1000": ("the same after 1,000 turns, ms", 300),
    "import_ms": ("import Runner and LlmAgent, ms", None),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("--scale", type=float, default=1.0, help="shrinks the counts, for a quick look")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--adk", metavar="PYTHON", help="a Python that has google-adk")
    options = parser.parse_args()
    ours: list[dict[str, float]] = []
    theirs: list[dict[str, float]] = []
    for _ in range(options.rounds):
        ours.append(_measure(sys.executable, "runtime", options.scale))
        if options.adk:
            theirs.append(_measure(options.adk, "google.adk", options.scale))
    sys.stdout.write(f"{'':58}{'ours':>10}{'google-adk':>12}{'ratio':>9}{'goal':>8}\n")
    for name, (what, goal) in FIGURES.items():
        mine = _median(ours, name)
        line = f"{what:58}{mine:10,.2f}"
        if theirs:
            peer = _median(theirs, name)
            line += f"{peer:12,.2f}{peer / mine:8,.1f}×" + (f"{goal:7}×" if goal else "")
        sys.stdout.write(line + "\n")
    own = _median(ours, "event_us_2000") - _median(ours, "build_us")
    partial = _median(ours, "partial_us") - _median(ours, "partial_build_us")
    sys.stdout.write(f"the Runner's own cost, µs: {own:.1f} an event (goal 6), {partial:.1f} a partial event (goal 1.5)\n")


def _median(rounds: list[dict[str, float]], name: str) -> float:
    return statistics.median(figures[name] for figures in rounds)


def _measure(python: str, package: str, scale: float) -> dict[str, float]:
    command = [python, "-W", "ignore", str(ROOT / "bench" / "runtime_work.py"), "--package", package, "--scale", str(scale)]
    done = subprocess.run(command, env={"PYTHONPATH": str(ROOT), "PATH": ""}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{package}: {done.stderr}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


if __name__ == "__main__":
    main()
