"""Run the tests nearest to what changed, for `make check`.

Changed files are those that differ from the branch's start on `main`, and uncommitted and untracked files. The nearest tests are the
changed ones and those of the same name in the folder that mirrors the source's. Then come those that import what changed, the fewest
imports away first, until `BUDGET` is spent; what a test takes was recorded when it last ran. The architecture tests always run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path, PurePosixPath

import grimp

from tests.durations import recorded

ROOT = Path(__file__).resolve().parents[1]
BUDGET = 50.0  # seconds of tests, over all processors
SLOW = 4.0  # a test that takes longer runs in `make test`
WINDOW = "tests/gui/window/"
_GUESSES = {"tests/unit": 1.5, "tests/seeds": 2.0, "tests/gui/window": 10.0, "tests/gui": 3.0}
_OTHERWISE = 20.0


def nearest(changed: Iterable[str], durations: dict[str, float] | None = None) -> list[str]:
    """Return the test files that cover these files, the nearest first.

    Args:
        changed: paths from the root of the checkout, with slashes.
        durations: seconds of each test by its id.
    """
    sources = [PurePosixPath(name) for name in changed if name.endswith(".py")]
    steps = _steps(sources)
    takes = _takes(steps, durations or {})
    chosen, left = [], BUDGET
    for test in sorted(steps, key=lambda test: (steps[test], takes[test], test)):
        if steps[test] <= 0 or takes[test] <= left:
            chosen.append(test)
            left -= takes[test]
    return chosen


def _steps(sources: Sequence[PurePosixPath]) -> dict[str, float]:
    """Return how far each test is: 0 for a changed or mirrored one, else the number of imports between, half of it in the same room.

    The tests of the whole window share one folder: those that share a word with the source count as in its room.
    """
    graph = grimp.build_graph("runtime", "inspector_app", "resources", "tests", cache_dir=str(ROOT / ".import_linter_cache"))
    tests = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "tests").rglob("test_*.py"))]
    steps: dict[str, float] = {}
    for source in sources:
        away = _away(graph, source)
        rooms = tuple(f"{room}/" for room in _rooms(source))
        words = _words(source)
        for test in tests:
            if test == str(source) or (test.startswith(rooms) and test.endswith(f"/test_{source.name}")):
                step = 0.0
            else:
                is_near = test.startswith(rooms) or (test.startswith(WINDOW) and words & _words(PurePosixPath(test)))
                step = away.get(_module(test), 99) / (2 if is_near else 1)
            steps[test] = min(step, steps.get(test, 99))
    return {test: step for test, step in steps.items() if step < 99}


def _away(graph: grimp.ImportGraph, source: PurePosixPath) -> dict[str, int]:
    """Return the number of imports from each module to the source, over the fewest modules."""
    changed = _module(str(source))
    if source.name == "conftest.py" and str(source) != "tests/conftest.py":
        return {module: 1 for module in graph.modules if module.startswith(changed.removesuffix("conftest"))}
    away = {changed: 0} | dict.fromkeys(_naming(source), 1)
    waiting = list(away)
    for module in waiting:
        if module not in graph.modules:
            continue
        for importer in graph.find_modules_that_directly_import(module) - away.keys():
            away[importer] = away[module] + 1
            waiting.append(importer)
    return away


def _naming(source: PurePosixPath) -> list[str]:
    """Return the modules that name a source of several words without an import: programs that are run by their name, and their tests."""
    if "_" not in source.stem.strip("_"):
        return []
    word = re.compile(rf"\b{source.stem}\b")
    folders = ("tests", "inspector_app") if source.parts[0] == "resources" else ("tests",)
    return [module for folder in folders for module, text in _texts(folder).items() if word.search(text)]


@cache
def _texts(folder: str) -> dict[str, str]:
    return {_module(path.relative_to(ROOT).as_posix()): path.read_text("utf-8") for path in (ROOT / folder).rglob("*.py")}


def _rooms(source: PurePosixPath) -> list[str]:
    inside = source.parent.relative_to(source.parts[0]).as_posix()
    if source.parts[0] == "runtime":
        return [f"tests/unit/{inside}", f"tests/properties/{inside}"] if inside != "." else ["tests/unit"]
    if source.parts[0] == "inspector_app":
        return [f"tests/unit/inspector_app/{inside}", f"tests/gui/{inside}"] if inside != "." else ["tests/unit/inspector_app"]
    return ["tests/unit/resources"] if source.parts[0] == "resources" else []


def _words(path: PurePosixPath) -> set[str]:
    """Return the words of a file's name and of its folder's, which tests of the whole window share with what they try."""
    return {word.removesuffix("s") for name in (path.parent.name, path.stem) for word in name.split("_")} - {
        "",
        "test",
        "window",
        "controller",
    }


def _module(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _takes(tests: Iterable[str], durations: dict[str, float]) -> dict[str, float]:
    """Return what each test file takes without its slow tests; a guess where it never ran."""
    takes: dict[str, float] = {}
    for test, seconds in durations.items():
        path = test.partition("::")[0]
        takes[path] = takes.get(path, 0.0) + (seconds if seconds <= SLOW else 0.0)
    return {test: takes[test] if test in takes else _guess(test) for test in tests}


def _guess(test: str) -> float:
    return next((seconds for folder, seconds in _GUESSES.items() if test.startswith(folder)), _OTHERWISE)


def changes() -> list[str]:
    """Return the changed files."""
    base = _git("merge-base", "HEAD", "main") or ["HEAD"]
    return [*_git("diff", "--name-only", base[0]), *_git("ls-files", "--others", "--exclude-standard")]


def arguments(changed: Sequence[str]) -> list[str]:
    """Return what pytest runs: the nearest files, without the slow tests of those that did not change."""
    durations = recorded(ROOT)
    files = nearest(changed, durations)
    slow = [test for test, seconds in durations.items() if seconds > SLOW and test.partition("::")[0] in files]
    left_out = [f"--deselect={test}" for test in slow if test.partition("::")[0] not in changed]
    return [*files, *left_out]


def _git(*arguments: str) -> list[str]:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout.split()


if __name__ == "__main__":
    os.execv(sys.executable, [sys.executable, "-m", "pytest", *sys.argv[1:], "tests/architecture", *arguments(changes())])
