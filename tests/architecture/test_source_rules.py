from __future__ import annotations

import pytest

from tests.architecture.source_rules import ROOT, source_files, violations


def test_the_product_keeps_the_rules() -> None:
    files = source_files()
    assert len(files) > 30
    found = [line for path in files for line in violations(path.read_text("utf-8"), path.relative_to(ROOT).as_posix())]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        "asyncio.create_task(x())",
        "loop.create_task(x())",
        "asyncio.ensure_future(x())",
        "asyncio.gather(x(), y())",
        "dialog.exec()",
        "QDialog(self).exec()",
        "app.processEvents()",
        "eval(text)",
        "pickle.loads(data)",
        "def f():\n    from runtime.runners import Runner",
        "async def f():\n    import inspector_app.workspace.cursor",
    ],
)
def test_a_broken_rule_is_found(source: str) -> None:
    assert len(list(violations(source, "inspector_app/stream/example.py"))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "async def f():\n    async with asyncio.TaskGroup() as group:\n        group.create_task(x())",
        "def f():\n    from PySide6.QtWidgets import QApplication",
        "def f():\n    import sqlalchemy.exc",
        "json.loads(text)",
    ],
)
def test_what_is_allowed_is_not_reported(source: str) -> None:
    assert list(violations(source, "runtime/example.py")) == []


def test_the_one_place_that_makes_tasks() -> None:
    assert list(violations("loop.create_task(x())", "inspector_app/support/tasks.py")) == []
