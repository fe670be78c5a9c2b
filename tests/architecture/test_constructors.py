"""A constructor with many parameters joins what should be two classes, so each one above `MOST` has a reason here.

Dataclasses are records, whose fields are named where they are made; they are not counted. `Workspace` is one of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.architecture.source_rules import source_files

MOST = 7
GOOGLES = "google-adk's signature"
OWNER = "owners name each other one by one, so that it is visible which may write what"
EXCEPTIONS = {
    "McpToolset": GOOGLES,
    "Runner": GOOGLES,
    "VertexAiSearchTool": GOOGLES,
    "CurrentRun": OWNER,
    "LiveTail": OWNER,
    "QuietRuns": OWNER,
    "WatchedApp": OWNER,
    "History": "a record with methods: what one reading found, which three readers fill differently",
    "ValueNode": "a record with slots: one for each value of a tree",
}


def long_constructors(source: str) -> Iterator[str]:
    """Yield the classes whose constructor has more than `MOST` parameters."""
    for owner in ast.walk(ast.parse(source)):
        if isinstance(owner, ast.ClassDef):
            for method in owner.body:
                if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                    given = method.args
                    if len([*given.posonlyargs, *given.args, *given.kwonlyargs]) - 1 > MOST:
                        yield owner.name


def test_no_constructor_takes_more_than_seven_parameters_without_a_reason() -> None:
    found = {name for path in source_files() for name in long_constructors(path.read_text("utf-8"))}
    assert found == set(EXCEPTIONS)


def test_a_long_constructor_is_found() -> None:
    short, long = "self, a, b, c, d, e, f, *, g", "self, a, b, c, d, e, f, g, *, h"
    source = f"class Short:\n    def __init__({short}): ...\nclass Long:\n    def __init__({long}): ...\n"
    assert list(long_constructors(source)) == ["Long"]
