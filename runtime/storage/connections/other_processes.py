"""Which other programs have a file open: whoever is about to write to a database wants to know who else may."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_PROCESSES = Path("/proc")


@dataclass(frozen=True, slots=True)
class OtherProcess:
    """A program that has the file open.

    Attributes:
        pid: its number.
        command: what it was started as, shortened.
    """

    pid: int
    command: str


def others_with_open(file: Path) -> list[OtherProcess]:
    """Return the other processes that have a file open, as far as the system lets us see them (on Linux: those of this user).

    Args:
        file: a database.
    """
    try:
        wanted = file.stat()
    except OSError:
        return []
    found = []
    for process in _PROCESSES.glob("[0-9]*"):
        pid = int(process.name)
        if pid != os.getpid() and _has_open(process, (wanted.st_dev, wanted.st_ino)):
            found.append(OtherProcess(pid, _command(process)))
    return sorted(found, key=lambda other: other.pid)


def _has_open(process: Path, wanted: tuple[int, int]) -> bool:
    try:
        for descriptor in (process / "fd").iterdir():
            try:
                stat = descriptor.stat()
            except OSError:
                continue
            if (stat.st_dev, stat.st_ino) == wanted:
                return True
    except OSError:  # it has ended, or it is somebody else's
        pass
    return False


def _command(process: Path) -> str:
    try:
        words = (process / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return ""
    text = " ".join(word for word in words if word)
    return text if len(text) <= 60 else f"{text[:59]}…"
