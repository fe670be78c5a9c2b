"""A registry of the database files that this process has open with locks.

POSIX drops all of a process's locks on a file when the process closes *any* descriptor of that file. So a file that SQLite has open here
must not be opened in another way as well, not even to check for other users.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class OpenFiles:
    """The number of open connections for each file."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[Path] = Counter()

    def add(self, file: Path) -> None:
        """Note that a connection to `file` was opened."""
        with self._lock:
            self._counts[file.resolve()] += 1

    def remove(self, file: Path) -> None:
        """Note that a connection to `file` was closed."""
        with self._lock:
            self._counts[file.resolve()] -= 1

    @contextmanager
    def exclusive(self, file: Path) -> Iterator[bool]:
        """Block new connections to `file`; yield whether none is open, so that the caller may open the file directly meanwhile."""
        with self._lock:
            yield self._counts[file.resolve()] == 0

    def __contains__(self, file: Path) -> bool:
        with self._lock:
            return self._counts[file.resolve()] > 0


open_file_registry = OpenFiles()
