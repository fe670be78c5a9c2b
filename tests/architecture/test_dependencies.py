"""What the packages import is what they say they need."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions

from tests.architecture.source_rules import ROOT

_OURS = {"inspector_app", "runtime"}
# Packages of extras and of agents: the modules that import them say what to install.
_OPTIONAL = {
    "debugpy",
    "litellm",
    "mcp",
    "opentelemetry",
    "psycopg",
    "rouge_score",
}
_WITH_AN_EXTRA = {"anyio", "httpx2", "requests"}  # dependencies of mcp's and Cloud Storage's packages
_WITH_A_DEPENDENCY = {"httpcore", "pydantic_core", "shiboken6"}


def imported(source: str) -> Iterator[str]:
    """Yield the modules that a file imports, those in functions too."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def required() -> set[str]:
    """Return the distributions of an installation without extras."""
    lines = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    return {re.split(r"[^\w.-]", line, maxsplit=1)[0].lower() for line in lines}


def test_every_imported_package_is_a_dependency_or_an_optional_one() -> None:
    known, needed = packages_distributions(), required()
    ours = _OURS | {"resources"}  # for types alone: the worker's plugin
    others = sys.stdlib_module_names | ours | _OPTIONAL | _WITH_AN_EXTRA | _WITH_A_DEPENDENCY
    unknown: dict[str, str] = {}
    for folder in sorted(_OURS):
        for path in (ROOT / folder).rglob("*.py"):
            for module in imported(path.read_text("utf-8")):
                top = module.partition(".")[0]
                is_cloud = top == "google" and not module.startswith("google.genai")  # of an extra
                if top not in others and not is_cloud and not {name.lower().replace("_", "-") for name in known.get(top, [])} & needed:
                    unknown.setdefault(module, path.relative_to(ROOT).as_posix())
    assert unknown == {}
