"""The code of an agent's folder: its files, and a digest that changes when the code does."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from inspector_app.engines.env_file import AgentEnvironment, EnvFileError

# What Python imports, and what configures agents. Not .json: agents keep their data in it.
CODE = (".py", ".pyc", ".so", ".pyd", ".dll", ".dylib", ".yaml", ".yml", ".toml")
MAX_FILES = 2_000  # an agent's folder with more is a whole project
MAX_BYTES = 64 * 2**20  # of all code files; reading them takes less than a second
MAX_ENTRIES = 50_000  # files and folders that are listed

_SKIPPED = {"node_modules", "__pycache__"}
_BYTECODE = f".{sys.implementation.cache_tag}.pyc"  # what this Python would run in place of the source


@dataclass(slots=True)
class CodeFiles:
    """The code files of a folder.

    Attributes:
        files: paths relative to the folder, sorted.
        links: links to folders, which are not followed, with their targets.
        complete: whether these are all; False above `MAX_FILES` or `MAX_ENTRIES`.
    """

    files: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    complete: bool = True


def code_files(folder: Path, suffixes: tuple[str, ...] = CODE) -> CodeFiles:
    """Return a folder's code files, without hidden folders, Python environments and `node_modules`."""
    found = CodeFiles()
    listed = 0
    for root, folders, names in os.walk(folder):
        below = Path(root)
        found.links.extend(_links(folder, below, folders))
        bytecode = [f"__pycache__/{name}" for name in _listed(below / "__pycache__") if name.endswith(_BYTECODE)]
        folders[:] = sorted(name for name in folders if not _is_skipped(below / name))
        found.files.extend((below / name).relative_to(folder).as_posix() for name in (*names, *bytecode) if name.endswith(suffixes))
        listed += len(folders) + len(names)
        if len(found.files) > MAX_FILES or listed > MAX_ENTRIES:
            found.complete = False
            break
    found.files = sorted(found.files)[:MAX_FILES]
    return found


def code_digest(folder: Path) -> str | None:
    """Return a digest of a folder's code and of the names that its `.env` sets.

    Returns:
        None if the code is too large, or cannot be read as a whole.
    """
    found = code_files(folder)
    if not found.complete:
        return None
    digest = hashlib.blake2b(digest_size=20)
    left = MAX_BYTES
    try:
        for name in found.files:
            digest.update(f"\0{name}\0".encode("utf-8", "surrogateescape"))
            for piece in _pieces(folder / name, left):
                digest.update(piece)
                left -= len(piece)
        names = AgentEnvironment(folder).names
    except (OSError, _TooLargeError, EnvFileError):
        return None
    digest.update("\0".join(["", "links", *sorted(found.links), "names", *sorted(names)]).encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


class _TooLargeError(Exception):
    pass


def _pieces(file: Path, limit: int) -> Iterator[bytes]:
    """Yield a regular file's content; nothing of a device or pipe, which cannot be imported either."""
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as opened:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return
        while piece := opened.read(2**20):
            limit -= len(piece)
            if limit < 0:
                raise _TooLargeError
            yield piece


def _is_skipped(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in _SKIPPED or os.path.isfile(folder / "pyvenv.cfg")  # noqa: PTH113 - Path.is_file raises PermissionError


def _links(folder: Path, below: Path, folders: list[str]) -> Iterator[str]:
    for name in folders:
        place = below / name
        try:
            target = place.readlink()
        except OSError:  # no link, or another user's
            continue
        if not _is_skipped(place):
            yield f"{place.relative_to(folder).as_posix()} → {target}"


def _listed(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in folder.iterdir()]
    except OSError:
        return []
