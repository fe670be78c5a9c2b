"""Files that SQLite keeps beside a database, and private copies of a database with them.

In a received folder they can be links, FIFOs or devices, which would lead elsewhere, hang, or fill the disk with a copy.
"""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from runtime.errors.storage_error import StorageError
from runtime.storage.connections.open_files import open_files
from runtime.support.linkless import LinkError, is_regular, open_regular

_SUFFIXES = ("-wal", "-journal", "-shm")
_KEPT_FREE = 256 * 1024 * 1024  # bytes of the disk that a private copy leaves free
_PIECE = 1024 * 1024  # bytes copied at once


def real_file(file: Path) -> Path:
    """Return the file that a link leads to: SQLite keeps the companions beside that file."""
    return Path(os.path.realpath(file))


def companion(file: Path, suffix: str) -> Path:
    """Return the path of a database's companion, such as `session.db-wal`."""
    return file.with_name(file.name + suffix)


def check_companions(file: Path, name: str) -> None:
    """Refuse a database with a companion that is no regular file.

    Args:
        file: the database, no link.
        name: its name in the error.

    Raises:
        StorageError: a companion is a link, a folder or a special file.
        OSError: the folder cannot be read.
    """
    for suffix in _SUFFIXES:
        try:
            is_regular(companion(file, suffix))
        except LinkError as error:
            raise StorageError(
                f"{name}{suffix}, which belongs to the database, is not opened: {error.what}. Remove it, or use a copy of {name} alone."
            ) from error


def copy_with_companions(file: Path, copy: Path) -> None:
    """Copy a database, its write-ahead log and its journal.

    Args:
        file: the database, no link.
        copy: a file in a private folder.

    Raises:
        OSError: see `copy_privately`.
    """
    with open_files.reading(file) as read:
        copy_privately(read, copy)
    for suffix in ("-wal", "-journal"):
        with suppress(FileNotFoundError), open_regular(companion(file, suffix)) as read:
            copy_privately(read, companion(copy, suffix))


def copy_privately(read: BinaryIO, target: Path) -> None:
    """Copy an open file, without filling the disk. Holes stay holes.

    Args:
        read: the file, at its beginning.
        target: a file in a private folder; replaced.

    Raises:
        OSError: the file cannot be read, or is too large for the disk.
    """
    with target.open("wb") as written:
        size = os.fstat(read.fileno()).st_size
        free = shutil.disk_usage(target.parent).free - _KEPT_FREE
        at = 0
        while (at := _next_data(read.fileno(), at, size)) < size:
            read.seek(at)
            written.seek(at)
            piece = read.read(min(_PIECE, size - at))
            if not piece:
                break
            if len(piece) > free:
                raise OSError(errno.ENOSPC, f"a private copy of it does not fit on the disk of {target.parent}")
            written.write(piece)
            at, free = at + len(piece), free - len(piece)
        written.truncate(size)


def size_on_disk(file: Path) -> int:
    """Return how many bytes of a file are stored: holes take no time to read. Windows does not tell, so holes count there."""
    status = file.stat()
    return min(status.st_size, getattr(status, "st_blocks", status.st_size) * 512)


def _next_data(descriptor: int, at: int, size: int) -> int:
    """Return the position from `at` where stored data follows; `size` if none follows."""
    if not hasattr(os, "SEEK_DATA") or at >= size:
        return at
    try:
        return os.lseek(descriptor, at, os.SEEK_DATA)
    except OSError as error:
        return size if error.errno == errno.ENXIO else at
