"""The bundled sample agents."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from inspector_app.engines.stand_in import is_stand_in

_FOLDER = Path(str(files("inspector_app.resources"))) / "samples"
_EXAMPLES = {"story": "a story about a ferry that never sailed", "orders": "40 boxes of A4 paper"}


@dataclass(frozen=True, slots=True)
class Sample:
    """A bundled agent.

    Attributes:
        name: its folder's name.
        folder: the agent's folder, which is trusted.
        text: the first paragraph of its module's docstring.
        example: a message to try it with.
    """

    name: str
    folder: Path
    text: str
    example: str


def samples() -> list[Sample]:
    """Return the bundled samples in reverse order of their names. Their code does not run."""
    return [
        Sample(file.parent.name, file.parent, _first_sentence(file), _EXAMPLES.get(file.parent.name, ""))
        for file in sorted(_FOLDER.glob("*/agent.py"), reverse=True)  # the story comes first: the demo resumes it
    ]


def is_bundled(folder: Path) -> bool:
    """Return whether a folder's code is part of this program: a sample, or the agent that repeats a capsule."""
    return folder.resolve().is_relative_to(_FOLDER.resolve()) or is_stand_in(folder)


def _first_sentence(file: Path) -> str:
    doc = ast.get_docstring(ast.parse(file.read_text("utf-8"))) or ""
    return doc.split("\n\n")[0].replace("\n", " ")
