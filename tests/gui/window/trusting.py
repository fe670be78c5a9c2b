"""Answers to the question of trust, given without the window's page."""

from __future__ import annotations

from pathlib import Path

from inspector_app.app import Inspector
from inspector_app.workspace.trust import read_code


def trust_folder(inspector: Inspector, folder: Path, *, changes: bool = True) -> None:
    """Trust a folder's code, also after it changes."""
    inspector.agents.trust.remember(read_code(folder), changes=changes)
