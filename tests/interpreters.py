"""The interpreters of this machine that Agent Inspector supports: `python -m tests.interpreters make test` uses each in turn.

Without a command, it prints them, a line each.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

SUPPORTED = ("3.11", "3.12", "3.13", "3.14")
_QUESTION = "import sys, venv; print(sys._base_executable)"  # not that of a virtual environment


def interpreters(supported: tuple[str, ...] = SUPPORTED) -> dict[str, str]:
    """Return a working interpreter for each supported version that is found on PATH or in pyenv's folder, by version."""
    found = {}
    for version in supported:
        named = shutil.which(f"python{version}")
        managed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}"), key=_number, reverse=True)
        for candidate in [named, *map(str, managed)]:
            # A shim of pyenv is on PATH for versions that are not active, and fails.
            answer = candidate and subprocess.run([candidate, "-c", _QUESTION], capture_output=True, text=True, timeout=60, check=False)
            if answer and answer.returncode == 0:
                found[version] = answer.stdout.strip()
                break
    return found


def _number(path: Path) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", path.parts[-3])]


def run_with_each(make: list[str], found: dict[str, str], supported: tuple[str, ...] = SUPPORTED) -> int:
    """Run a command of make with each interpreter, in an environment of its own, and print a line about each at the end.

    A failure with one interpreter does not keep the others from being tried.

    Args:
        make: the command and its arguments; `PYTHON=` and `VENV=` are added.
        found: an interpreter by version.
        supported: the versions to report; those not in `found` are reported as not found.

    Returns:
        0 if there was an interpreter, and the command succeeded with all; 130 if the user interrupted it; otherwise 1.
    """
    results: dict[str, str] = {}
    status = 0 if found else 1
    for version, python in found.items():
        _say(f"== Python {version}, {python}")
        start = time.monotonic()
        try:
            done = subprocess.run([*make, f"PYTHON={python}", f"VENV=.venv-{version}"], stdin=subprocess.DEVNULL, check=False).returncode
        except KeyboardInterrupt:
            results[version], status = "interrupted", 130
            break
        minutes, seconds = divmod(round(time.monotonic() - start), 60)
        results[version] = ("passed" if done == 0 else f"failed with exit status {done}") + f" after {minutes}:{seconds:02d} min, {python}"
        status = 1 if done else status
    for version in supported:
        _say(f"Python {version}: {results.get(version) or ('not run' if version in found else 'not found on this machine')}")
    return status


def _say(line: str) -> None:
    print(line, flush=True)  # noqa: T201  # its output


if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit(run_with_each(sys.argv[1:], interpreters()))
    for version, python in interpreters().items():
        _say(f"{version} {python}")
