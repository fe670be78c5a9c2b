"""Rule V: a file that draws does not know where its data comes from.

A file *draws* if it imports `QtWidgets`, `QtGui` or `QModelIndex`. A file *knows* if it imports an owner (`workspace`), an engine,
`support`, a part of `documents` that is not plain data, or a part of `runtime` that runs, stores or debugs. A file that draws neither
knows nor imports a file that does. The builders of the window (`BUILDERS`) are exempt, as are the doors of
the features: joining both sides is their purpose.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.architecture.source_rules import ROOT

BUILDERS = re.compile(r"inspector_app\.(app|shell\.connections|\w+\.feature)")
OWNERS = ("inspector_app.workspace", "inspector_app.engines", "inspector_app.support")
DATA_OF_DOCUMENTS = {
    "session_document",
    "session_events",
    "session_address",
    "invocation_groups",
    "listeners",
    "past_at_event",
    "tool_agent_runs",
}
RUNTIME_THAT_ACTS = tuple(
    f"runtime.{name}"
    for name in (
        "runners",
        "running",
        "agents",
        "flows",
        "debugger",
        "storage",
        "tools",
        "forks",
        "compare",
        "plugins",
        "sessions.base_session_service",
    )
)


def violations(sources: dict[str, str]) -> Iterator[str]:
    """Yield a line for each import that breaks rule V.

    Args:
        sources: Python source by module name, of the whole application.
    """
    imports = {module: _imports(ast.parse(source)) for module, source in sources.items()}
    knowing = {module for module, names in imports.items() if any(_is_knowledge(name) for name in names)}
    for module, names in imports.items():
        if BUILDERS.fullmatch(module) or not any(_is_drawing(name) for name in names):
            continue
        for name in sorted(names):
            if _is_knowledge(name) or name in knowing:
                yield f"{module} draws and imports {name}"


def _imports(tree: ast.AST) -> set[str]:
    """Return every imported module and, for `from module import name`, also `module.name`."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def _is_drawing(name: str) -> bool:
    return _is_in(name, ("PySide6.QtWidgets", "PySide6.QtGui")) or name == "PySide6.QtCore.QModelIndex"


def _is_knowledge(name: str) -> bool:
    if _is_in(name, ("inspector_app.documents",)):
        parts = name.split(".")
        return len(parts) > 2 and parts[2] not in DATA_OF_DOCUMENTS
    return _is_in(name, OWNERS) or _is_in(name, RUNTIME_THAT_ACTS)


def _is_in(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)


def test_no_file_that_draws_knows_where_its_data_comes_from() -> None:
    files = sorted((ROOT / "inspector_app").rglob("*.py"))
    sources = {".".join(path.relative_to(ROOT).with_suffix("").parts): path.read_text("utf-8") for path in files}
    assert len(sources) > 150
    assert list(violations(sources)) == []


def test_a_widget_that_imports_an_owner_or_a_knowing_file_is_found() -> None:
    widget = "from PySide6.QtWidgets import QWidget\n"
    sources = {
        "inspector_app.stream.direct": widget + "from inspector_app.workspace.cursor import Cursor\n",
        "inspector_app.stream.model": "from PySide6.QtCore import QModelIndex\nimport runtime.storage.reading\n",
        "inspector_app.stream.controller": "from inspector_app.workspace.cursor import Cursor\n",
        "inspector_app.stream.indirect": widget + "from inspector_app.stream.controller import Something\n",
        "inspector_app.stream.fine": widget + "from inspector_app.documents.session_document import SessionDocument\n",
    }
    found = {line.split()[0] for line in violations(sources)}
    assert found == {"inspector_app.stream.direct", "inspector_app.stream.model", "inspector_app.stream.indirect"}
