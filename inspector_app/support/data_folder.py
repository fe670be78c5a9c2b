"""The folders for the inspector's own files."""

from __future__ import annotations

import os
import sys
from pathlib import Path

APPLICATION = "Agent Inspector"  # the name that Qt knows

OWNER = "window.lock"  # marks the folder of a window's unsaved sessions; see `kept_folder`


def data_folder() -> Path:
    """Return the user's data folder for the inspector; it need not exist.

    It is the folder that Qt calls `GenericDataLocation`, computed without Qt.
    """
    return _shared_folder() / "agent-inspector"


def cache_folder(database: str = "") -> Path:
    """Return the user's folder for what can be computed again; it need not exist.

    It is the folder that Qt calls `CacheLocation` in the window, computed without Qt.

    Args:
        database: what it is computed from. For unsaved sessions, the folder is beside them and is deleted with them.
    """
    if (beside := unsaved_folder(database)) is not None:
        return beside / "cache"
    if sys.platform == "win32":
        return _shared_folder() / APPLICATION / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / APPLICATION
    folder = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (folder if folder.is_absolute() else Path.home() / ".cache") / APPLICATION


def unsaved_folder(database: str) -> Path | None:
    """Return the folder of a database of unsaved sessions, where all that belongs to them is; None for any other database."""
    folder = Path(database).parent
    return folder if database and "://" not in database and (folder / OWNER).is_file() else None


def _shared_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    folder = Path(os.environ.get("XDG_DATA_HOME", ""))
    return folder if folder.is_absolute() else Path.home() / ".local" / "share"  # the XDG rules ignore a relative path
