"""Detection of agents that have a package named like one of this program's."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from inspector_app.engines.code_files import code_files

OURS = ("runtime", "inspector_app")


def name_clash(folder: Path, path: str) -> str | None:
    """Return why an agent cannot be loaded in this process; None if it can.

    In this process `runtime` is this program's package, also where the agent has another one. The code is refused only where it imports
    what its own package has and ours has not, or both have.
    """
    own = {name: found for name in OURS if (found := _own(folder, name)) is not None}
    if not own:
        return None
    for file in code_files(folder, suffixes=(".py",)).files:
        for module, line in _absolute_imports(folder / file):
            name, *rest = module.split(".")
            if name in own and (not rest or _has(own[name], rest[0]) or not _is_ours(name, rest[0])):
                return (
                    f"{path} imports {module} ({file}, line {line}), and has a package of its own at {own[name]}. On the"
                    f" embedded runtime, {name} is Agent Inspector's package. Rename the agent's package, or import it relatively:"
                    f" from .{name} import …"
                )
    return None


def _own(folder: Path, name: str) -> Path | None:
    """Return the agent's package or module with this name, inside its folder or beside it."""
    for parent in (folder, folder.parent):
        for place in (parent / name, parent / f"{name}.py"):
            is_there = place.is_file() or (place.is_dir() and any(place.glob("*.py")))
            if is_there and place.resolve() not in (_folder_of(name), folder.resolve()):
                return place
    return None


def _folder_of(name: str) -> Path:
    """Return the folder of this program's package."""
    file = sys.modules[name].__file__
    assert file is not None
    return Path(file).resolve().parent


def _is_ours(name: str, attribute: str) -> bool:
    return _has(_folder_of(name), attribute) or hasattr(sys.modules[name], attribute)


def _has(package: Path, name: str) -> bool:
    if package.is_file():
        return False
    return (package / name).is_dir() or (package / f"{name}.py").is_file()


def _absolute_imports(file: Path) -> Iterator[tuple[str, int]]:
    """Yield each absolutely imported module with its line; of `from package import name`, the two joined."""
    try:
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return  # importing it reports what is wrong
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            if "." in node.module:
                yield node.module, node.lineno
            else:
                yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)
