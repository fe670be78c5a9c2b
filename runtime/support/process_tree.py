"""A process and all processes that it started."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from typing import Any

CLOCK_SECONDS = 1.0  # by which the start of a process and our clock may differ


class ProcessTree:
    """A process that leads a group of its own, and all that it started.

    Args:
        process: started just now, with `start_new_session=True`.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process, self._since = process, time.time() - CLOCK_SECONDS

    @property
    def is_left(self) -> bool:
        """Whether the first has ended, and others of them have not. A process with the first one's id is a later one, and not ours."""
        if not hasattr(os, "killpg"):
            return bool(_below(self._process.pid, self._since))
        try:
            os.kill(self._process.pid, 0)
            return False
        except PermissionError:
            return False
        except ProcessLookupError:
            pass
        try:
            os.killpg(self._process.pid, 0)
        except OSError:
            return False
        return True

    def send(self, name: str) -> None:
        """Send a signal to all of them, also if the first has ended. Windows has no groups and no signals: there they are ended at once.

        Args:
            name: the signal, such as `SIGTERM`.
        """
        if hasattr(os, "killpg"):
            with suppress(OSError):  # they have ended
                os.killpg(self._process.pid, getattr(signal, name))
            return
        import psutil  # 20 ms

        left = _below(self._process.pid, self._since)
        self._process.kill()
        for process in left:
            with suppress(psutil.Error):
                process.kill()


def _below(pid: int, since: float) -> list[Any]:
    """Return the processes that a process started, and those that they started. Windows keeps the id of a parent that has ended.

    Args:
        pid: the process.
        since: seconds since 1970; an older process is the child of an earlier process with the same id.
    """
    import psutil

    children: dict[int, list[Any]] = {}
    for process in psutil.process_iter(["ppid", "create_time"]):
        if process.info["ppid"] is not None and (process.info["create_time"] or 0) >= since:
            children.setdefault(process.info["ppid"], []).append(process)
    found = children.pop(pid, [])
    for process in found:
        found.extend(children.pop(process.pid, []))
    return found
