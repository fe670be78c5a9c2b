"""Other processes that have a file open: they may write to a database at the same time."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from runtime.storage.connections.open_files import identity_of

_COMMAND_LIMIT = 60  # characters; it is shown in a sentence


@dataclass(frozen=True, slots=True)
class OtherProcess:
    """A process that has the file open, with its shortened command line."""

    pid: int
    command: str


def others_with_open(file: Path) -> list[OtherProcess]:
    """Return the other processes that have a file open, in the order of their ids.

    The system shows only some processes: most systems show those of the same user.

    Args:
        file: a database.
    """
    import psutil  # 20 ms

    try:
        wanted = file.stat()
    except OSError:
        return []
    return [
        OtherProcess(process.pid, _shortened(process.info["cmdline"] or ()))
        for process in psutil.process_iter(["open_files", "cmdline"])
        if process.pid != os.getpid() and any(_is_file(opened.path, wanted) for opened in process.info["open_files"] or ())
    ]


def pids_with_open(*files: Path) -> list[set[int]]:
    """Return the processes that have each file open, this one included; those that Linux shows, and none on another system.

    psutil cannot tell a deleted file from the one that has its name now.

    Args:
        files: files that may be missing.
    """
    found: list[set[int]] = [set() for _ in files]
    numbers = {identity_of(file): number for number, file in enumerate(files)}
    numbers.pop(None, None)
    for name in _names("/proc"):
        if name.isdecimal():
            for descriptor in _names(f"/proc/{name}/fd"):
                number = numbers.get(identity_of(Path(f"/proc/{name}/fd/{descriptor}")))
                if number is not None:
                    found[number].add(int(name))
    return found


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []  # the process has ended, or is another user's


def _is_file(path: str, wanted: os.stat_result) -> bool:
    """Return whether a path leads to the wanted file; it may be another link to it."""
    try:
        return os.path.samestat(Path(path).stat(), wanted)
    except OSError:
        return False


def _shortened(words: list[str] | tuple[()]) -> str:
    text = " ".join(word for word in words if word)
    return text if len(text) <= _COMMAND_LIMIT else f"{text[: _COMMAND_LIMIT - 1]}…"
