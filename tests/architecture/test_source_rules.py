from __future__ import annotations

import pytest

from tests.architecture.source_rules import ENGINES_FILES, OPENS_DATABASES, OPENS_OTHER_FILES, ROOT, source_files, violations


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
        "sqlite3.connect(file)",
        "opener = sqlite3.connect",
        "from sqlite3 import connect",
        "create_engine(url)",
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


@pytest.mark.parametrize(
    "source",
    ['file.open("rb")', "open(file)", "open_regular(file)", "file.read_bytes()", "shutil.copy(file, copy)", "os.open(file, os.O_RDONLY)"],
)
def test_storage_opens_files_through_the_door(source: str) -> None:
    assert len(list(violations(source, "runtime/storage/reading/example.py"))) == 1


def test_what_storage_opens_otherwise_is_listed_only_where_it_does() -> None:
    for where in OPENS_DATABASES | ENGINES_FILES | OPENS_OTHER_FILES:
        source = (ROOT / where).read_text("utf-8")
        assert list(violations(source, f"runtime/storage/{where}")), where
