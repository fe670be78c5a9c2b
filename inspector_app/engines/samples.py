"""The bundled sample agents, as cards of the welcome page and as folders to load."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

_FOLDER = Path(str(files("resources"))) / "samples"
_EXAMPLES = {"story": "a story about a ferry that never sailed", "orders": "40 boxes of A4 paper"}


@dataclass(frozen=True, slots=True)
class Sample:
    """One bundled agent.

    Attributes:
        name: its folder's name.
        folder: the agent folder; ours, so it is trusted.
        text: the first sentence of its module.
        example: a message that shows what it does.
    """

    name: str
    folder: Path
    text: str
    example: str


def samples() -> list[Sample]:
    """Return the bundled samples, in the order of their names; none of their code runs."""
    return [
        Sample(file.parent.name, file.parent, _first_sentence(file), _EXAMPLES.get(file.parent.name, ""))
        for file in sorted(_FOLDER.glob("*/agent.py"), reverse=True)  # the story first: it is the one that is shown being resumed
    ]


def is_bundled(folder: Path) -> bool:
    """Return whether a folder is part of this program."""
    return folder.resolve().is_relative_to(_FOLDER.resolve())


def _first_sentence(file: Path) -> str:
    doc = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return doc.split("\n\n")[0].replace("\n", " ")
