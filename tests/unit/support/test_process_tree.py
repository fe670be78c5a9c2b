"""The end of a process and of all that it started, with process groups and without, as on Windows."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from runtime.support.process_tree import ProcessTree

Started = tuple[subprocess.Popen[bytes], ProcessTree]
CHILD = "import time; print('started', flush=True); time.sleep(1000)"
PARENT = f"""
import subprocess, sys
subprocess.Popen([{sys.executable!r}, "-c", {CHILD!r}])
sys.stdin.read()
"""

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def started() -> Iterator[Started]:
    """A process whose child holds its output open."""
    with subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as process:
        tree = ProcessTree(process)
        assert process.stdout is not None
        assert process.stdout.readline().strip() == b"started"
        yield process, tree
        process.kill()


def wait_until_all_have_ended(process: subprocess.Popen[bytes]) -> None:
    assert process.stdout is not None
    assert process.stdout.read() == b""
    process.wait()


@pytest.mark.parametrize("has_groups", [True, False])
def test_a_child_ends_with_its_parent(started: Started, has_groups: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not has_groups:
        monkeypatch.delattr(os, "killpg", raising=False)
    parent, tree = started
    tree.send("SIGKILL")
    wait_until_all_have_ended(parent)


def test_without_groups_what_a_process_started_is_found_by_its_id(started: Started, monkeypatch: pytest.MonkeyPatch) -> None:
    parent, tree = started
    monkeypatch.delattr(os, "killpg", raising=False)
    assert tree.is_left  # Windows finds it also when its parent has ended; Linux then gives it another parent
    tree.send("SIGTERM")
    wait_until_all_have_ended(parent)
    assert not tree.is_left


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="Windows has no process groups")
def test_what_a_process_left_behind_is_ended(started: Started) -> None:
    parent, tree = started
    parent.kill()
    parent.wait()
    assert tree.is_left
    tree.send("SIGKILL")
    wait_until_all_have_ended(parent)


def test_a_process_that_started_none_leaves_none() -> None:
    with subprocess.Popen([sys.executable, "-c", ""], start_new_session=True) as process:
        process.wait()
        assert not ProcessTree(process).is_left
