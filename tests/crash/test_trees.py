"""Agent trees of every kind and nesting, crashed at every event and inside every tool, resumed, and crashed again while resuming.

Two promises are checked: finished work does not run again, and a tool runs at least once.
"""

from __future__ import annotations

import multiprocessing
import sys
import traceback
import zlib
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.crash.tree_sweep import Figures, Sweep
from tests.crash.trees import TREES
from tests.sweep import count

pytestmark = [
    pytest.mark.sweep,
    pytest.mark.timeout(7200),
    pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL, and no fork"),
]
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["tests.crash.tree_sweep"])


# The full sweep uses a process for each tree; the quick one uses a single process for some crashes of every tree.
GROUPS = count(quick=1, full=len(TREES))


@pytest.mark.rule("C1", "C7")
@pytest.mark.parametrize("group", range(GROUPS))
def test_resuming_after_any_crash_completes_the_run(group: int, tmp_path: Path) -> None:
    names = list(TREES)[group::GROUPS]
    receiver, sender = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=sweep, args=(sender, str(tmp_path), names))
    process.start()
    sender.close()
    for name in names:
        figures = receiver.recv()
        assert isinstance(figures, Figures), f"{name}: {figures}"
        sys.stderr.write(f"{name}: {dict(figures.runs)}; {figures.states} states after a crash; {figures.ran_twice} calls ran twice\n")
    process.join()


def sweep(said: Connection, folder: str, names: list[str]) -> None:
    """Sweep trees, in a separate process without threads, and report the figures or the failure of each."""
    for name in names:
        try:
            crashes = Sweep(Path(folder), TREES[name])
            if GROUPS > 1:
                crashes.all_crashes()
            else:
                crashes.some_crashes(zlib.crc32(name.encode()))
            said.send(crashes.figures)
        except BaseException:
            said.send(traceback.format_exc()[-8000:])
            return
