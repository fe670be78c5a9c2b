"""The question whether a folder's code may run, as data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Reason = Literal["new", "changed", "replaced"]


@dataclass(frozen=True, slots=True)
class FolderCode:
    """A folder's code at one moment.

    Attributes:
        folder: the folder.
        digest: of its code; None if there is too much to notice changes.
        identity: differs when the folder was replaced by another one of the same name.
        files: its code files, relative to it.
        env: a sentence about the `.env` file that its agent reads; empty if it reads none.
    """

    folder: Path
    digest: str | None
    identity: str
    files: list[str]
    env: str


@dataclass(frozen=True, slots=True)
class TrustQuestion:
    """The question whether a folder's code may run.

    Attributes:
        path: the path to load.
        code: what would run.
        reason: why it is asked.
        engine: a sentence about the engine that would run it.
        lacks_adk: whether google-adk would run it if it were installed.
    """

    path: str
    code: FolderCode
    reason: Reason
    engine: str = ""
    lacks_adk: bool = False
