"""The worker runs in environments that have nothing of ours."""

from __future__ import annotations

import ast
import sys

from inspector_app.engines import adk_worker, child_process
from tests.architecture.source_rules import ROOT

SOURCE = (ROOT / "inspector_app" / "engines" / "adk_worker.py").read_text()


def test_the_worker_imports_only_the_standard_library() -> None:
    imported = set()
    for node in ast.walk(ast.parse(SOURCE)):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            imported.add((node.module or "").split(".")[0])
    assert imported <= sys.stdlib_module_names


def test_the_worker_is_written_for_python_3_10() -> None:
    ast.parse(SOURCE, feature_version=(3, 10))
    for newer in ("TaskGroup", "asyncio.timeout", "tomllib", "typing.Self", "except*", "datetime.UTC"):
        assert newer not in SOURCE


def test_both_sides_speak_the_same_version() -> None:
    assert adk_worker.PROTOCOL == child_process.PROTOCOL
    assert f"Version: {adk_worker.PROTOCOL}." in (ROOT / "docs" / "engine-protocol.md").read_text()


def test_every_command_is_documented() -> None:
    page = (ROOT / "docs" / "engine-protocol.md").read_text()
    for name in (*adk_worker._COMMANDS, *adk_worker._REQUESTS, "policy", "where"):
        assert f"`{name}`" in page
