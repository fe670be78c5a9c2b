"""Another program that uses a database at the same time, and what this process has open of it."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

# A stranger: for each line it opens the database, reads, closes, and answers whether another process had it open.
_STRANGER = """
import fcntl, os, sqlite3, struct, sys
for line in sys.stdin:
    with open(sys.argv[1], "rb") as file:
        kind = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0x40000000, 512, 0)
        locked = struct.unpack("hhqqi", fcntl.fcntl(file, fcntl.F_GETLK, kind))[0] != fcntl.F_UNLCK
    if line.strip() == "visit":
        connection = sqlite3.connect(sys.argv[1], timeout=20)
        connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        connection.close()
    print(int(locked), flush=True)
"""


class Stranger:
    """Another process that looks at a database, and opens and closes it."""

    def __init__(self, file: Path) -> None:
        self._process = subprocess.Popen([sys.executable, "-c", _STRANGER, str(file)], stdin=-1, stdout=-1, text=True)

    def ask(self, what: str) -> bool:
        """Return whether another process has the database locked; `visit` also opens and closes it."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(f"{what}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip() == "1"

    def close(self) -> None:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self._process.wait(20)
        self._process.stdout.close()


def descriptors(file: Path) -> list[str]:
    """Return what this process has open of a database and its companions."""
    found = []
    for link in Path("/dev/fd").iterdir():
        with suppress(OSError):
            found.append(str(link.readlink()))
    return sorted(path for path in found if path.startswith(str(file)))
