"""google-adk's public names, and where each is: `python -m tests.interop.google_adk_names` writes `docs/google-adk-names.md`.

The names are read from google-adk's source files, without importing them, as many need packages that are not installed.
"""

from __future__ import annotations

import ast
import importlib
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from runtime.border import is_stand_in
from runtime.errors.missing_package_error import MissingPackageError
from tests.interop.google_adk import adk_1_25_python, adk_python

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "google-adk-names.md"

HERE, ENGINE, NOT_PLANNED = "embedded runtime", "google-adk only", "not planned"

# Beginning of a module's path → why its missing names are not planned: they are parts of google-adk itself, or of its own programs.
PARTS_OF_GOOGLE_ADK = {
    "cli": "google-adk's own programs; here `agent-inspector` has a command line, a server and a window",
    "dependencies": "how google-adk imports optional packages",
    "features": "switches inside google-adk",
    "flows": "the steps in which google-adk builds a request and runs calls",
    "platform": "how google-adk reads clocks and makes ids",
    "sessions.migration": "conversion of databases; here `agent-inspector convert`",
    "sessions.schemas": "google-adk's tables; here `runtime.storage`",
    "telemetry": "google-adk's traces; here the debugger sees every step",
    "tools.tool_configs": "how google-adk reads tools from YAML files",
    "utils": "helpers inside google-adk",
}

INTRODUCTION = """\
# google-adk's public names

Where each public name of google-adk 1.25 and 2.13 runs: the border of the embedded runtime. An agent that uses only names of the first
column runs on it. Any other name can be imported there too; its use raises an error that says "needs google-adk". With google-adk in its
environment, every agent runs on the google-adk engine, in a child process, with the same debugger. "Not planned" are parts of google-adk
itself and of its own programs. A name that only one of the two versions has is followed by that version.

`python -m tests.interop.google_adk_names` writes this page from the installed versions; a test compares it.
"""


def public_names(python: str) -> dict[str, set[str]]:
    """Return module without `google.adk.` → its public classes, functions, constants and exports.

    Args:
        python: a Python that has google-adk.
    """
    code = "import importlib.util; print(importlib.util.find_spec('google.adk').submodule_search_locations[0])"
    root = Path(subprocess.run([python, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout.strip())
    found = {}
    for file in sorted(root.rglob("*.py")):
        path = file.relative_to(root).with_suffix("").parts
        module = path[:-1] if path[-1] == "__init__" else path
        if any(part.startswith("_") for part in module):
            continue
        names = set(_defined(ast.parse(file.read_text(encoding="utf-8"))))
        if names:
            found[".".join(module)] = names
    return found


def _defined(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and not node.name.startswith("_"):
            yield node.name
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name) and target.id == "_LAZY_MAPPING" and isinstance(node.value, ast.Dict):
                    yield from (str(key.value) for key in node.value.keys if isinstance(key, ast.Constant))
                if isinstance(target, ast.Name) and target.id == "__all__" and isinstance(node.value, (ast.List, ast.Tuple)):
                    yield from (item.value for item in node.value.elts if isinstance(item, ast.Constant) and _is_public(item.value))


def _is_public(name: object) -> bool:
    return isinstance(name, str) and not name.startswith("_")


@cache
def _is_here(module: str, name: str) -> bool:
    place = "runtime" + (f".{module}" if module else "")
    try:
        found = importlib.import_module(place)
        if hasattr(found, name):
            return not is_stand_in(getattr(found, name))
        importlib.import_module(f"{place}.{name}")
    except MissingPackageError:  # it is there once the package is installed
        return True
    except ImportError:
        return False
    return True


def status_of(module: str, name: str) -> str:
    """Return where a name is: `HERE`, `ENGINE` or `NOT_PLANNED`."""
    if _is_here(module, name):
        return HERE
    is_part = any(module == part or module.startswith(part + ".") for part in PARTS_OF_GOOGLE_ADK)
    return NOT_PLANNED if is_part else ENGINE


def page() -> str:
    """Return the document."""
    versions = {"1.25": public_names(adk_1_25_python()), "2.13": public_names(adk_python())}
    rows, counts = [], dict.fromkeys((HERE, ENGINE, NOT_PLANNED), 0)
    for module in sorted(set().union(*versions.values())):
        cells: dict[str, list[str]] = defaultdict(list)
        for name in sorted(set().union(*(names.get(module, ()) for names in versions.values()))):
            having = [version for version, names in versions.items() if name in names.get(module, ())]
            status = status_of(module, name)
            counts[status] += 1
            cells[status].append(f"`{name}`" + (f" {having[0]}" if len(having) == 1 else ""))
        rows.append(f"| `{module or 'google.adk'}` | " + " | ".join(", ".join(cells[status]) for status in counts) + " |")
    total = ", ".join(f"{count} {status}" for status, count in counts.items())
    reasons = [f"- `{part}`: {why}" for part, why in PARTS_OF_GOOGLE_ADK.items()]
    head = f"| module | {' | '.join(counts)} |"
    lines = [
        INTRODUCTION,
        f"Names: {total}.",
        "",
        "Why names are not planned, by module:",
        "",
        *reasons,
        "",
        head,
        "|---|---|---|---|",
        *rows,
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    DOCUMENT.write_text(page(), encoding="utf-8")
