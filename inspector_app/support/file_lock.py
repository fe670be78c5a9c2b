"""A lock between processes."""

from __future__ import annotations

import errno
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_RETRY_SECONDS = 0.01
_UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP)


@contextmanager
def locked(file: Path, seconds: float) -> Iterator[None]:
    """Hold an exclusive lock on a file. The system releases it when the process ends.

    A file system without locks (some network file systems) does not lock, and raises no error.

    Args:
        file: created if it does not exist, and never deleted: a process that waits for it would lock a deleted file.
        seconds: to wait for another process at most.

    Raises:
        TimeoutError: another process held the lock all the time.
        OSError: the file cannot be opened or locked.
    """
    deadline = time.monotonic() + seconds
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | getattr(os, "O_NONBLOCK", 0), 0o666)  # a FIFO is not waited for
    with os.fdopen(descriptor, "wb") as opened:
        while not _try_to_lock(opened.fileno()):
            if time.monotonic() >= deadline:
                raise TimeoutError(f"Another process has locked {file}" + (f" for {seconds:g} s." if seconds else "."))
            time.sleep(_RETRY_SECONDS)
        yield


if sys.platform == "win32":
    import msvcrt

    def _try_to_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

else:
    import fcntl

    def _try_to_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _UNSUPPORTED:
                return True
            if error.errno in (errno.EAGAIN, errno.EACCES):
                return False
            raise
        return True
