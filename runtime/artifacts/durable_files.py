"""Files and folders that are still there after a power failure."""

from __future__ import annotations

import os
from pathlib import Path


def write_file(path: Path, data: bytes) -> None:
    """Write a new file and wait until the disk has it.

    Args:
        path: of the file.
        data: its content.
    """
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def make_folders(path: Path) -> None:
    """Make a folder with all above it that are missing, and wait until the disk has their names.

    Args:
        path: of the folder.
    """
    missing = []
    while not path.exists():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)


def sync_folder(path: Path) -> None:
    """Wait until the disk has the names of what is in a folder.

    Args:
        path: of the folder.
    """
    if os.name == "nt":
        return  # Windows opens no folders
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
