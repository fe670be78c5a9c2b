"""The table that a benchmark prints: goal, ours, google-adk's, the physical limit."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
Figures = dict[str, float]


def figures_of(python: str, script: str, *arguments: str) -> Figures:
    """Run one of this folder's scripts and return the JSON object it prints.

    Args:
        python: the interpreter, ours or google-adk's.
        script: a file of this folder.
        arguments: for the script.
    """
    command = [python, "-W", "ignore", str(ROOT / "bench" / script), *arguments]
    done = subprocess.run(command, env={"PYTHONPATH": str(ROOT), "PATH": ""}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{script} {' '.join(arguments)}: {done.stderr}")
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def medians(rounds: list[Figures]) -> Figures:
    """Return the median of each figure."""
    return {name: statistics.median(figures[name] for figures in rounds) for name in (rounds[0] if rounds else {})}


def headline(rounds: int) -> str:
    """Return where and when this was measured, and what else kept the machine busy."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}"
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, {machine}, medians of {rounds} rounds; load of the last 1, 5 and 15 minutes: {load}.\n\n"
    )


def table(ours: Figures, theirs: Figures, limits: Figures, goals: dict[str, str]) -> str:
    """Return all figures as a Markdown table.

    Args:
        ours, theirs: figure name → value; rates end in `/s`, of all others less is better.
        limits: what is physically possible, for some of them.
        goals: as numbers, and ratios where they end in ×.
    """
    lines = ["| work | goal | ours | google-adk | ratio | limit |", "|---|---|---|---|---|---|"]
    for name, mine in ours.items():
        peer, limit = theirs.get(name), limits.get(name)
        ratio = "" if peer is None else f"{mine / peer if '/s' in name else peer / mine:,.1f}×"
        values = (number(mine), number(peer), ratio, number(limit))
        lines.append(f"| {name} | {goals.get(name, '')} | " + " | ".join(values) + " |")
    return "\n".join(lines) + "\n"


def number(value: float | None) -> str:
    """Return a figure for a table; empty if there is none."""
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
