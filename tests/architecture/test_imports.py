"""What may import what; the layers themselves are import-linter contracts in pyproject.toml."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bench.generated import write_database
from tests.architecture.source_rules import ROOT

WITHOUT_QT = "import tests.without_qt\n"


def run_python(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code, *args], cwd=ROOT, capture_output=True, text=True, timeout=600)


def test_every_runtime_module_can_be_imported_where_qt_cannot() -> None:
    code = WITHOUT_QT + (
        "import contextlib, importlib, pkgutil, runtime\n"
        "from runtime.errors.missing_package_error import MissingPackageError\n"
        "names = [m.name for m in pkgutil.walk_packages(runtime.__path__, 'runtime.')]\n"
        "for name in names:\n"
        "    with contextlib.suppress(MissingPackageError):\n"
        "        importlib.import_module(name)\n"
        "print(len(names))"
    )
    done = run_python(code)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 30


def loaded_by(statement: str) -> set[str]:
    done = run_python(f"{statement}\nimport sys\nprint(*sys.modules, sep='\\n')")
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_a_run_in_memory_does_not_pay_for_sqlalchemy_and_our_gemini_client() -> None:
    loaded = loaded_by("from runtime.agents import LlmAgent\nfrom runtime.runners import Runner\nfrom runtime.models import ScriptedLlm")
    assert "runtime.runners" in loaded
    assert not loaded & {"sqlalchemy", "sqlite3", "runtime.models.gemini"}


def test_a_window_that_reads_a_file_does_not_pay_for_sqlalchemy_and_all_of_qt(tmp_path: Path) -> None:
    file = tmp_path / "some.db"
    write_database(file, 10)
    loaded = loaded_by(
        "import asyncio, inspector_app.app\n"
        "from inspector_app.documents.sources import DatabaseSource\n"
        "from runtime.storage.tail.open_tail import open_tail\n"
        "async def look(name):\n"
        "    source = await DatabaseSource.open(name)\n"
        "    (listed,) = await source.listing()\n"
        "    await source.history(listed.key)\n"
        "    open_tail(name, [listed]).poll()\n"
        f"asyncio.run(look({str(file)!r}))"
    )
    assert "PySide6.QtWidgets" in loaded
    assert not loaded & {"sqlalchemy", "qtawesome", "qtpy"}


def test_the_command_line_does_not_load_qt() -> None:
    loaded = loaded_by("import inspector_app.__main__, inspector_app.cli")
    assert "inspector_app.cli" in loaded
    assert not [name for name in loaded if name.split(".")[0] in {"PySide6", "shiboken6", "qasync"}]


def test_the_tests_run_off_screen() -> None:
    assert os.environ["QT_QPA_PLATFORM"] == "offscreen"
