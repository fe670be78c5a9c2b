"""The import graph as text, floor by floor: `python -m tests.architecture.layout`.

The floors are the layers contracts of pyproject.toml; grimp reads the imports. Arrows point from a folder to the folders it imports. The
text reports in capitals an arrow that points up, an arrow between folders of one floor, and a circle of modules.
"""

from __future__ import annotations

import fnmatch
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

import grimp

from tests.architecture.source_rules import ROOT

Imports = Mapping[str, Set[str]]
LATE_IMPORT = re.compile(r"""\bimport_module\(\s*["']([\w.]+)["']""")


@dataclass
class Container:
    """A package whose folders have floors.

    Attributes:
        name: the package.
        floors: names of the folders, the highest floor first.
        allowed: upward imports that the contract names, as pairs of patterns.
    """

    name: str
    floors: list[list[str]]
    allowed: list[tuple[str, str]] = field(default_factory=list)

    def floor_of(self, folder: str) -> int | None:
        """Return the number of a folder's floor, counted from the top."""
        return next((number for number, folders in enumerate(self.floors) if folder in folders), None)

    def folder_of(self, module: str) -> str | None:
        """Return the folder of this package that a module is in."""
        prefix = self.name + "."
        return module.removeprefix(prefix).split(".")[0] if module.startswith(prefix) else None


def containers(config: Mapping[str, Any]) -> list[Container]:
    """Return the packages of the layers contracts in the content of a pyproject.toml."""
    return [
        Container(
            name,
            [layer.replace(" ", "").replace(":", "|").split("|") for layer in contract["layers"]],
            [(importer, imported) for importer, imported in (line.split(" -> ") for line in contract.get("ignore_imports", []))],
        )
        for contract in config["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
        for name in contract["containers"]
    ]


def arrows(container: Container, imports: Imports) -> Iterator[tuple[str, str, str, str]]:
    """Yield importing folder, imported folder, importing module and imported module of each import between folders of a package."""
    for importer, imported_modules in sorted(imports.items()):
        folder = container.folder_of(importer)
        for imported in sorted(imported_modules):
            other = container.folder_of(imported)
            if folder is not None and other is not None and folder != other:
                yield folder, other, importer, imported


def problems(container: Container, imports: Imports) -> list[str]:
    """Return a line for each folder without a floor and for each import that does not point down."""
    folders = sorted({folder for module in imports if (folder := container.folder_of(module)) is not None})
    found = [f"NO FLOOR: {container.name}.{folder}" for folder in folders if container.floor_of(folder) is None]
    for folder, other, importer, imported in arrows(container, imports):
        floor, other_floor = container.floor_of(folder), container.floor_of(other)
        if floor is None or other_floor is None or floor < other_floor or _is_allowed(container, importer, imported):
            continue
        found.append(f"{'SIDEWAYS' if floor == other_floor else 'UP'}: {importer} -> {imported}")
    return found


def lines(container: Container, imports: Imports) -> Iterator[str]:
    """Yield a package's folders, the highest floor first, each with the folders it imports, and what is wrong."""
    order = [folder for floor in container.floors for folder in floor]
    reached: dict[str, set[str]] = {folder: set() for folder in order}
    for folder, other, importer, imported in arrows(container, imports):
        if not _is_allowed(container, importer, imported):
            reached.setdefault(folder, set()).add(other)
    width = max(map(len, order), default=0)
    yield container.name
    for number, floor in enumerate(container.floors):
        for place, folder in enumerate(floor):
            below = ", ".join(sorted(reached[folder], key=lambda name: order.index(name) if name in order else -1))
            label = str(len(container.floors) - number) if place == 0 else ""
            yield f"  {label:>2}  {folder:<{width}}  {'→ ' + below if below else ''}".rstrip()
    for importer, imported in container.allowed:
        yield f"  allowed up: {importer} -> {imported}"
    yield from (f"  {line}" for line in problems(container, imports))


def circle(imports: Imports) -> list[str]:
    """Return modules of which each imports the next, the last one the first again; empty if there is no circle."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        found: list[str] = error.args[1]
        return found[::-1]
    return []


def read_imports() -> Imports:
    """Return module → modules that it imports, also for types only, and late with `importlib.import_module`."""
    graph = grimp.build_graph("runtime", "inspector_app", exclude_type_checking_imports=False, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) | (late_imports(module) & graph.modules) for module in graph.modules}


def late_imports(module: str) -> set[str]:
    """Return the modules that the file of a module names in calls of `import_module`;"""
    file = ROOT / Path(*module.split("."))
    file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
    return {name for name in LATE_IMPORT.findall(file.read_text(encoding="utf-8")) if name != module}


def report(packages: Sequence[Container], imports: Imports) -> tuple[list[str], bool]:
    """Return the text of all packages as lines, and whether all arrows point down."""
    found: list[str] = []
    for package in packages:
        found += [*lines(package, imports), ""]
    if loop := circle(imports):
        found.append(f"CIRCLE: {' -> '.join(loop)}")
    fine = not loop and not any(problems(package, imports) for package in packages)
    return [*found, "All arrows point down." if fine else "SOME ARROWS DO NOT POINT DOWN: see the lines in capitals."], fine


def _is_allowed(container: Container, importer: str, imported: str) -> bool:
    return any(fnmatch.fnmatch(importer, one) and fnmatch.fnmatch(imported, other) for one, other in container.allowed)


def main() -> int:
    """Write the layout to standard output; return 1 if an arrow does not point down."""
    text, fine = report(containers(tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))), read_imports())
    sys.stdout.write("\n".join(text) + "\n")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
