"""Every command that prints: on terminals of several widths, without colours, into a closed pipe and onto a full disk."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end2end.processes import ROOT, environment
from tests.terminal import Terminal

OURS = str(ROOT / "tests" / "data" / "ours.db")
COMMANDS = [
    f"sessions {OURS}",
    f"sessions {OURS} --json",
    f"events {OURS}",
    f"events {OURS} --json",
    f"state {OURS}",
    f"invocations {OURS}",
    f"compare {OURS} {OURS} --session s1",
    "help",
    "help where",
    "events --help",
    "version",
    "completion zsh",
]


def lines_of(commands: list[str]) -> str:
    """Return a shell script that runs the commands one after another and prints a line after each."""
    program = f"{shlex.quote(sys.executable)} -m inspector_app"
    return "; ".join(f"{program} {command}; echo '== '$?" for command in commands)


@pytest.mark.parametrize(("columns", "more"), [(80, {}), (200, {"NO_COLOR": "1"})])
def test_lines_fit_the_terminal(columns: int, more: dict[str, str], tmp_path: Path) -> None:
    # Terminals wrap what has no columns: JSON, values and texts.
    commands = [
        command for command in COMMANDS if not command.startswith(("state", "completion", "help where")) and "--json" not in command
    ]
    environ = {name: value for name, value in environment().items() if name != "NO_COLOR"}
    with Terminal(["sh", "-c", lines_of(commands)], {**environ, **more}, tmp_path, columns=columns) as terminal:
        assert terminal.wait_for_end() == 0
    screen = terminal.screen()
    assert [line for line in screen if line.startswith("== ")] == ["== 0"] * len(commands), screen
    assert max(len(line) for line in screen if not line.startswith("  agent-inspector ")) <= columns  # examples, to be pasted
    colours = re.findall(r"\x1b\[(?:[39][0-7]|[39][0-7];\d+)m", terminal.said)
    assert bool(colours) == (not more), colours[:5]
    assert "Traceback" not in terminal.said


@pytest.mark.parametrize("command", COMMANDS)
def test_a_reader_that_has_left_and_a_full_disk_are_no_tracebacks(command: str, tmp_path: Path) -> None:
    program = [sys.executable, "-m", "inspector_app", *command.split()]
    reading, writing = os.pipe()
    os.close(reading)
    closed = subprocess.Popen(program, env=environment(), cwd=tmp_path, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    with Path("/dev/full").open("w") as full:
        failed = subprocess.run(program, env=environment(), cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert closed.communicate(timeout=60)[1] == ""
    assert failed.returncode == 1
    assert failed.stderr.count("\n") == 1 and "No space left on device" in failed.stderr, failed.stderr
