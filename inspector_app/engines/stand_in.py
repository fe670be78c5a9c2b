"""The folder of an agent that repeats the session of a capsule. Its code is always the same; what differs is data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CODE = '''"""Repeats the session of a capsule. Written by Agent Inspector."""

from pathlib import Path

from runtime.forks.recorded_agent import recorded_app

app = recorded_app(Path(__file__).with_name("recorded.json"))
'''
_FILES = {"agent.py", "recorded.json"}


def write_stand_in(folder: Path, name: str, events: Sequence[dict[str, Any]]) -> None:
    """Write the agent into a new folder.

    Args:
        folder: the folder; its parent exists.
        name: the app's name.
        events: the session's events as google-adk's event JSON.
    """
    folder.mkdir()
    (folder / "recorded.json").write_text(json.dumps({"name": name, "events": list(events)}), "utf-8")
    (folder / "agent.py").write_text(CODE, "utf-8")


def is_stand_in(folder: Path) -> bool:
    """Return whether a folder has nothing but such an agent, so that no code in it is another's."""
    try:
        names = {entry.name for entry in folder.iterdir()} - {"__pycache__"}
        return names == _FILES and (folder / "agent.py").read_text("utf-8") == CODE and not _foreign_cache(folder)
    except (OSError, UnicodeDecodeError):
        return False


def _foreign_cache(folder: Path) -> bool:
    """Return whether there is compiled code, which Python would run in place of the file's."""
    return (folder / "__pycache__").exists()
