"""Measure the commands that read: `python -m bench.commands [--before TREE] [--rounds N] [--events N]`.

Each command runs in a process of its own, in turn with the same command of another version's tree. The figures are processor seconds of
the whole process, interpreter included; the files are in the system's cache and the modules compiled.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.generated import write_database
from bench.table import ROOT, Figures, headline, medians

SMALL = 20
GOALS = {"sessions, small file": 0.25, "sessions, one long session": 1.5, "events, the first of one long session": 0.4}


def main() -> None:
    """Make the files, measure in turn, print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.commands")
    parser.add_argument("--before", metavar="TREE", help="a tree of the version before: git worktree add TREE COMMIT")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--events", type=int, default=72_000, help="of the long session")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        small, long = Path(folder) / "small.db", Path(folder) / "long.db"
        write_database(small, SMALL)
        write_database(long, options.events)
        commands = _commands(small, long)
        trees = [ROOT, *([Path(options.before)] if options.before else [])]
        for tree in trees:  # compiles the modules
            _seconds(tree, folder, commands["sessions, small file"])
        began = headline(options.rounds)
        rounds: dict[Path, list[Figures]] = {tree: [] for tree in trees}
        for _ in range(options.rounds):
            for tree in trees:
                rounds[tree].append({name: _seconds(tree, folder, command) for name, command in commands.items()})
    sys.stdout.write(f"# Commands\n\n{began}| command, CPU seconds; {options.events:,} events | goal | now | before |\n|---|---|---|---|\n")
    now, *before = [medians(rounds[tree]) for tree in trees]
    for name, seconds in now.items():
        earlier = f"{before[0][name]:.2f}" if before else ""
        sys.stdout.write(f"| {name} | {GOALS.get(name, '')} | {seconds:.2f} | {earlier} |\n")


def _commands(small: Path, long: Path) -> dict[str, str]:
    named = f"{long} --app order_desk --user maria --session s-1"  # the version before needs them
    return {
        "--help": "--help",
        "sessions, small file": f"sessions {small}",
        "sessions, one long session": f"sessions {long}",
        "events, the first of one long session": f"events {named} | head -1",
        "events, all of one long session": f"events {named}",
        "events --where 'tokens.total > 100000'": f"events {named} --where 'tokens.total > 100000'",
        "state, one long session": f"state {named}",
        "invocations, one long session": f"invocations {named}",
    }


def _seconds(tree: Path, folder: str, command: str) -> float:
    """Return the processor seconds of one command line."""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tree), "PYTHONPYCACHEPREFIX": folder}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(f"{sys.executable} -m inspector_app {command} > {os.devnull}", shell=True, check=True, env=environment, cwd=tree)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
