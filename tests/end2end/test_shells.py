"""Completion works in the real shells: a person types, presses Tab and Return, and the program gets the whole words."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.end2end.processes import ROOT, environment
from tests.terminal import Terminal

SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "source ./script"),
    "zsh": (["zsh", "-f", "-i"], "autoload -U compinit; compinit -u -D; source ./script"),
    "fish": (["fish", "--no-config", "-i"], "source ./script"),
}


@pytest.mark.parametrize("shell", SHELLS)
def test_tab_completes_commands_options_and_ids(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    shutil.copy(ROOT / "tests" / "data" / "ours.db", tmp_path / "ours.db")
    add_sessions(tmp_path / "ours.db", "maria@example.com", "maria@work.org", "t:10:30", *HOSTILE)
    program = tmp_path / "agent-inspector"
    program.write_text(
        f'#!/bin/sh\n[ -z "$_AGENT_INSPECTOR_COMPLETE" ] && echo "$*" >> {tmp_path}/called && exit\n'
        f'exec "{sys.executable}" -m inspector_app "$@"\n'
    )
    program.chmod(0o755)
    environ = {**environment(), "PATH": f"{tmp_path}:{environment()['PATH']}", "HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    script = subprocess.run([sys.executable, "-m", "inspector_app", "completion", shell], env=environ, capture_output=True, check=True)
    (tmp_path / "script").write_bytes(script.stdout)
    command, set_up = SHELLS[shell]
    with Terminal(command, environ, tmp_path) as terminal:
        terminal.type(f"{set_up}; echo rea''dy\r")
        terminal.wait_for("ready")
        for typed, added in [
            ("agent-inspector invoc", "ations"),
            ("agent-inspector events ours.db --session s", "1"),
            ("agent-inspector events ours.db --session maria@w", "ork.org"),
            ("agent-inspector events ours.db --session t:10:", "30"),
            ("agent-inspector costs ours.db --by inv", "ocation"),
            ("agent-inspector state ours.db --wri", "ters"),
        ]:
            terminal.type(f"{typed}\t")
            terminal.wait_for(added)
            terminal.type("\r")
        for typed in ("x", "y", "z"):  # proposes nothing, and above all runs nothing
            terminal.type(f"agent-inspector events ours.db --session {typed}\t\r")
        terminal.type("echo do''ne\r")
        terminal.wait_for("done")
    called = [line.split()[-1] for line in (tmp_path / "called").read_text().splitlines()]
    assert called == ["invocations", "s1", "maria@work.org", "t:10:30", "invocation", "--writers", "x", "y", "z"]
    assert list(tmp_path.glob("ran-*")) == []


HOSTILE = (r'x\"; touch ran-1; "', r"y\$(touch ran-2)", "z`touch ran-3`")
"""Ids of sessions that a shell would run."""


def add_sessions(file: Path, *ids: str) -> None:
    """Add sessions to a database, as copies of its only one."""
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.executemany(
            "INSERT INTO sessions SELECT app_name, user_id, ?, state, create_time, update_time FROM sessions WHERE id = 's1'",
            [(name,) for name in ids],
        )
