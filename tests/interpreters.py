"""The interpreters of this machine that Agent Inspector supports, a line each: `python -m tests.interpreters`."""

from __future__ import annotations

import re
import shutil
import subprocess
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


if __name__ == "__main__":
    for version, python in interpreters().items():
        print(version, python)  # noqa: T201  # its output
