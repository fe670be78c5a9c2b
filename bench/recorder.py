"""Measure what `RecorderPlugin` costs a turn: `python -m bench.recorder [--scale N] [--rounds N] [--adk PYTHON]`."""

from __future__ import annotations

import argparse
import os
import sys

from bench.recorder_work import MODEL_CALLS
from bench.table import Figures, figures_of, headline, medians

WITHOUT, MORE = ", without", ", more with the recorder"


def main() -> None:
    """Measure each package in turn, print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.recorder")
    parser.add_argument("--scale", type=float, default=1.0, help="1: 400 turns of each kind, without and with the recorder, in each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--adk", metavar="PYTHON", default=os.environ.get("INSPECTOR_ADK_PYTHON"), help="a Python that has google-adk")
    options = parser.parse_args()
    sys.stdout.write(f"# The recorder\n\n{headline(options.rounds)}µs of a turn of {MODEL_CALLS} model calls and a tool call.\n\n")
    found: dict[str, list[Figures]] = {}
    for _ in range(options.rounds):
        found.setdefault("this runtime", []).append(figures_of(sys.executable, "recorder_work.py", "runtime", str(options.scale)))
        if options.adk:
            found.setdefault("google-adk", []).append(figures_of(options.adk, "recorder_work.py", "google.adk", str(options.scale)))
    for name, rounds in found.items():
        sys.stdout.write(f"| {name} | without | more with the recorder | share |\n|---|---|---|---|\n")
        figures = medians(rounds)
        for work in (key.removesuffix(WITHOUT) for key in figures if key.endswith(WITHOUT)):
            without, more = figures[work + WITHOUT], figures[work + MORE]
            sys.stdout.write(f"| {work} | {without:,.0f} | {more:+,.0f} | {more / without:+.1%} |\n")
        sys.stdout.write("\n")


if __name__ == "__main__":
    main()
