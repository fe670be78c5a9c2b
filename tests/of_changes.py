"""Print the tests of the changed files, for `make check`.

Changed files are those that differ from the branch's start on `main`, and uncommitted and untracked files. Tests mirror the source, so the
tests of `runtime/history/key_writers.py` are `tests/unit/history/test_key_writers.py`, or all of `tests/unit/history` if no test has this
name. The architecture tests always run.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[1]
_NONE = PurePosixPath("tests/architecture")


def paths_of(changed: list[str]) -> list[str]:
    """Return the test files and folders that cover these files.

    Args:
        changed: paths from the root of the checkout, with slashes.
    """
    found = {"tests/architecture"}
    for name in changed:
        path = PurePosixPath(name)
        if path.suffix != ".py":
            continue
        if path.parts[0] == "tests":
            found |= {name} if path.name.startswith("test_") and (ROOT / name).exists() else set()
        elif path.parts[0] in ("runtime", "inspector_app"):
            inside = path.parts[1:-1] if path.parts[0] == "runtime" else path.parts[:-1]
            folders = [PurePosixPath("tests/unit", *inside)] if inside else []
            if path.parts[0] == "inspector_app" and len(path.parts) > 2:
                folders.append(PurePosixPath("tests/gui", *path.parts[1:-1]))
            for folder in folders:
                own = folder / f"test_{path.name}"
                found |= {str(next(test for test in (own, folder, _NONE) if (ROOT / test).exists()))}
    return sorted(test for test in found if not any(str(parent) in found for parent in PurePosixPath(test).parents))


def _changed() -> list[str]:
    base = _git("merge-base", "HEAD", "main") or ["HEAD"]
    return [*_git("diff", "--name-only", base[0]), *_git("ls-files", "--others", "--exclude-standard")]


def _git(*arguments: str) -> list[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout.split()


if __name__ == "__main__":
    sys.stdout.write(" ".join(paths_of(_changed())) + "\n")
