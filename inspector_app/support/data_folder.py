"""The folders for the inspector's own files."""

from __future__ import annotations

import os
import sys
from pathlib import Path

APPLICATION = "Agent Inspector"  # the name that Qt knows


def data_folder() -> Path:
    """Return the user's data folder for the inspector; it need not exist.

    It is the folder that Qt calls `GenericDataLocation`, computed without Qt.
    """
    return _shared_folder() / "agent-inspector"


def cache_folder() -> Path:
    """Return the user's folder for what can be computed again; it need not exist.

    It is the folder that Qt calls `CacheLocation` in the window, computed without Qt.
    """
    if sys.platform == "win32":
        return _shared_folder() / APPLICATION / "cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / APPLICATION
    folder = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (folder if folder.is_absolute() else Path.home() / ".cache") / APPLICATION


def _shared_folder() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    folder = Path(os.environ.get("XDG_DATA_HOME", ""))
    return folder if folder.is_absolute() else Path.home() / ".local" / "share"  # the XDG rules ignore a relative path
