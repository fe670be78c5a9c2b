"""Files and folders that survive a power failure."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def write_file(path: Path, data: bytes) -> None:
    """Write a new file and sync it to disk."""
    with path.open("xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def make_folders(path: Path) -> None:
    """Make a folder with its missing parents and sync them to disk."""
    missing = []
    while not path.exists():
        missing.append(path)
        path = path.parent
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)


def sync_folder(path: Path) -> None:
    """Sync a folder's entries to disk."""
    if sys.platform == "win32":
        return  # Windows cannot open folders
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
