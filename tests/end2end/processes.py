"""Real `agent-inspector` processes, started as by a script."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests import prepared

ROOT = Path(__file__).resolve().parents[2]
STORY = str(ROOT / "resources" / "samples" / "story")
ORDERS = str(ROOT / "resources" / "samples" / "orders")


def environment(delay: float = 0.0) -> dict[str, str]:
    """Return the environment of a process whose sample agents wait `delay` seconds before each answer."""
    without_key = {name: value for name, value in os.environ.items() if name != "GOOGLE_API_KEY"}
    return {**without_key, "AGENT_INSPECTOR_SAMPLE_DELAY": str(delay), "PYTHONPATH": str(ROOT)}


def agent_inspector(*arguments: str, delay: float = 0.0) -> subprocess.CompletedProcess[str]:
    """Run `agent-inspector` to its end."""
    return subprocess.run([*prepared.command(), *arguments], env=environment(delay), capture_output=True, text=True, timeout=60)


def answer(*arguments: str) -> Any:
    """Return a reading subcommand's output, as JSON."""
    done = agent_inspector(*arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def lines(output: str) -> list[dict[str, Any]]:
    """Return a process's JSON lines."""
    return [json.loads(line) for line in output.splitlines()]


def run_and_kill(events: int, *arguments: str, delay: float) -> None:
    """Start `agent-inspector`, read a number of events, and kill it with SIGKILL.

    Args:
        events: how many lines to read first.
        arguments: the command line, with `--json`.
        delay: seconds that the agents wait before each answer; the process is killed during a wait or just before it.
    """
    command = [sys.executable, "-m", "inspector_app", *arguments]
    process = subprocess.Popen(command, env=environment(delay), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process, process.stdout:
        for _ in range(events):
            assert process.stdout.readline(), "the run ended before it could be killed"
        process.kill()
    assert process.returncode == -9
