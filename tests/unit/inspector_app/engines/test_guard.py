"""What the guard of an agent's process finds and kills, also where there is no /proc and orphans go elsewhere, as on macOS."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector_app.engines.adk_worker import guard

CHILD = "import time; print('started', flush=True); time.sleep(1000)"
WORKER = f"""
import subprocess, sys
subprocess.Popen([{sys.executable!r}, "-c", {CHILD!r}], start_new_session=True)
sys.stdin.read()
"""

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="there is no guard on Windows"),
    pytest.mark.skipif(shutil.which("ps") is None, reason="ps is not installed"),
    pytest.mark.timeout(60),
]


@pytest.fixture
def worker() -> Iterator[subprocess.Popen[bytes]]:
    """A process whose child has left its process group, and holds its output open."""
    with subprocess.Popen([sys.executable, "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == b"started"
        yield process
        process.kill()


@pytest.fixture(params=["as it is here", "without /proc"])
def _system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if request.param == "without /proc":
        monkeypatch.setattr(guard, "_PROCESSES", tmp_path / "missing")


@pytest.mark.usefixtures("_system")
def test_processes_are_found_below_their_parent(worker: subprocess.Popen[bytes]) -> None:
    assert worker.pid in guard._children(os.getpid())
    child = guard._children(worker.pid)
    assert len(child) == 1
    assert guard._descendants(worker.pid) == child
    assert set(guard._descendants(os.getpid())) >= {worker.pid, *child}
    worker.kill()
    worker.wait()
    os.kill(child[0], 9)


@pytest.mark.usefixtures("_system")
def test_without_children_none_is_found() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert guard._children(process.pid) == []
        process.kill()


def test_where_orphans_are_lost_all_are_killed_with_the_worker(
    worker: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(guard, "_PROCESSES", tmp_path / "missing")
    monkeypatch.setattr(sys, "platform", "darwin")
    guard._kill_with_descendants(worker.pid)
    assert worker.stdout is not None
    assert worker.stdout.read() == b""  # both have ended
    assert worker.wait() == -9
