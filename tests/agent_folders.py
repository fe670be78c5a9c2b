"""Folders with an agent's code."""

from __future__ import annotations

from pathlib import Path


def write_agent(folder: Path, source: str) -> str:
    """Create a folder with this `agent.py` and return its path."""
    folder.mkdir()
    (folder / "agent.py").write_text(source, "utf-8")
    return str(folder)
