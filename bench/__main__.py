"""Runs the work by both runtimes in turn, and prints the medians and their ratio.

`python -m bench [--events N] [--rounds N] [--adk PYTHON]`; without a Python that has google-adk only ours is measured.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("--events", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--adk", metavar="PYTHON", help="a Python that has google-adk")
    options = parser.parse_args()
    ours: list[dict[str, float]] = []
    theirs: list[dict[str, float]] = []
    for _ in range(options.rounds):
        ours.append(_measure(sys.executable, "runtime", options.events))
        if options.adk:
            theirs.append(_measure(options.adk, "google.adk", options.events))
    sys.stdout.write(f"{'':44}{'ours':>12}{'google-adk':>12}{'ratio':>8}\n")
    for name in ours[0]:
        mine = statistics.median(figures[name] for figures in ours)
        line = f"{name:44}{mine:12,.1f}"
        if theirs:
            peer = statistics.median(figures[name] for figures in theirs)
            line += f"{peer:12,.1f}{(mine / peer if '/s' in name else peer / mine):7.1f}×"
        sys.stdout.write(line + "\n")


def _measure(python: str, package: str, events: int) -> dict[str, float]:
    command = [python, "-W", "ignore", str(ROOT / "bench" / "work.py"), package, str(events)]
    done = subprocess.run(command, env={"PYTHONPATH": str(ROOT), "PATH": ""}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{package}: {done.stderr}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


if __name__ == "__main__":
    main()
