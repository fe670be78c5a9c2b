"""Where the window keeps files of its own."""

from __future__ import annotations

from pathlib import Path


def data_folder() -> Path:
    """Return the folder; it need not exist."""
    from PySide6.QtCore import QStandardPaths  # the command line's imports must not need it

    return Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericDataLocation)) / "agent-inspector"
