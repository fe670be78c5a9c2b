"""Forks the worker, and kills what the agent leaves behind."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PROCESSES = Path("/proc")  # Linux only


def start_guarded(lifeline: int, *descriptors: int) -> None:
    """Fork. Return in the worker; the guard waits and never returns.

    Args:
        lifeline: a descriptor that is at its end as soon as the inspector no longer exists.
        *descriptors: the worker's own; the guard closes them.
    """
    guard = os.getpid()
    if sys.platform == "linux":
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)  # orphans of the worker become children of the guard
    worker = os.fork()
    if worker == 0:
        if sys.platform == "linux":
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != guard:
                os._exit(1)
        os.close(lifeline)
        return
    try:
        for descriptor in descriptors:
            os.close(descriptor)
        _guard(worker, lifeline)
    finally:
        os._exit(1)


def _guard(worker: int, lifeline: int) -> None:
    wake, signalled = os.pipe()
    os.set_blocking(signalled, False)
    signal.set_wakeup_fd(signalled, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    status = None
    while status is None:
        ended, status_now = os.waitpid(worker, os.WNOHANG)
        if ended:
            status = status_now
            break
        readable = select.select([wake, lifeline], [], [])[0]
        if lifeline in readable and not os.read(lifeline, 1):
            _kill_with_descendants(worker)
            status = os.waitpid(worker, 0)[1]
        if wake in readable:
            os.read(wake, 4096)
            _reap(except_for=worker)
    _kill_descendants()
    if os.WIFSIGNALED(status):
        _end_by_signal(os.WTERMSIG(status))
    os._exit(os.WEXITSTATUS(status))


def _reap(except_for: int) -> None:
    """Collect ended processes that the agent has left behind; a live agent may leave many."""
    for pid in _children(os.getpid()):
        if pid != except_for:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _kill_with_descendants(worker: int) -> None:
    """Kill the worker. Where its orphans do not become children of the guard, kill what it started too: it cannot be found later."""
    below = [] if sys.platform == "linux" else _descendants(worker)
    _kill(worker)
    for pid in below:
        _kill(pid)


def _kill_descendants() -> None:
    """Kill every process below the guard, until none is left. The rest of the process group is killed by the inspector."""
    while True:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        remaining = _children(os.getpid())
        if not remaining:
            return
        for pid in remaining:
            _kill(pid)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(remaining[0], 0)


def _children(parent: int) -> list[int]:
    """Return a process's direct children."""
    return [pid for pid, above in _parents().items() if above == parent]


def _descendants(top: int) -> list[int]:
    """Return all processes below one."""
    parents = _parents()
    found = [top]
    for above in found:
        found.extend(pid for pid, parent in parents.items() if parent == above)
    return found[1:]


def _parents() -> dict[int, int]:
    """Return the parent of each process."""
    if not _PROCESSES.is_dir():
        return _parents_by_ps()
    found = {}
    for entry in _PROCESSES.glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            found[int(entry.parent.name)] = int(entry.read_text(errors="replace").rpartition(")")[2].split()[1])
    return found


def _parents_by_ps() -> dict[int, int]:
    """Return the parent of each process, without that of `ps` itself, which is a child of this one."""
    found = {}
    with contextlib.suppress(OSError, ValueError, subprocess.SubprocessError):
        listing = subprocess.Popen(["ps", "-A", "-o", "pid=,ppid="], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        for line in listing.communicate(timeout=10)[0].splitlines():
            pid, parent = map(int, line.split())
            found[pid] = parent
        found.pop(listing.pid, None)
    return found


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _end_by_signal(number: int) -> None:
    """End this process as the worker ended, without a second core file."""
    with contextlib.suppress(Exception):
        resource = importlib.import_module("resource")
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(Exception):  # a Python without ctypes, or a C library without prctl
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
