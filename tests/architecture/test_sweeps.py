"""`make soak` runs what is marked `sweep`: a test with a full count that is not marked would never run with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.source_rules import ROOT


def unmarked(source: str) -> Iterator[str]:
    """Yield the tests that ask for a full count and are not marked."""
    module = ast.parse(source)
    if any(isinstance(node, ast.Assign) and "mark.sweep" in ast.unparse(node) for node in module.body):
        return
    for node in module.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_"):
            counts = any(
                isinstance(call, ast.Call) and ast.unparse(call.func) in ("count", "sweep.count", "varied") for call in ast.walk(node)
            )
            if counts and not any("mark.sweep" in ast.unparse(decorator) for decorator in node.decorator_list):
                yield node.name


def test_every_test_with_a_full_count_is_marked() -> None:
    files = [
        path
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if any(name in path.read_text("utf-8") for name in ("import count", "sweep.count", "varied()"))
    ]
    assert len(files) > 5
    assert {path.name: names for path in files if (names := list(unmarked(path.read_text("utf-8"))))} == {}


def test_an_unmarked_test_is_found() -> None:
    assert list(unmarked("def test_x():\n    for n in range(count(quick=1, full=2)):\n        pass")) == ["test_x"]
    assert list(unmarked("@pytest.mark.sweep\ndef test_x():\n    count(quick=1, full=2)")) == []
