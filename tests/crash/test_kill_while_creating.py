"""What a process leaves that is killed while it creates a file, the next one accepts or mends."""

from __future__ import annotations

import itertools
import multiprocessing
import random
import shutil
import signal
import sys
from pathlib import Path

import pytest

from tests.sweep import count

if sys.platform == "win32":
    pytest.skip("there is no SIGKILL", allow_module_level=True)

from tests.crash import creator

pytestmark = [pytest.mark.sweep, pytest.mark.timeout(7200)]
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.crash.creator"])


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("given")
    creator.make_given(folder)
    return folder


def is_killed(kind: str, folder: Path, step: int = 0, size: int = 0) -> bool:
    """Create a file in a process; return whether it was killed before it had finished."""
    process = PROCESSES.Process(target=creator.run, args=(kind, str(folder), step, size))
    process.start()
    process.join()
    assert process.exitcode in (0, -signal.SIGKILL, -signal.SIGXFSZ)
    return process.exitcode != 0


def steps_of(kind: str, given: Path, folder: Path) -> int:
    """Return the number of steps, by doubling and halving."""
    numbers = itertools.count()

    def dies(step: int) -> bool:
        return is_killed(kind, Path(shutil.copytree(given, folder / f"counted{next(numbers)}")), step)

    beyond = 8
    while dies(beyond):
        beyond *= 2
    alive = beyond // 2
    while beyond - alive > 1:
        middle = (alive + beyond) // 2
        alive, beyond = (middle, beyond) if dies(middle) else (alive, middle)
    return alive


@pytest.mark.parametrize("kind", creator.KINDS)
def test_what_a_kill_at_a_step_leaves_is_accepted(kind: str, given: Path, tmp_path: Path) -> None:
    last = steps_of(kind, given, tmp_path)
    steps = range(1, last + 1)
    chosen = random.Random(kind).sample(steps, min(count(quick=4, full=last), last))
    killed = 0
    for step in sorted(chosen):
        folder = Path(shutil.copytree(given, tmp_path / f"step{step}"))
        killed += is_killed(kind, folder, step)
        creator.KINDS[kind][1](folder)
    sys.stderr.write(f"{kind}: killed at {killed} of {last} steps\n")


@pytest.mark.parametrize("kind", creator.KINDS)
def test_what_a_kill_in_a_write_leaves_is_accepted(kind: str, given: Path, tmp_path: Path) -> None:
    sizes = [512 * number for number in (1, 2, 3, 5, 8, 12, 16, 20, 24, 32, 40, 48, 64, 80, 96, 128, 160, 200, 256)]
    killed = 0
    for size in random.Random(kind).sample(sizes, count(quick=3, full=len(sizes))):
        folder = Path(shutil.copytree(given, tmp_path / f"size{size}"))
        killed += is_killed(kind, folder, size=size)
        creator.KINDS[kind][1](folder)
    sys.stderr.write(f"{kind}: killed in {killed} writes\n")
