"""A place in an agent's code, as the user reads it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class CodeLink:
    """A file and a line.

    Attributes:
        what: the agent, tool or callback, such as `tool weather`.
        file: the absolute path.
        line: from 1.
    """

    what: str
    file: str
    line: int

    @property
    def place(self) -> str:
        """The file's name and the line."""
        return f"{Path(self.file).name}:{self.line}"
