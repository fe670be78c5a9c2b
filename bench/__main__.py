"""Measure the runtime beside google-adk and the physical limit: `python -m bench [--scale N] [--rounds N] [--adk PYTHON]`.

Without a Python that has google-adk, only this runtime and the limit are measured.
"""

from __future__ import annotations

import argparse
import os
import sys

from bench.runtime_limits import runtime_limits
from bench.runtime_work import STEPS
from bench.table import Figures, figures_of, headline, medians, table

GOALS = {
    "an event, its content made once, µs": "16.7 (60,000/s)",
    "an event made beforehand, µs": "6",
    "an event made beforehand, of 200, µs": "as of 2,000",
    "a partial event, its content made once, µs": "11.8 (85,000/s)",
    "a partial event made beforehand, µs": "1.5",
    "memory: turn, fresh session, CPU ms": "0.25; 10×",
    "memory: turn after 1,000 turns, CPU ms": "1.5 × fresh; 300×",
    "database: turn, fresh session, ms": "0.8; 15×",
    "database: turn after 1,000 turns, ms": "1.5 × fresh; 300×",
    "import Runner and LlmAgent, CPU ms": "400",
    "import and first event, CPU ms": "420",
}


def main() -> None:
    """Measure in turn, print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("--scale", type=float, default=1.0, help="1: 2,000 events, 1,000 earlier turns; less is a quick look")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--starts", type=int, default=5, help="of each package in a round, for the time of importing it")
    parser.add_argument("--adk", metavar="PYTHON", default=os.environ.get("INSPECTOR_ADK_PYTHON"), help="a Python that has google-adk")
    options = parser.parse_args()
    began = headline(options.rounds)
    scale, starts = options.scale, options.starts
    ours, theirs, limits = [], [], []
    for _ in range(options.rounds):
        limits.append(runtime_limits(scale) | _start(sys.executable, "google.genai", starts))
        ours.append(figures_of(sys.executable, "runtime_work.py", "runtime", str(scale)) | _start(sys.executable, "runtime", starts))
        if options.adk:
            work = figures_of(options.adk, "runtime_work.py", "google.adk", str(scale))
            theirs.append(work | _start(options.adk, "google.adk", starts))
    sys.stdout.write(f"# Runtime\n\n{began}{table(medians(ours), medians(theirs), medians(limits), GOALS)}\n")
    for name, figures in (("ours", medians(ours)), ("google-adk", medians(theirs))):
        if figures:
            sys.stdout.write(f"{name}: {_relations(figures)}\n\n")


def _start(python: str, package: str, starts: int) -> Figures:
    return medians([figures_of(python, "first_event.py", package) for _ in range(starts)])


def _relations(figures: Figures) -> str:
    """Return what follows from the figures: what grows with length, and what checkpoints cost."""
    grown = figures["an event made beforehand, µs"] / figures["an event made beforehand, of 200, µs"]
    found = [f"an event of 2,000 costs {grown:.2f} × one of 200"]
    for kind in ("memory", "database"):
        turn = figures[f"{kind}: turn after 1,000 turns, CPU ms"] / figures[f"{kind}: turn, fresh session, CPU ms"]
        plain, resumable = (figures[f"{kind}: an event of {STEPS} steps, {which}, CPU µs"] for which in ("plain", "resumable"))
        found.append(f"{kind}: a turn after 1,000 costs {turn:.2f} × a fresh one, resumability {resumable / plain - 1:+.0%} an event")
    return "; ".join(found) + ". (Goals: flat; 1.5 × at most; +10 % at most.)"


if __name__ == "__main__":
    main()
