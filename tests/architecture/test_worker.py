"""The worker runs in environments that have nothing of ours."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from inspector_app.engines import child_process, running_apps
from inspector_app.engines.adk_worker import worker
from inspector_app.engines.adk_worker.channel import Channel
from inspector_app.engines.adk_worker.plugin_file import FILE, plugin
from tests.architecture.source_rules import ROOT

FILES = sorted((ROOT / "inspector_app" / "engines" / "adk_worker").glob("*.py"))
WORKS_ALONE = [*FILES, FILE]


@pytest.mark.parametrize("file", WORKS_ALONE, ids=lambda file: file.stem)
def test_the_worker_imports_only_the_standard_library_and_itself(file: Path) -> None:
    imported, own = set(), set()
    tree = ast.parse(file.read_text())
    for_types = [one for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" for one in node.body]
    for node in ast.walk(tree):
        if node in for_types:
            continue
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found = imported if node.level == 0 else own
            found |= {(node.module or alias.name).split(".")[0] for alias in node.names}
    assert imported <= sys.stdlib_module_names
    assert own <= {other.stem for other in FILES}


@pytest.mark.parametrize("file", WORKS_ALONE, ids=lambda file: file.stem)
def test_the_worker_is_written_for_python_3_10(file: Path) -> None:
    ast.parse(file.read_text(), feature_version=(3, 10))
    for newer in ("TaskGroup", "asyncio.timeout", "tomllib", "typing.Self", "except*", "datetime.UTC"):
        assert newer not in file.read_text()


def test_both_sides_speak_the_same_version() -> None:
    assert plugin.PROTOCOL == child_process.PROTOCOL == running_apps.PROTOCOL
    assert f"Version: {plugin.PROTOCOL}." in (ROOT / "docs" / "engine-protocol.md").read_text()


async def test_every_command_is_documented() -> None:
    page = (ROOT / "docs" / "engine-protocol.md").read_text()
    descriptors = os.pipe()
    try:
        known = worker.Worker(Channel(descriptors[1]), descriptors[0])
    finally:
        for descriptor in descriptors:
            os.close(descriptor)
    for name in (*known.commands, *known.requests):
        assert f"`{name}`" in page


def test_an_agents_module_is_not_taken_for_one_of_the_workers(tmp_path: Path) -> None:
    (tmp_path / "sessions.py").write_text("OWN = True\n")
    start = FILES[0].with_name("__main__.py")
    code = (
        f"import runpy, sys; sys.path[:0] = [{str(start.parent)!r}, {str(tmp_path)!r}]; sys.argv[1:] = ['x', 'x', 'x'];"
        f"run = runpy.run_path({str(start)!r})\n"
        "try:\n    run['main']()\nexcept ValueError:\n    pass\n"
        "import sessions; assert sessions.OWN"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
