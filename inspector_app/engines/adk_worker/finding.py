"""Which folders and files are agents. No code of theirs runs."""

from __future__ import annotations

import re
from pathlib import Path

AGENT_FILES = ("agent.py", "root_agent.yaml")
MAX_TEXT = 200_000  # bytes of a file that are searched for an agent

RELATIVE = re.compile(rb"^[ \t]*from[ \t]+\.", re.MULTILINE)
_DEFINED = re.compile(rb"^(?:root_agent\b[^=\n]*=|app\b[^=\n]*=\s*(?:\w+\.)?App\()", re.MULTILINE)
_MENTIONED = re.compile(rb"\b(?:root_agent|app)\b|import \*")


def agents_in(folder: Path) -> list[str]:
    """Return the names of the folders and Python files in a folder that are agents. No code runs."""
    try:
        children = sorted(child for child in folder.iterdir() if not child.name.startswith((".", "__")) and child.name not in AGENT_FILES)
    except OSError:
        return []
    return [child.name for child in children if is_agent_folder(child) or (child.suffix == ".py" and has_text(child, _DEFINED))]


def is_agent_folder(folder: Path) -> bool:
    """Return whether a folder has an agent's files; a package only if its `__init__.py` mentions the agent."""
    if any((folder / file).is_file() for file in (*AGENT_FILES, "agent/__init__.py")):
        return True
    return has_text(folder / "__init__.py", _MENTIONED)


def has_text(file: Path, pattern: re.Pattern[bytes]) -> bool:
    """Return whether the pattern occurs in the first `MAX_TEXT` bytes of a file."""
    try:
        if not file.is_file():
            return False
        with file.open("rb") as opened:
            return pattern.search(opened.read(MAX_TEXT)) is not None
    except OSError:
        return False


def several_agents(path: str, names: list[str]) -> str:
    """Return the sentence about a path that holds agents and is none."""
    several = "several agents" if len(names) > 1 else "an agent"
    return f"{path} holds {several}: {', '.join(names)}. Name {'one of them' if len(names) > 1 else 'it'}."


def folder_of(path: str) -> Path:
    """Return the folder whose code is the agent's."""
    place = Path(path).absolute()
    return place if place.is_dir() else place.parent
