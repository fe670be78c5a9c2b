"""Whose code a frame runs: the agent's, the inspector's, or another one's."""

from __future__ import annotations

import os
from pathlib import Path

from .plugin_file import FILE

_WORKER = (f"{Path(__file__).parent}{os.sep}", str(FILE))
_ours: tuple[str, ...] = ("<frozen ", *_WORKER)


def hide_frames_of_ours() -> None:
    """Leave the frames of the embedded runtime and the inspector out of tracebacks."""
    global _ours
    top = Path(__file__).resolve().parents[3]
    _ours = ("<frozen ", *_WORKER, f"{top / 'runtime'}{os.sep}", f"{top / 'inspector_app'}{os.sep}")


def is_ours(filename: str) -> bool:
    """Return whether a file is the worker's or, once `hide_frames_of_ours` was called, any of the inspector's."""
    return filename.startswith(_ours)


def is_workers(filename: str) -> bool:
    """Return whether a file is the worker's, or the plugin."""
    return filename.startswith(_WORKER)


def is_agents(filename: str, folder: Path | None) -> bool:
    """Return whether a file is the agent's own code; an environment below its folder is not."""
    path = Path(filename)
    return folder is not None and path.is_relative_to(folder) and "site-packages" not in path.relative_to(folder).parts
